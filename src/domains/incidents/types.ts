import { type Static, type TSchema, Type } from "typebox";
import { recordId } from "../../http/stored-values.ts";
import { ProblemSource, RuleEvidence, SEVERITIES, Severity } from "../../problems/events.ts";
import {
  INCIDENT_MONITORS_MAX,
  POSTMORTEM_MAX_CHARS,
  TITLE_MAX_CHARS,
  UPDATE_BODY_MAX_CHARS,
} from "./limits.ts";

export const Time = Type.String({ format: "date-time" });
const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
const closed = { additionalProperties: false };

const STATUSES = ["investigating", "identified", "monitoring", "resolved"] as const;
export const Status = Type.Enum([...STATUSES]);
export type Status = Static<typeof Status>;

const RESOLUTIONS = ["person", "recovered", "paused", "deleted", "sender"] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

const MonitorIds = Type.Array(recordId(), { examples: [[17]] });

/** What the incidents of rules say besides. */
const OfRule = {
  ruleId: Type.Optional(RuleEvidence.properties.ruleId),
  ruleKind: Type.Optional(RuleEvidence.properties.ruleKind),
  groupKey: Type.Optional(RuleEvidence.properties.groupKey),
  attackTechnique: Type.Optional(RuleEvidence.properties.attackTechnique),
  detectionId: Type.Optional(RuleEvidence.properties.detectionId),
};

/** An incident as lists show it and as events tell of it. */
export const Incident = Type.Object(
  {
    id: Type.Integer({ examples: [12] }),
    title: Type.String({ examples: ["Checkout is down"] }),
    status: Status,
    severity: Severity,
    monitorIds: MonitorIds,
    source: Type.Union([ProblemSource, Type.Null()], {
      description: "Who noticed it; null where a person opened it.",
      examples: [{ kind: "monitor", id: 17, name: "Checkout" }],
    }),
    sourceKey: nullable(
      Type.String({ description: "One incident is open of each at a time.", examples: ["monitor:17"] }),
    ),
    openedAt: Type.String({
      format: "date-time",
      description: "When it began, which may be before it was confirmed.",
    }),
    acknowledgedAt: nullable(Time),
    acknowledgedBy: nullable(Type.Integer({ description: "The id of a person." })),
    resolvedAt: nullable(Time),
    resolution: nullable(
      Type.Enum([...RESOLUTIONS], {
        description: "Why it ended: a person, the source by itself, or what became of the source.",
      }),
    ),
    reopened: Type.Integer({ description: "How often it came back." }),
    flapping: Type.Boolean({
      description:
        "It came and went three times within an hour; it ends once it has been well for 15 minutes.",
    }),
    escalationPolicyId: nullable(Type.Integer()),
    silenceId: Type.Optional(
      nullable(Type.Integer({ description: "The silence for which nobody was told that it is open." })),
    ),
    createdAt: Time,
    updatedAt: Time,
    ...OfRule,
  },
  { $id: "Incident" },
);
export type Incident = Static<typeof Incident>;

/** What stands in a timeline. */
const UPDATE_KINDS = [
  "opened",
  "changed",
  "paged",
  "acknowledged",
  "update",
  "resolved",
  "reopened",
  "flapping",
] as const;

export const IncidentUpdate = Type.Object(
  {
    id: Type.Integer({ examples: [311] }),
    kind: Type.Enum([...UPDATE_KINDS]),
    status: nullable(Status),
    public: Type.Boolean({ description: "Whether status pages show it; what the server notes they do not." }),
    body: Type.String({ examples: ["The database is being restarted."] }),
    userId: nullable(Type.Integer({ description: "Who did it; null for the server." })),
    createdAt: Time,
  },
  { $id: "IncidentUpdate" },
);
export type IncidentUpdate = Static<typeof IncidentUpdate>;

const Postmortem = Type.String({
  maxLength: POSTMORTEM_MAX_CHARS,
  examples: ["The disk was full because old logs were kept."],
});

export const IncidentDetails = Type.Object(
  {
    ...Incident.properties,
    postmortem: nullable(Postmortem),
    evidence: nullable(
      Type.Object(
        {},
        {
          additionalProperties: true,
          description: "What the source gave as proof.",
          examples: [{ error: "timeout" }],
        },
      ),
    ),
    updates: Type.Array(IncidentUpdate, { description: "The timeline, oldest first." }),
  },
  { $id: "IncidentDetails" },
);
export type IncidentDetails = Static<typeof IncidentDetails>;

const Body = Type.String({
  minLength: 1,
  maxLength: UPDATE_BODY_MAX_CHARS,
  examples: ["The database is being restarted."],
});

export const OpenIncidentBody = Type.Object(
  {
    title: Type.String({ minLength: 1, maxLength: TITLE_MAX_CHARS, examples: ["Checkout is down"] }),
    severity: Type.Optional(Type.Enum([...SEVERITIES], { description: "`medium` by default." })),
    monitorIds: Type.Optional(Type.Array(recordId(), { maxItems: INCIDENT_MONITORS_MAX, examples: [[17]] })),
    body: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: UPDATE_BODY_MAX_CHARS,
        description: "The first entry of the timeline; public.",
        examples: ["Payments fail; we are looking."],
      }),
    ),
    escalationPolicyId: Type.Optional(recordId({ description: "Who is paged; nobody without one." })),
  },
  {
    $id: "OpenIncident",
    ...closed,
    examples: [{ title: "Checkout is down", severity: "high", body: "Payments fail; we are looking." }],
  },
);
export type OpenIncidentBody = Static<typeof OpenIncidentBody>;

export const UpdateIncidentBody = Type.Object(
  { status: Status, body: Body },
  {
    $id: "UpdateIncident",
    ...closed,
    examples: [{ status: "identified", body: "The database is being restarted." }],
  },
);
export type UpdateIncidentBody = Static<typeof UpdateIncidentBody>;

export const PostmortemBody = Type.Object({ postmortem: Postmortem }, { $id: "SetPostmortem", ...closed });

/** Numbers travel as texts here, as the published schema says. */
const Digits = (description: string) =>
  Type.String({ pattern: "^[0-9]{1,9}$", description, examples: ["50"] });

export const ListParameters = Type.Object({
  limit: Type.Optional(Digits("Incidents of a page, 1 to 1000; 50 by default.")),
  offset: Type.Optional(Digits("Incidents that are passed over; none by default.")),
  status: Type.Optional(
    Type.Enum([...STATUSES, "open"], { description: "`open` is every status but `resolved`." }),
  ),
});
export type ListParameters = Static<typeof ListParameters>;

export const IncidentList = Type.Object(
  {
    items: Type.Array(Incident, { description: "The latest first, by when they began." }),
    total: Type.Integer({ description: "Of all pages." }),
  },
  { $id: "IncidentList" },
);
export type IncidentList = Static<typeof IncidentList>;

export const Delivery = Type.Object(
  {
    id: Type.Integer({ examples: [1] }),
    channel: Type.String({ examples: ["webhook"] }),
    state: Type.Enum(["pending", "delivered", "failed", "suppressed", "superseded"]),
    attempts: Type.Integer(),
    lastCode: nullable(Type.Integer({ description: "The status of the last answer." })),
    lastError: nullable(Type.String({ examples: ["timeout"] })),
  },
  { $id: "IncidentDelivery" },
);
export type Delivery = Static<typeof Delivery>;
