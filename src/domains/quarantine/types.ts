import { type Static, Type } from "typebox";
import { recordId } from "../../http/stored-values.ts";
import { CURSOR_MAX_CHARS, IDS_MAX_COUNT, PAGE_MAX_RECORDS, SHOWN_RAW_BYTES } from "./limits.ts";

const DateTime = Type.String({ format: "date-time" });
const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);

/** Postgres takes no null character, and so no record has one there. */
const NO_NULL_CHARACTER = "^[^\\u0000]*$";

const SOURCE_KEY = "billing-app";
const FORMAT = "source";
const REASON = "the timestamp is no time";
const SOURCE_FILTER = { sourceKey: SOURCE_KEY };

const FILTERS = {
  sourceKey: Type.Optional(
    Type.String({ minLength: 1, maxLength: 63, pattern: NO_NULL_CHARACTER, examples: [SOURCE_KEY] }),
  ),
  format: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, pattern: NO_NULL_CHARACTER, examples: [FORMAT] }),
  ),
  reason: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 300,
      pattern: NO_NULL_CHARACTER,
      examples: ["timestamp"],
      description: "A part of the reason, in any case.",
    }),
  ),
  from: Type.Optional(Type.String({ format: "date-time", description: "Received at that time or later." })),
  to: Type.Optional(Type.String({ format: "date-time", description: "Received before that time." })),
};

const State = Type.Enum(["held", "replaying", "replayed"]);

export const ListParameters = Type.Object(
  {
    ...FILTERS,
    state: Type.Optional(State),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE_MAX_RECORDS })),
    cursor: Type.Optional(Type.String({ minLength: 1, maxLength: CURSOR_MAX_CHARS })),
  },
  { additionalProperties: false },
);
export type ListParameters = Static<typeof ListParameters>;

const Ids = Type.Array(recordId(), {
  minItems: 1,
  maxItems: IDS_MAX_COUNT,
});

export const DiscardBody = Type.Object(
  { ...FILTERS, ids: Type.Optional(Ids) },
  { $id: "DiscardQuarantined", additionalProperties: false, minProperties: 1, examples: [SOURCE_FILTER] },
);
export type DiscardBody = Static<typeof DiscardBody>;

export const ReplayBody = Type.Object(
  {
    ...FILTERS,
    ids: Type.Optional(Ids),
    takeOver: Type.Optional(
      Type.Boolean({
        description:
          "Also replay records whose replay was interrupted on an instance whose data directory is gone for good. " +
          "If it comes back after all, some of them may be stored twice. Of no effect on a dry run.",
      }),
    ),
    dryRun: Type.Optional(Type.Boolean({ description: "Say what a replay would do, and do nothing." })),
  },
  { $id: "ReplayQuarantined", additionalProperties: false, examples: [{ ...SOURCE_FILTER, dryRun: true }] },
);
export type ReplayBody = Static<typeof ReplayBody>;

export const QuarantinedRecord = Type.Object(
  {
    id: Type.Integer({ examples: [4711] }),
    sourceKey: Nullable(Type.String({ examples: [SOURCE_KEY] })),
    format: Type.String({ examples: [FORMAT] }),
    place: Type.String({
      description: "Where in the request: a JSON pointer, or `line 12`.",
      examples: ["line 12"],
    }),
    reason: Type.String({ examples: [REASON] }),
    state: State,
    receivedAt: DateTime,
    replayedAt: Type.Union([DateTime, Type.Null()], { examples: [null] }),
    bytes: Type.Integer({ description: "Of the record as it came.", examples: [42] }),
    raw: Nullable(
      Type.String({
        examples: ['{"msg":"payment failed","time":"yesterday"}'],
        description: `The record; in a list its first ${SHOWN_RAW_BYTES} bytes. Null once it is replayed.`,
      }),
    ),
    rawEncoding: Type.Enum(["utf8", "base64"]),
    rawIsCut: Type.Boolean(),
  },
  { $id: "QuarantinedRecord" },
);
export type QuarantinedRecord = Static<typeof QuarantinedRecord>;

export const RecordPage = Type.Object(
  {
    items: Type.Array(QuarantinedRecord),
    nextCursor: Type.Union([Type.String(), Type.Null()], {
      description: "The next page. Null on the last one.",
      examples: [null],
    }),
  },
  { $id: "QuarantinedRecordPage" },
);
export type RecordPage = Static<typeof RecordPage>;

export const Summary = Type.Object(
  {
    records: Type.Integer({ description: "What is held or being replayed." }),
    bytes: Type.Integer(),
    maxRecords: Type.Integer({
      description: "Records beyond this, or beyond `maxBytes`, are not kept.",
      examples: [100_000],
    }),
    maxBytes: Type.Integer({ examples: [104_857_600] }),
    groups: Type.Array(
      Type.Object({
        sourceKey: Nullable(Type.String({ examples: [SOURCE_KEY] })),
        format: Type.String({ examples: [FORMAT] }),
        reason: Type.String({ examples: [REASON] }),
        records: Type.Integer(),
        firstReceivedAt: DateTime,
        lastReceivedAt: DateTime,
      }),
      { description: "By source and reason, the most first." },
    ),
  },
  { $id: "QuarantineSummary" },
);
export type Summary = Static<typeof Summary>;

const RejectionCount = Type.Object(
  { reason: Type.String({ examples: [REASON] }), records: Type.Integer() },
  { $id: "RejectionCount" },
);
const Reasons = Type.Array(RejectionCount, {
  description: "Why records are rejected, the most frequent first.",
});

export const DryRunAnswer = Type.Object(
  {
    dryRun: Type.Literal(true),
    matched: Type.Integer(),
    wouldAccept: Type.Integer(),
    wouldReject: Type.Integer(),
    notExamined: Type.Integer({ description: "Matched; the dry run took as long as one may." }),
    entries: Type.Array(
      Type.Object({
        id: Type.Integer({ description: "Of the record." }),
        entry: Type.Record(Type.String(), Type.Unknown(), {
          examples: [{ message: "payment failed", level: "error" }],
        }),
      }),
      { description: "The first entries." },
    ),
    reasons: Reasons,
  },
  { $id: "QuarantineDryRun" },
);

export const ReplayAnswer = Type.Object(
  {
    dryRun: Type.Literal(false),
    matched: Type.Integer({ description: "Records that were held and matched." }),
    replayed: Type.Integer({ description: "They are entries now." }),
    stillRejected: Type.Integer(),
    remaining: Type.Integer({ description: "Matched and not come to: replay again." }),
    inProgress: Type.Integer({
      description: "Matched and part of another replay, or of an interrupted one that is being settled.",
    }),
    reasons: Reasons,
  },
  { $id: "QuarantineReplay" },
);

export const DiscardAnswer = Type.Object(
  {
    discarded: Type.Integer(),
    remaining: Type.Integer({ description: "Still held and matched: discard again." }),
  },
  { $id: "QuarantineDiscard" },
);
