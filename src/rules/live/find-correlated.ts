import { groupName } from "../counters/groups.ts";
import { cardinalityPoints } from "../evaluation/cardinality.ts";
import { sequencePoints } from "../evaluation/sequence.ts";
import { type StepEvidence, stepEvidence, valueEvidence } from "../evaluation/step-evidence.ts";

/** What a rule asks of entries with one value in common. */
export type Correlation = { readonly windowMs: number; readonly joinField: string } & (
  | { readonly kind: "sequence" }
  | { readonly kind: "cardinality"; readonly distinctField: string; readonly threshold: number }
);

/** An entry that one or more steps of a rule are about; of a rule that counts values with that value. */
export interface CorrelationHit {
  readonly id: string;
  readonly atMs: number;
  readonly join: string;
  readonly value: string;
  readonly steps: readonly number[];
}

/** The entries that a rule is about, and how many steps it has. */
export interface Hits {
  readonly stepCount: number;
  readonly list: readonly CorrelationHit[];
}

/** A moment at which a rule finds what it asks for. */
export interface CorrelationPoint {
  readonly atMs: number;
  /** Steps, or different values. */
  readonly peak: number;
  readonly because: string;
  /** Which entries show it. */
  readonly evidence: () => readonly StepEvidence[];
}

/** By the names of groups, which are the values in common. */
export function findCorrelated(
  correlation: Correlation,
  { stepCount, list }: Hits,
): Map<string, CorrelationPoint[]> {
  const found = new Map<string, CorrelationPoint[]>();
  const { windowMs, joinField } = correlation;
  for (const [join, hits] of Map.groupBy(list, (hit) => hit.join)) {
    const points: CorrelationPoint[] =
      correlation.kind === "sequence"
        ? sequencePoints(hits, stepCount, windowMs).map(({ atMs, startMs }) => ({
            ...{ atMs, peak: stepCount },
            evidence: () => stepEvidence(hits, stepCount, { atMs, startMs }),
            because: `All ${stepCount} steps came in their order within ${secondsText(atMs - startMs)} for ${joinField} ${join}.`,
          }))
        : cardinalityPoints(hits, correlation.threshold, windowMs).map(({ atMs, values }) => ({
            ...{ atMs, peak: values },
            evidence: () => valueEvidence(hits, { fromMs: atMs - windowMs, atMs }),
            because: `${values} different values of ${correlation.distinctField} within ${secondsText(windowMs)} for ${joinField} ${join}; the rule tells of ${correlation.threshold} or more.`,
          }));
    if (points.length > 0) found.set(groupName([join]), points);
  }
  return found;
}

function secondsText(ms: number): string {
  return `${ms / 1000} s`;
}
