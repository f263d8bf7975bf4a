import { parseSearch } from "../../../query/index.ts";
import { type FieldIssue, validationFailed } from "../../errors.ts";
import { requireEntryConditions } from "../../kql/entry-conditions.ts";
import type { NewCounter } from "../../rules/counters/counter-store.ts";
import { conditionOf, type RuleDefinition } from "../../rules/live/definition.ts";
import { bucketSecOf } from "../../rules/live/find-stretches.ts";
import { BASELINE_MAX_WINDOWS } from "./limits.ts";
import type { StoredLogAlert } from "./types.ts";

/** What of a rule says what it counts, and when that is to be told. */
export type AlertTerms = Omit<
  StoredLogAlert,
  | "id"
  | "createdAt"
  | "updatedAt"
  | "description"
  | "enabled"
  | "alertEmail"
  | "channels"
  | "catalogId"
  | "savedSearchId"
>;

const HOUR_MS = 3_600_000;

/** Refuses terms that each are right and together are not, with VALIDATION_FAILED or KQL_INVALID. */
export function requireTerms(terms: AlertTerms): void {
  const issues = issuesOf(terms);
  if (issues.length > 0) throw validationFailed(issues);
  if (terms.kql !== null) requireEntryConditions(terms.kql, "/kql");
}

function issuesOf(terms: AlertTerms): FieldIssue[] {
  const { query, kind, groupBy, windowSec, baselineHours, threshold, recoverThreshold } = terms;
  const issues: FieldIssue[] = [];
  const parsed = parseSearch(query ?? "");
  if (!parsed.ok) issues.push({ path: "/query", code: "too_big", message: parsed.error.message });
  if (recoverThreshold !== null && (kind !== "threshold" || recoverThreshold >= threshold))
    issues.push({
      path: "/recoverThreshold",
      code: "custom",
      message:
        kind === "threshold"
          ? "must be less than `threshold`"
          : "has a place in a rule of kind threshold only",
    });
  if (kind === "anomaly") {
    if (groupBy.length > 0)
      issues.push({ path: "/groupBy", code: "custom", message: "has no place in a rule of kind anomaly" });
    if ((baselineHours * 3600) / windowSec > BASELINE_MAX_WINDOWS)
      issues.push({
        path: "/baselineHours",
        code: "custom",
        message: `is more than ${BASELINE_MAX_WINDOWS} windows of ${windowSec} s`,
      });
  }
  return issues;
}

/** What counts the entries of a rule that is made at a moment: from one window, or its baseline, before that. */
export function counterOf(terms: AlertTerms, nowMs: number): NewCounter {
  const { query, kql, service, level, groupBy } = terms;
  const condition = conditionOf(definitionOf(terms));
  const { windowMs } = condition;
  const bucketSec = bucketSecOf({ kind: condition.kind, windowMs });
  const bucketMs = bucketSec * 1000;
  const reachMs = condition.kind === "anomaly" ? condition.baselineMs : windowMs;
  const pastFromMs = Math.floor(nowMs / bucketMs) * bucketMs - Math.ceil(reachMs / bucketMs) * bucketMs;
  return { query, kql, service, level, groupBy, clock: "alert", bucketSec, pastFromMs };
}

/** Whether two rules are counted in the same way, so that one's counter is the other's. */
export function areCountedAlike(one: AlertTerms, other: AlertTerms): boolean {
  const { pastFromMs: _one, ...left } = counterOf(one, 0);
  const { pastFromMs: _other, ...right } = counterOf(other, 0);
  return (
    Bun.deepEquals(left, right) &&
    one.kind === other.kind &&
    one.windowSec === other.windowSec &&
    one.noDataSec === other.noDataSec &&
    (one.kind === "threshold" || one.baselineHours === other.baselineHours)
  );
}

export function definitionOf(terms: AlertTerms): RuleDefinition {
  const { name, severity, attackTechnique, escalationPolicyId, groupBy, windowSec, kind } = terms;
  const windowMs = windowSec * 1000;
  const { threshold, baselineHours, ratioThreshold, minBaselineEvents, direction } = terms;
  return {
    ...{ name, severity, attackTechnique, escalationPolicyId, groupBy, windowMs },
    forMs: (terms.forSec ?? 0) * 1000,
    keepFiringMs: (terms.keepFiringSec ?? windowSec) * 1000,
    noDataMs: terms.noDataSec === null ? null : terms.noDataSec * 1000,
    condition:
      kind === "threshold"
        ? { kind, threshold, recoverThreshold: terms.recoverThreshold }
        : { kind, baselineMs: baselineHours * HOUR_MS, ratioThreshold, minBaselineEvents, direction },
  };
}
