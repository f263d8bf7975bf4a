import { type Static, type TSchema, Type } from "typebox";
import { recordId } from "../../http/stored-values.ts";
import { PAGE_MAX } from "./limits.ts";

const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
const Time = Type.String({ format: "date-time", examples: ["2026-03-01T12:34:56.000Z"] });
const closed = { additionalProperties: false };

const Status = Type.Enum(["open", "resolved", "ignored"], { examples: ["open"] });
export type Status = Static<typeof Status>;

/** Where the entries of a group are. */
const GroupEntries = Type.Object(
  {
    query: Type.String({
      description: "KQL that finds its entries, and perhaps some others that have the same words in them.",
      examples: ['logs | where service == "checkout" and message contains_cs "CardError"'],
    }),
    from: Time,
    to: Time,
  },
  { $id: "ErrorGroupEntries" },
);

export const ErrorGroup = Type.Object(
  {
    id: Type.Integer({ examples: [17] }),
    status: Status,
    service: Type.String({ examples: ["checkout"] }),
    type: Type.String({
      description: "Of the deepest cause; empty where nothing says it.",
      examples: ["CardError"],
    }),
    title: Type.String({ examples: ["CardError: card declined"] }),
    culprit: Type.String({
      description: "The innermost call in the program's own code; empty without any.",
      examples: ["charge (payments/card.js)"],
    }),
    runtime: nullable(Type.String({ examples: ["javascript"] })),
    groupedBy: Type.Enum(["attribute", "frames", "message"], {
      description:
        "What its entries have in common: the attribute `fingerprint`; service, type and calls; or service, type and the form of the message.",
    }),
    fingerprint: Type.String({ examples: ["9f86d081884c7d659a2feaa0c55ad015"] }),
    count: Type.Integer({ description: "Entries, with those of groups merged into it.", examples: [412] }),
    firstSeen: Time,
    lastSeen: Time,
    firstRelease: nullable(
      Type.String({ description: "`service.version` of the first.", examples: ["1.4.2"] }),
    ),
    lastRelease: nullable(Type.String({ examples: ["1.5.0"] })),
    resolvedAt: nullable(Time),
    regressedAt: nullable(
      Type.String({ format: "date-time", description: "When it last came again though it was resolved." }),
    ),
    regressedRelease: nullable(Type.String({ examples: ["1.5.0"] })),
    mergedInto: nullable(Type.Integer({ description: "The group that its entries are counted with." })),
    entries: GroupEntries,
  },
  { $id: "ErrorGroup" },
);
export type ErrorGroup = Static<typeof ErrorGroup>;

export const ListParameters = Type.Object(
  {
    status: Type.Optional(
      Type.Enum(["open", "resolved", "ignored", "all"], { description: "`open` when absent." }),
    ),
    service: Type.Optional(Type.String({ maxLength: 255, examples: ["checkout"] })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE_MAX, description: "50 when absent." })),
    cursor: Type.Optional(Type.String({ maxLength: 200 })),
  },
  closed,
);
export type ListParameters = Static<typeof ListParameters>;

export const ErrorGroupList = Type.Object(
  {
    items: Type.Array(ErrorGroup),
    nextCursor: nullable(Type.String()),
    other: Type.Object(
      {
        count: Type.Integer({
          description:
            "Errors of the last day that are in no group, because more new ones came than are kept apart.",
          examples: [0],
        }),
        lastHour: nullable(
          Type.String({ format: "date-time", description: "The hour in which that was last so." }),
        ),
      },
      { description: "Of the whole organisation, whatever the list shows." },
    ),
  },
  { $id: "ErrorGroupList" },
);
export type ErrorGroupList = Static<typeof ErrorGroupList>;

export const UpdateErrorGroupBody = Type.Object(
  {
    resolved: Type.Optional(Type.Boolean({ description: "It opens again when it happens again." })),
    ignored: Type.Optional(Type.Boolean({ description: "It stays so, however often it happens." })),
  },
  { $id: "UpdateErrorGroup", ...closed, examples: [{ resolved: true }] },
);
export type UpdateErrorGroupBody = Static<typeof UpdateErrorGroupBody>;

export const MergeBody = Type.Object(
  { into: recordId({ examples: [12] }) },
  { $id: "MergeErrorGroup", ...closed, examples: [{ into: 12 }] },
);

const Count = Type.Object({ start: Time, count: Type.Integer({ examples: [7] }) }, { $id: "ErrorCount" });

const Place = Type.Object(
  {
    value: Type.String({ examples: ["1.5.0"] }),
    count: Type.Integer({ examples: [12] }),
    firstSeen: Time,
    lastSeen: Time,
  },
  { $id: "ErrorPlace" },
);

/** What is shown of an entry of the log; its attributes are at `/api/v1/logs/{id}`. */
const SampleEntry = Type.Object(
  {
    ts: Time,
    level: nullable(Type.String({ examples: ["error"] })),
    service: nullable(Type.String()),
    host: nullable(Type.String()),
    message: Type.String(),
    traceId: nullable(Type.String()),
  },
  { $id: "ErrorSampleEntry" },
);

const Frame = Type.Object(
  {
    function: Type.String({ examples: ["charge"] }),
    module: Type.String({ examples: ["payments/card.js"] }),
    file: nullable(Type.String({ examples: ["/app/src/payments/card.js"] })),
    line: nullable(Type.Integer({ examples: [42] })),
    column: nullable(Type.Integer({ examples: [7] })),
    inApp: Type.Boolean({ description: "Code of the program, not of a library or the runtime." }),
  },
  { $id: "StackFrame" },
);

export const ErrorGroupDetails = Type.Object(
  {
    ...ErrorGroup.properties,
    hours: Type.Array(Count, { description: "The last 24, by the entries' own time, oldest first." }),
    days: Type.Array(Count, { description: "The last 30, in UTC, oldest first." }),
    releases: Type.Array(Place, { description: "By the attribute `service.version`, the latest first." }),
    environments: Type.Array(Place, { description: "By the attribute `deployment.environment`." }),
    samples: Type.Array(
      Type.Object({
        id: Type.String({ pattern: "^[0-9]+$", examples: ["116013982208032769"] }),
        entry: Type.Union([SampleEntry, Type.Null()], {
          description: "Null of one that is no longer kept, or that cannot be read now.",
        }),
      }),
      { description: "The newest entries first." },
    ),
    samplesUnavailable: nullable(
      Type.String({
        description: "Why entries are missing that may be there.",
        examples: ["The log store does not answer."],
      }),
    ),
    exceptions: Type.Array(
      Type.Object({
        type: Type.String({ examples: ["CardError"] }),
        message: Type.String({ examples: ["card declined"] }),
        frames: Type.Array(Frame),
      }),
      {
        description:
          "Of the newest entry that is kept: the deepest cause first, of each the innermost call first.",
      },
    ),
    merged: Type.Array(Type.Object({ id: Type.Integer(), title: Type.String(), count: Type.Integer() }), {
      description: "The groups that are merged into it.",
    }),
  },
  { $id: "ErrorGroupDetails" },
);
export type ErrorGroupDetails = Static<typeof ErrorGroupDetails>;

export const SimilarGroup = Type.Object(
  {
    group: ErrorGroup,
    why: Type.Array(Type.Enum(["calls", "message"]), {
      description: "They share calls, or messages of one pattern.",
      examples: [["message"]],
    }),
  },
  { $id: "SimilarErrorGroup" },
);
export type SimilarGroup = Static<typeof SimilarGroup>;
