import { EACH, type PackRule, type SampleEntry } from "./pack.ts";

/** A rule about entries of which one field has one of some values. */
interface ListedRule
  extends Pick<PackRule, "id" | "name" | "description" | "severity" | "attackTechnique">,
    Partial<Pick<PackRule, "threshold" | "windowSec" | "groupBy">> {
  readonly values: readonly [string, ...string[]];
}

/** What all rules about the entries of a source have in common. */
export interface ListedSource {
  readonly field: string;
  readonly operator: "in" | "in~";
  /** What has to hold of every entry beside the value; empty for nothing. */
  readonly also: string;
  readonly groupBy: readonly string[];
  readonly sample: (value: string) => SampleEntry;
  /** A value that is ordinary. */
  readonly ordinary: string;
}

/** Makes rules of the values of a field: such a rule counts what has one of them, and leaves what has an ordinary one. */
export function listedRules(source: ListedSource, rules: readonly ListedRule[]): PackRule[] {
  const { field, operator, also, sample, ordinary } = source;
  return rules.map(({ values, ...rule }) => ({
    ...{ ...EACH, groupBy: source.groupBy, ...rule },
    kql: `${field} ${operator} (${values.map((value) => JSON.stringify(value)).join(", ")})${also}`,
    counts: sample(values[0]),
    leaves: sample(ordinary),
  }));
}
