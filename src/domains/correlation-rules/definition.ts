import { ApiError, type FieldIssue, validationFailed } from "../../errors.ts";
import { requireEntryConditions } from "../../kql/entry-conditions.ts";
import type { NewCounter } from "../../rules/counters/counter-store.ts";
import { bucketMsOf } from "../../rules/evaluation/bucket-sums.ts";
import type { RuleDefinition } from "../../rules/live/definition.ts";
import type { StoredCorrelation } from "./types.ts";

/** What of a rule says what it looks for. */
export type CorrelationTerms = Pick<
  StoredCorrelation,
  | ("name" | "kind" | "joinField" | "severity" | "attackTechnique" | "windowSec")
  | ("steps" | "matchKql" | "distinctField" | "threshold" | "escalationPolicyId")
>;

/** Refuses a rule that lacks what its kind needs, and conditions that do not compile, with the place of each. */
export function requireTerms(terms: CorrelationTerms): void {
  const missing = (path: string): FieldIssue => {
    return { path, code: "custom", message: `is needed by a rule of kind ${terms.kind}` };
  };
  const issues =
    terms.kind === "sequence"
      ? [...(terms.steps === null ? [missing("/steps")] : [])]
      : (["matchKql", "distinctField", "threshold"] as const).flatMap((name) =>
          terms[name] === null ? [missing(`/${name}`)] : [],
        );
  if (issues.length > 0) throw validationFailed(issues);
  for (const { kql, path } of conditionsOf(terms)) requireEntryConditions(kql, path);
}

/** The conditions of a rule's steps, each with its place in a body. */
function conditionsOf({ kind, steps, matchKql }: Pick<CorrelationTerms, "kind" | "steps" | "matchKql">) {
  if (kind === "sequence") return (steps ?? []).map(({ kql }, i) => ({ kql, path: `/steps/${i}/kql` }));
  return matchKql === null ? [] : [{ kql: matchKql, path: "/matchKql" }];
}

/** What tells for each step that entries came: from one window before a moment on. */
export function countersOf(terms: CorrelationTerms, nowMs: number): NewCounter[] {
  const bucketMs = bucketMsOf(terms.windowSec * 1000);
  return conditionsOf(terms).map(({ kql }) => ({
    ...{ query: null, kql, service: null, level: null, groupBy: [], clock: "alert" },
    bucketSec: bucketMs / 1000,
    pastFromMs: Math.floor(nowMs / bucketMs) * bucketMs,
  }));
}

/** `sinceMs` is when the rule was made: what came before tells nobody. */
export function definitionOf(terms: CorrelationTerms, sinceMs: number): RuleDefinition {
  const { name, severity, attackTechnique, escalationPolicyId, windowSec, joinField } = terms;
  const { distinctField, threshold } = terms;
  const windowMs = windowSec * 1000;
  const common = {
    ...{ name, severity, attackTechnique, escalationPolicyId, windowMs },
    ...{ groupBy: [joinField], forMs: 0, keepFiringMs: windowMs },
  };
  if (terms.kind === "sequence") return { ...common, condition: { kind: "sequence", joinField, sinceMs } };
  if (distinctField === null || threshold === null)
    throw new ApiError("INTERNAL", "A rule lacks what its kind needs.");
  return { ...common, condition: { kind: "cardinality", joinField, distinctField, threshold, sinceMs } };
}
