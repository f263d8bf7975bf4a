import { type KeptNames, parseSearch, reachOf } from "../../../query/index.ts";
import { ApiError, type FieldIssue, validationFailed } from "../../errors.ts";
import { requireEntryConditions } from "../../kql/entry-conditions.ts";
import { checkQueryText } from "../../kql/issues.ts";
import { predicateOf } from "../../rules/counters/counter-plan.ts";
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
  | "expensive"
>;

const HOUR_MS = 3_600_000;

function requireQuery(kql: string, nowMs: number, kept: KeptNames): void {
  try {
    checkQueryText(kql, nowMs, kept);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "KQL_INVALID") throw error;
    const fields = error.fields?.map((field) => ({ ...field, path: "/kql" }));
    throw new ApiError("KQL_INVALID", error.message, {
      ...(fields !== undefined && { fields }),
      cause: error,
    });
  }
}

/** Refuses terms that each are right and together are not, with VALIDATION_FAILED or KQL_INVALID. */
export function requireTerms(terms: AlertTerms, nowMs: number, kept: KeptNames): void {
  const issues = issuesOf(terms);
  if (issues.length > 0) throw validationFailed(issues);
  if (terms.kql === null) return;
  if (terms.kind === "scheduled") requireQuery(terms.kql, nowMs, kept);
  else requireEntryConditions(terms.kql, "/kql");
}

function issuesOf(terms: AlertTerms): FieldIssue[] {
  const { query, kind, groupBy, windowSec, baselineHours, threshold, recoverThreshold } = terms;
  const issues: FieldIssue[] = [];
  const parsed = parseSearch(query ?? "");
  if (!parsed.ok) issues.push({ path: "/query", code: "too_big", message: parsed.error.message });
  if (kind === "scheduled") {
    if (terms.kql === null)
      issues.push({ path: "/kql", code: "custom", message: "is what a scheduled rule asks" });
    const { service, level, noDataSec } = terms;
    for (const [name, value] of Object.entries({ query, service, level, noDataSec }))
      if (value !== null)
        issues.push({
          path: `/${name}`,
          code: "custom",
          message: "has no place in a rule of kind scheduled",
        });
  } else if (terms.everySec !== null)
    issues.push({
      path: "/everySec",
      code: "custom",
      message: "has a place in a rule of kind scheduled only",
    });
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

/** Whether nothing but its whole condition says which entries a rule counts. */
export function isExpensive(terms: AlertTerms): boolean {
  if (terms.kind === "scheduled") return false;
  return reachOf([predicateOf(counterOf(terms, 0))]) === null;
}

/** Whether two rules are counted in the same way, so that one's counter is the other's. */
export function areCountedAlike(one: AlertTerms, other: AlertTerms): boolean {
  if (one.kind === "scheduled" || other.kind === "scheduled") return isAskedAlike(one, other);
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

function isAskedAlike(one: AlertTerms, other: AlertTerms): boolean {
  const asked = ({ kind, kql, windowSec, groupBy, threshold }: AlertTerms, everyMs: number) => {
    return { kind, kql, windowSec, groupBy, threshold, everyMs };
  };
  return Bun.deepEquals(asked(one, everyMsOf(one)), asked(other, everyMsOf(other)));
}

/** How often a query is asked, in milliseconds. */
export function everyMsOf({ everySec, windowSec }: AlertTerms): number {
  return Math.max(EVERY_MIN_SEC, everySec ?? windowSec) * 1000;
}

const EVERY_MIN_SEC = 60;

/** `sinceMs` is when a rule that asks a query begins; one that is live goes on from where it is. */
export function definitionOf(terms: AlertTerms, sinceMs = 0): RuleDefinition {
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
        : kind === "scheduled"
          ? { kind, kql: terms.kql ?? "", everyMs: everyMsOf(terms), threshold, sinceMs }
          : { kind, baselineMs: baselineHours * HOUR_MS, ratioThreshold, minBaselineEvents, direction },
  };
}
