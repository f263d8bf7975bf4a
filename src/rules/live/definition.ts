import { type Static, Type } from "typebox";
import { Severity } from "../../problems/events.ts";
import type { Anomaly } from "../evaluation/anomaly.ts";
import { COMPARATORS } from "../evaluation/metric-windows.ts";
import type { StateTimes } from "../evaluation/states.ts";
import type { Threshold } from "../evaluation/threshold.ts";
import { AGGREGATIONS } from "../metrics/point.ts";

/** What a rule asks of the counts of its counter, and what is said of it; kept as JSON beside the rule that is live. */
export const RuleDefinition = Type.Object({
  name: Type.String(),
  severity: Severity,
  attackTechnique: Type.Union([Type.String(), Type.Null()]),
  escalationPolicyId: Type.Union([Type.Integer(), Type.Null()]),
  /** For the evidence: where the entries are found again. */
  groupBy: Type.Array(Type.String()),
  windowMs: Type.Integer(),
  forMs: Type.Integer(),
  keepFiringMs: Type.Integer(),
  /** After how long without an entry it is told; servers of before write none. */
  noDataMs: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
  condition: Type.Union([
    Type.Object({
      kind: Type.Literal("threshold"),
      threshold: Type.Integer(),
      /** An incident goes on while so many are reached. */
      recoverThreshold: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
    }),
    Type.Object({
      kind: Type.Literal("anomaly"),
      baselineMs: Type.Integer(),
      ratioThreshold: Type.Number(),
      minBaselineEvents: Type.Integer(),
      direction: Type.Enum(["spike", "drop", "both"]),
    }),
    Type.Object({
      kind: Type.Literal("scheduled"),
      kql: Type.String(),
      everyMs: Type.Integer({ minimum: 1 }),
      threshold: Type.Integer(),
      /** When the rule was made: windows that ended before are none of its. */
      sinceMs: Type.Integer(),
    }),
    Type.Object({
      kind: Type.Literal("metric"),
      metric: Type.String(),
      service: Type.Union([Type.String(), Type.Null()]),
      aggregation: Type.Enum([...AGGREGATIONS]),
      comparator: Type.Enum([...COMPARATORS]),
      threshold: Type.Number(),
      /** When the rule was made: windows that ended before are none of its. */
      sinceMs: Type.Integer(),
    }),
    Type.Object({ kind: Type.Literal("sequence"), joinField: Type.String(), sinceMs: Type.Integer() }),
    Type.Object({
      kind: Type.Literal("cardinality"),
      joinField: Type.String(),
      distinctField: Type.String(),
      threshold: Type.Integer(),
      sinceMs: Type.Integer(),
    }),
  ]),
});
export type RuleDefinition = Static<typeof RuleDefinition>;

/** The condition of a rule that asks for counts, with its window. */
type CountCondition = ({ readonly kind: "threshold" } & Threshold) | ({ readonly kind: "anomaly" } & Anomaly);

/** Throws an Error for a rule that asks for no counts. */
export function conditionOf({ condition, windowMs }: RuleDefinition): CountCondition {
  if (condition.kind === "threshold") {
    const { kind, threshold } = condition;
    return { kind, threshold, windowMs };
  }
  if (condition.kind === "anomaly") return { ...condition, windowMs };
  throw new Error("the rule asks for no counts");
}

export function timesOf({ forMs, keepFiringMs, noDataMs = null }: RuleDefinition): StateTimes {
  return { forMs, keepFiringMs, noDataMs };
}
