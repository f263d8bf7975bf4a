import type { Sql, TransactionSql } from "postgres";
import type { Change } from "../../changes/change.ts";
import { Records } from "../../changes/records.ts";
import { type KnowsPolicy, requirePolicy } from "../../problems/known-policy.ts";
import { makeCounter, type NewCounter } from "../../rules/counters/counter-store.ts";
import { metricBuckets } from "../../rules/evaluation/metric-windows.ts";
import type { RuleDefinition } from "../../rules/live/definition.ts";
import { endRule } from "../../rules/live/end-rule.ts";
import { makeLive, redefineLive } from "../../rules/live/rule-lifecycle.ts";
import { type MetricSource, metricSource } from "../../rules/metrics/source.ts";
import { METRIC_ALERTS_MAX } from "./limits.ts";
import { type CreateMetricAlertBody, StoredMetricAlert, type UpdateMetricAlertBody } from "./types.ts";

const KIND = "metric";

export interface MetricAlertDependencies {
  readonly sql: Sql;
  readonly knowsPolicy: KnowsPolicy;
}

type Written = Partial<Omit<StoredMetricAlert, "id" | "createdAt" | "updatedAt">>;

export const metricAlerts = new Records<typeof StoredMetricAlert, Written, Written>({
  noun: "metric alert",
  table: "metric_alerts",
  schema: StoredMetricAlert,
  maxPerOrganization: METRIC_ALERTS_MAX,
});

/** The terms of a body with what it does not say. */
export function wholeOf(body: CreateMetricAlertBody) {
  const { name, metricName, threshold, service = null, escalationPolicyId = null } = body;
  const { aggregation = "avg", comparator = "gt", windowSec = 300 } = body;
  const { severity = "medium", enabled = true, noDataSec = null } = body;
  return {
    ...{ name, metricName, service, aggregation, comparator, threshold },
    ...{ windowSec, severity, enabled, escalationPolicyId, noDataSec },
  };
}

/** Oldest first. */
export function listMetricAlerts(sql: Sql, organizationId: number): Promise<StoredMetricAlert[]> {
  return metricAlerts.list(sql, organizationId);
}

/** Throws NOT_FOUND. */
export function readMetricAlert(sql: Sql, organizationId: number, id: number): Promise<StoredMetricAlert> {
  return metricAlerts.read(sql, organizationId, id);
}

/** Throws VALIDATION_FAILED, and CONFLICT for one too many. */
export async function createMetricAlert(
  { knowsPolicy }: MetricAlertDependencies,
  change: Change,
  body: CreateMetricAlertBody,
): Promise<StoredMetricAlert> {
  const whole = wholeOf(body);
  await requirePolicy(knowsPolicy, change, whole.escalationPolicyId);
  const alert = await metricAlerts.create(change, whole);
  if (alert.enabled) await begin(change, alert);
  return alert;
}

/** Throws NOT_FOUND. Another threshold holds from the next evaluation on. */
export async function updateMetricAlert(
  change: Change,
  id: number,
  body: UpdateMetricAlertBody,
): Promise<StoredMetricAlert> {
  const { tx, organizationId } = change;
  const [before] = await tx<{ enabled: boolean; noDataSec: number | null }[]>`
    SELECT enabled, no_data_sec AS "noDataSec" FROM metric_alerts WHERE organization_id = ${organizationId} AND id = ${id} FOR UPDATE`;
  const after = await metricAlerts.update(change, id, body);
  if (before?.enabled === true && after.enabled && before.noDataSec === after.noDataSec) {
    const definition = await definitionOf(tx, organizationId, after);
    await redefineLive(tx, organizationId, { kind: KIND, ruleId: id, definition });
  } else {
    if (before?.enabled === true) await endRule(change, { kind: KIND, ruleId: id }, "paused");
    if (after.enabled) await begin(change, after);
  }
  return after;
}

/** Throws NOT_FOUND. */
export async function removeMetricAlert(change: Change, id: number): Promise<void> {
  await metricAlerts.remove(change, id);
  await endRule(change, { kind: KIND, ruleId: id }, "deleted");
}

async function begin({ tx, organizationId, nowMs }: Change, alert: StoredMetricAlert): Promise<void> {
  const source = await metricSource(tx, organizationId, alert.metricName);
  const counter = counterOf(source, alert, nowMs);
  const counterIds = counter === null ? [] : [await makeCounter(tx, organizationId, counter, nowMs)];
  const { bucketMs } = metricBuckets(alert.windowSec);
  const sinceMs = Math.floor(nowMs / bucketMs) * bucketMs;
  const definition = termsOf(alert, sinceMs);
  const missingFromMs = alert.noDataSec === null ? null : nowMs + alert.noDataSec * 1000;
  const times = { lookFromMs: sinceMs, missingFromMs };
  await makeLive(
    tx,
    organizationId,
    [{ kind: KIND, ruleId: alert.id, counterIds, definition, times }],
    nowMs,
  );
}

/** Since when it looks stays as it was. */
async function definitionOf(
  tx: TransactionSql,
  organizationId: number,
  alert: StoredMetricAlert,
): Promise<RuleDefinition> {
  const [live] = await tx<{ sinceMs: string | null }[]>`
    SELECT definition #>> '{condition,sinceMs}' AS "sinceMs" FROM live_rules
    WHERE organization_id = ${organizationId} AND kind = ${KIND} AND rule_id = ${alert.id}`;
  return termsOf(alert, Number(live?.sinceMs ?? 0));
}

function termsOf(alert: StoredMetricAlert, sinceMs: number): RuleDefinition {
  const { name, severity, escalationPolicyId, windowSec } = alert;
  const { metricName: metric, service, aggregation, comparator, threshold } = alert;
  const { windowMs } = metricBuckets(windowSec);
  return {
    ...{ name, severity, escalationPolicyId, windowMs },
    ...{ attackTechnique: null, groupBy: [], forMs: 0, keepFiringMs: windowMs },
    noDataMs: alert.noDataSec === null ? null : alert.noDataSec * 1000,
    condition: { kind: "metric", metric, service, aggregation, comparator, threshold, sinceMs },
  };
}

/** What tells that entries came which the metric is made of; null for one that is made of no entries. */
function counterOf(
  source: MetricSource,
  { service, windowSec }: StoredMetricAlert,
  nowMs: number,
): NewCounter | null {
  const { bucketMs } = metricBuckets(windowSec);
  const counted: NewCounter = {
    clock: "alert",
    ...{ groupBy: [], bucketSec: bucketMs / 1000, query: null, kql: null, service, level: null },
    pastFromMs: Math.floor(nowMs / bucketMs) * bucketMs,
  };
  switch (source.kind) {
    case "entries":
      return { ...counted, ...source.filter, service: service ?? source.filter.service };
    case "bytes":
      return counted;
    case "attribute":
      return { ...counted, kql: `attrs["metric.name"] == ${kqlText(source.name)}` };
    default:
      return null;
  }
}

/** A text as it stands in KQL. */
function kqlText(text: string): string {
  return `"${text.replace(/[\\"]/g, "\\$&").replace(/\p{Cc}/gu, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`)}"`;
}
