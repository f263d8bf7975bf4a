import { type Static, type TSchema, Type } from "typebox";
import { Time as DateTime } from "../types.ts";

const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

/** Where the entries are of which something is said. */
const LogRows = Type.Object(
  {
    query: Type.String({ description: "KQL.", examples: ['logs | where message contains_cs "timed out"'] }),
    from: DateTime,
    to: DateTime,
  },
  { $id: "LogRows" },
);

/** A part of an answer that may be missing, while the rest is there. */
const section = <S extends TSchema>(item: S, description: string) =>
  Type.Object(
    {
      items: Type.Array(item),
      unavailable: nullable(
        Type.String({
          description: "Why this is not known: what does not answer, or what the caller may not read.",
          examples: ["The log store does not answer."],
        }),
      ),
    },
    { description },
  );

const ChangedPattern = Type.Object(
  {
    pattern: Type.String({ examples: ["upstream timed out order=<*>"] }),
    kind: Type.Enum(["new", "more", "less", "gone"]),
    count: Type.Integer({ description: "Entries around the beginning of the incident." }),
    previousCount: Type.Integer({ description: "In the hour before." }),
    expected: Type.Number({ description: "As many as there would be had nothing changed." }),
    levels: Type.Array(Type.String({ examples: ["error"] })),
    services: Type.Array(Type.String({ examples: ["checkout"] })),
    sample: Type.String({ examples: ["upstream timed out order=81"] }),
    rows: LogRows,
  },
  { $id: "ChangedPattern" },
);

const ChangedError = Type.Object(
  {
    groupId: Type.Integer({ examples: [17] }),
    kind: Type.Enum(["new", "again"], {
      description: "First seen then, or seen again though somebody had resolved it.",
    }),
    title: Type.String({ examples: ["CardError: card declined"] }),
    culprit: Type.String({ examples: ["charge (payments/card.js)"] }),
    service: Type.String({ examples: ["checkout"] }),
    release: nullable(Type.String({ description: "In which it was then.", examples: ["1.5.0"] })),
    at: DateTime,
    count: Type.Integer({ description: "Its entries up to now." }),
    rows: LogRows,
  },
  { $id: "ChangedError" },
);
export type ChangedError = Static<typeof ChangedError>;

const NewRelease = Type.Object(
  {
    service: Type.String({ examples: ["checkout"] }),
    version: Type.String({ description: "`service.version` of its entries.", examples: ["1.5.0"] }),
    environment: nullable(Type.String({ examples: ["prod"] })),
    previousVersion: nullable(Type.String({ examples: ["1.4.2"] })),
    at: DateTime,
    count: Type.Integer({ description: "Its entries in that time." }),
    rows: LogRows,
  },
  { $id: "NewRelease" },
);

const FailingMonitor = Type.Object(
  {
    monitorId: Type.Integer({ examples: [18] }),
    name: Type.String({ examples: ["Payments"] }),
    status: Type.Enum(["degraded", "down"]),
    since: DateTime,
    endedAt: nullable(DateTime),
    together: Type.Array(Type.Enum(["time", "host"]), {
      description:
        "It began within five minutes of the incident, or has the same host as one of its monitors.",
      examples: [["time"]],
    }),
  },
  { $id: "FailingMonitor" },
);
export type FailingMonitor = Static<typeof FailingMonitor>;

const AuditedChange = Type.Object(
  {
    auditId: Type.Integer({ examples: [4711] }),
    at: DateTime,
    actor: Type.String({ examples: ["ana@example.com"] }),
    action: Type.String({ examples: ["UPDATE_MONITOR"] }),
    resource: Type.String({ examples: ["monitor:17"] }),
    changedFields: Type.Array(Type.String({ examples: ["timeoutMs"] })),
  },
  { $id: "AuditedChange" },
);
export type AuditedChange = Static<typeof AuditedChange>;

const SeenRegion = Type.Object(
  {
    monitorId: Type.Integer({ examples: [17] }),
    region: Type.String({ examples: ["weur"] }),
    checks: Type.Integer({ description: "Within five minutes of the beginning." }),
    failed: Type.Integer({ description: "Those of them that found the monitor down or degraded." }),
    error: nullable(Type.String({ description: "Of the last one that failed.", examples: ["timeout"] })),
  },
  { $id: "SeenRegion" },
);
export type SeenRegion = Static<typeof SeenRegion>;

export const IncidentAnalysis = Type.Object(
  {
    incidentId: Type.Integer({ examples: [12] }),
    from: Type.String({
      format: "date-time",
      description: "The time around the beginning that is looked at: from five minutes before it.",
    }),
    to: Type.String({ format: "date-time", description: "To 55 minutes after it, or the present." }),
    patterns: section(ChangedPattern, "What the logs say differently than in the hour before."),
    errors: section(ChangedError, "Groups of errors that were new then or came again, the latest first."),
    releases: section(
      NewRelease,
      "Releases whose first entries came in the hour before or since, by the attribute `service.version`; the latest first.",
    ),
    monitors: section(FailingMonitor, "Other monitors that fail at the same time."),
    changes: section(AuditedChange, "What people changed in the hour before, the latest first."),
    regions: section(SeenRegion, "Which regions saw it."),
  },
  { $id: "IncidentAnalysis" },
);
export type IncidentAnalysis = Static<typeof IncidentAnalysis>;

const ContextMonitor = Type.Object(
  {
    id: Type.Integer({ examples: [17] }),
    name: Type.String({ examples: ["Checkout"] }),
    url: Type.String({ examples: ["https://checkout.example.com/health"] }),
    type: Type.String({ examples: ["https"] }),
    paused: Type.Boolean(),
    status: nullable(Type.Enum(["up", "degraded", "down"])),
    since: nullable(DateTime),
  },
  { $id: "ContextMonitor" },
);
export type ContextMonitor = Static<typeof ContextMonitor>;

export const OnCall = Type.Object(
  { userId: Type.Integer(), email: Type.String({ examples: ["ana@example.com"] }) },
  { $id: "OnCall" },
);
export type OnCall = Static<typeof OnCall>;

export const IncidentContext = Type.Object(
  {
    incidentId: Type.Integer({ examples: [12] }),
    monitors: section(ContextMonitor, "Those that the incident is about and that still exist."),
    logs: LogRows,
    onCall: Type.Union([OnCall, Type.Null()], { description: "Who is on call for it now; null for nobody." }),
  },
  { $id: "IncidentContext" },
);
export type IncidentContext = Static<typeof IncidentContext>;
