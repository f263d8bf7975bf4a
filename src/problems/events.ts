import { createHash } from "node:crypto";
import { type Static, Type } from "typebox";
import { defineEvent } from "../changes/events/event-kind.ts";
import { SUBJECT_MAX_CHARS } from "../changes/limits.ts";

export const SEVERITIES = ["low", "medium", "high", "critical"] as const;
export const Severity = Type.Enum([...SEVERITIES]);
export type Severity = (typeof SEVERITIES)[number];

const Time = Type.String({ format: "date-time" });

/** Who noticed a problem: by what its channels and its policy are found, and its page. */
export const ProblemSource = Type.Object(
  {
    kind: Type.Enum(["monitor", "certificate", "slo", "rule", "alert", "agent", "indicator"]),
    /** Of the monitor, the rule, the receiver of alerts, the indicator. */
    id: Type.Integer(),
    name: Type.String({ maxLength: 255 }),
  },
  { $id: "ProblemSource" },
);
export type ProblemSource = Static<typeof ProblemSource>;

/** What is wrong is known by this: `monitor:17`, `rule:5:<group>`. */
const Key = Type.String({ minLength: 1, maxLength: 512 });

/** The subject of both events, so that those of one key stay in order: the key, or what stands for one that is too long. */
export function problemSubject(key: string): string {
  if (key.length <= SUBJECT_MAX_CHARS) return key;
  return `problem:${createHash("sha256").update(key).digest("hex")}`;
}

/** An entry that shows a step of a sequence, from 1 on, or one of the values that were counted. */
export const EvidenceEntry = Type.Object({
  entryId: Type.String({ examples: ["1834234098123776"] }),
  at: Time,
  step: Type.Optional(Type.Integer({ minimum: 1, examples: [1] })),
  value: Type.Optional(Type.String()),
});

/** What a rule says of what it found; its incident carries it. */
export const RuleEvidence = Type.Object({
  ruleId: Type.Integer({ examples: [5] }),
  ruleKind: Type.Enum(["log", "metric", "correlation"], { examples: ["log"] }),
  /** The values of the fields that the rule groups by. */
  groupKey: Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()])),
  attackTechnique: Type.Union([Type.String(), Type.Null()], { examples: ["T1110.001"] }),
  /** None where entries are missing. */
  detectionId: Type.Optional(Type.Integer({ examples: [31] })),
  condition: Type.Enum(["threshold", "anomaly", "scheduled", "metric", "sequence", "cardinality", "no_data"]),
  windowSec: Type.Number(),
  /** The entries that made it true lie in between. */
  from: Time,
  to: Time,
  entries: Type.Optional(
    Type.Array(EvidenceEntry, {
      description: "Of a correlation: an entry for each step, or for each value.",
    }),
  ),
  peak: Type.Number({
    description:
      "The largest count, or distance from what was expected or from the threshold of a metric, or how many different values or steps.",
  }),
});
export type RuleEvidence = Static<typeof RuleEvidence>;

const Problem = Type.Object({
  key: Key,
  source: ProblemSource,
  title: Type.String({ minLength: 1, maxLength: 255 }),
  severity: Severity,
  /** When it began, which is before it was confirmed. */
  since: Time,
  monitorIds: Type.Array(Type.Integer(), { maxItems: 100 }),
  /** For the timeline: what was found, without any text of the target. */
  summary: Type.String({ minLength: 1, maxLength: 4096 }),
  escalationPolicyId: Type.Optional(Type.Integer()),
  evidence: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});
export type Problem = Static<typeof Problem>;

/**
 * Something is wrong, or is wrong in another way than before. Told again of the same key it changes what is open: severity,
 * evidence, monitors. What happens then is not the source's affair: whether it opens, reopens, or is held back.
 */
export const problemRaised = defineEvent("problem.raised", Problem);

const Clearing = Type.Object({
  key: Key,
  at: Time,
  cause: Type.Enum(["recovered", "paused", "deleted", "sender"]),
  /** For the timeline. */
  summary: Type.String({ minLength: 1, maxLength: 4096 }),
});
export type Clearing = Static<typeof Clearing>;

/** It is over, or nobody will say any more whether it is. */
export const problemCleared = defineEvent("problem.cleared", Clearing);
