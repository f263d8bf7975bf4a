import type { Severity } from "../../problems/events.ts";

/** What every rule has. */
export interface RuleText {
  /** What it is known by when it is imported again. */
  readonly key: string;
  readonly name: string;
  readonly description: string | null;
  readonly severity: Severity;
  readonly attackTechnique: string | null;
}

/** A rule about single entries. */
export interface ConvertedRule extends RuleText {
  readonly kind: "log";
  readonly kql: string;
  readonly threshold: number;
  readonly windowSec: number;
  readonly groupBy: readonly string[];
  /** Attributes of which some should be seen, by the fields of the rule. */
  readonly fields: ReadonlyMap<string, readonly string[]>;
}

/** A rule over several entries. */
export interface Correlation extends RuleText {
  readonly kind: "sequence" | "cardinality";
  readonly joinField: string;
  readonly windowSec: number;
  /** Of a sequence, in their order. */
  readonly steps: readonly string[];
  /** Of a cardinality: which entries, and how many values of which field. */
  readonly matchKql: string | null;
  readonly distinctField: string | null;
  readonly threshold: number | null;
  readonly fields: ConvertedRule["fields"];
}

/** A correlation as the body that makes such a rule. */
export function correlationOf(asked: Correlation) {
  const { name, severity, description, attackTechnique, joinField, windowSec } = asked;
  const { kind, steps, matchKql, distinctField, threshold } = asked;
  return {
    ...{ name, severity, kind, joinField, windowSec },
    ...(description !== null && { description }),
    ...(attackTechnique !== null && { attackTechnique }),
    ...(kind === "sequence" && { steps: steps.map((kql) => ({ kql })) }),
    ...(matchKql !== null && { matchKql }),
    ...(distinctField !== null && { distinctField }),
    ...(threshold !== null && { threshold }),
  };
}
