import { type Static, type TSchema, Type } from "typebox";
import { PageParameters } from "../../http/record-page.ts";
import { recordId, storedTime } from "../../http/stored-values.ts";
import { Severity } from "../../problems/events.ts";
import { CASE_INCIDENTS_MAX } from "./limits.ts";

const Time = Type.String({ format: "date-time" });
const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
const closed = { additionalProperties: false };
const Id = recordId();

const CaseStatus = Type.Enum(["open", "investigating", "contained", "closed"]);
const Disposition = Type.Enum(["true_positive", "false_positive", "benign", "duplicate"]);

const Title = Type.String({
  minLength: 1,
  maxLength: 255,
  examples: ["Strange sign-ins of the build account"],
});
const Summary = Type.String({ maxLength: 8192, examples: ["Signed in from two countries within an hour."] });
const IncidentIds = Type.Array(Id, { maxItems: CASE_INCIDENTS_MAX, examples: [[12]] });

export const CreateCaseBody = Type.Object(
  {
    title: Title,
    severity: Type.Optional(Severity),
    summary: Type.Optional(Summary),
    assigneeUserId: Type.Optional(nullable(Id)),
    incidentIds: Type.Optional(IncidentIds),
  },
  { $id: "CreateCase", ...closed },
);
export type CreateCaseBody = Static<typeof CreateCaseBody>;

export const UpdateCaseBody = Type.Object(
  {
    title: Type.Optional(Title),
    severity: Type.Optional(Severity),
    summary: Type.Optional(nullable(Summary)),
    assigneeUserId: Type.Optional(nullable(Id)),
    incidentIds: Type.Optional(IncidentIds),
    status: Type.Optional(CaseStatus),
    disposition: Type.Optional(nullable(Disposition)),
  },
  { $id: "UpdateCase", ...closed },
);
export type UpdateCaseBody = Static<typeof UpdateCaseBody>;

/** A case as its table has it. */
export const StoredCase = Type.Object({
  id: Type.Integer({ examples: [3] }),
  title: Title,
  severity: Severity,
  summary: nullable(Summary),
  status: CaseStatus,
  disposition: nullable(Disposition),
  assigneeUserId: nullable(Type.Integer()),
  containedAt: nullable(Time),
  closedAt: nullable(Time),
  mergedInto: nullable(Type.Integer({ description: "The case that goes on in its place." })),
  createdAt: Time,
  updatedAt: Time,
});
export type StoredCase = Static<typeof StoredCase>;

const Seconds = nullable(Type.Number({ minimum: 0 }));

export const Case = Type.Object(
  {
    ...StoredCase.properties,
    incidentIds: Type.Array(Type.Integer()),
    timeToContainSec: Seconds,
    timeToCloseSec: Seconds,
  },
  { $id: "Case" },
);
export type Case = Static<typeof Case>;

export const CaseNote = Type.Object(
  {
    id: Type.Integer(),
    kind: Type.Enum(["note", "change"], {
      description: "What a person wrote, or what was done with the case.",
    }),
    body: Type.String({ examples: ["The address belongs to our own VPN."] }),
    userId: nullable(Type.Integer()),
    createdAt: Time,
  },
  { $id: "CaseNote" },
);
export type CaseNote = Static<typeof CaseNote>;

const EvidenceKind = Type.Enum(["log", "incident", "detection", "text"], {
  description: "A log entry, an incident or a detection by its id, or any text, such as a link or a hash.",
});

export const CaseEvidence = Type.Object(
  {
    id: Type.Integer(),
    kind: EvidenceKind,
    ref: Type.String({ examples: ["7134987123498713"] }),
    snapshot: nullable(
      Type.Object(
        {},
        { additionalProperties: true, description: "A copy, which outlives what it was made of." },
      ),
    ),
    eventAt: nullable(Type.String({ format: "date-time", description: "When it happened." })),
    userId: nullable(Type.Integer()),
    createdAt: Type.String({ format: "date-time", description: "When it was found." }),
  },
  { $id: "CaseEvidence" },
);
export type CaseEvidence = Static<typeof CaseEvidence>;

const OBSERVABLE_TYPES = ["ip", "domain", "hash", "email"] as const;

export const Observable = Type.Object(
  { type: Type.Enum([...OBSERVABLE_TYPES]), value: Type.String({ examples: ["203.0.113.7"] }) },
  { $id: "CaseObservable" },
);
export type Observable = Static<typeof Observable>;

const TimelineEntry = Type.Object(
  {
    happenedAt: nullable(Time),
    knownAt: Time,
    kind: Type.Enum(["opened", "note", "change", "evidence", "incident"]),
    text: Type.String(),
    ref: nullable(Type.String({ description: "The id of what it is about." })),
  },
  { $id: "CaseTimelineEntry" },
);
export type TimelineEntry = Static<typeof TimelineEntry>;

export const CaseDetails = Type.Object(
  {
    ...Case.properties,
    notes: Type.Array(CaseNote, { description: "Oldest first." }),
    evidence: Type.Array(CaseEvidence, { description: "Oldest first." }),
    observables: Type.Array(Observable),
    similarCases: Type.Array(
      Type.Object({ id: Type.Integer(), title: Type.String(), status: CaseStatus, shared: Type.Integer() }),
      { description: "Cases whose evidence names the same things, those that share most first." },
    ),
    timeline: Type.Array(TimelineEntry, {
      description: "By when it happened, or by when it was known where nobody says when it happened.",
    }),
  },
  { $id: "CaseDetails" },
);
export type CaseDetails = Static<typeof CaseDetails>;

export const ListCasesParameters = Type.Object({
  ...PageParameters.properties,
  status: Type.Optional(
    Type.Enum(["open", "investigating", "contained", "closed", "active"], {
      description: "`active` is every one that is not closed.",
    }),
  ),
  assignee: Type.Optional(Type.String({ pattern: "^[1-9][0-9]{0,9}$", description: "The id of a person." })),
  incident: Type.Optional(
    Type.String({ pattern: "^[1-9][0-9]{0,14}$", description: "The id of an incident." }),
  ),
});
export type ListCasesParameters = Static<typeof ListCasesParameters>;

export const NoteBody = Type.Object(
  { body: Type.String({ minLength: 1, maxLength: 8192, examples: ["The account was locked at 10:04."] }) },
  { $id: "CaseNoteBody", ...closed },
);
export const AttachBody = Type.Object({ incidentId: Id }, { $id: "CaseIncidentBody", ...closed });
export const EvidenceBody = Type.Object(
  {
    kind: EvidenceKind,
    ref: Type.String({ minLength: 1, maxLength: 2048, examples: ["7134987123498713"] }),
    eventAt: Type.Optional(storedTime({ description: "For a text: when it happened." })),
  },
  { $id: "CaseEvidenceBody", ...closed },
);
export type EvidenceBody = Static<typeof EvidenceBody>;
export const MergeBody = Type.Object({ into: Id }, { $id: "CaseMergeBody", ...closed });
