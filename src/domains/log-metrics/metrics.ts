import type { Sql } from "postgres";
import { parseSearch } from "../../../query/index.ts";
import type { Change } from "../../changes/change.ts";
import { Records } from "../../changes/records.ts";
import { validationFailed } from "../../errors.ts";
import {
  type EntryFilter,
  endCounter,
  makeCounter,
  plainCounter,
} from "../../rules/counters/counter-store.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import { COUNTER_BUCKET_SEC, METRICS_MAX } from "./limits.ts";
import { type CreateLogMetricBody, LogMetric, type UpdateLogMetricBody } from "./types.ts";

export const logMetrics = new Records<typeof LogMetric, CreateLogMetricBody, UpdateLogMetricBody>({
  noun: "log metric",
  table: "log_metrics",
  schema: LogMetric,
  maxPerOrganization: METRICS_MAX,
  check: ({ query }) => {
    const parsed = parseSearch(query ?? "");
    if (!parsed.ok)
      throw validationFailed([{ path: "/query", code: "too_big", message: parsed.error.message }]);
  },
});

/** Oldest first. */
export function listMetrics(sql: Sql, organizationId: number): Promise<LogMetric[]> {
  return logMetrics.list(sql, organizationId);
}

/** Throws NOT_FOUND. */
export function readMetric(sql: Sql, organizationId: number, id: number): Promise<LogMetric> {
  return logMetrics.read(sql, organizationId, id);
}

/** Throws VALIDATION_FAILED, and CONFLICT for one too many. */
export async function createMetric(change: Change, fields: CreateLogMetricBody): Promise<LogMetric> {
  const metric = await logMetrics.create(change, fields);
  if (metric.enabled) await setCounter(change, metric);
  return metric;
}

/** Throws VALIDATION_FAILED and NOT_FOUND. What counts a metric never changes: another filter is another counter. */
export async function updateMetric(
  change: Change,
  id: number,
  fields: UpdateLogMetricBody,
): Promise<LogMetric> {
  const before = await counterOf(change, id);
  const metric = await logMetrics.update(change, id, fields);
  const stays = before !== null && metric.enabled && isSame(before, metric);
  if (stays || (before === null && !metric.enabled)) return metric;
  if (before !== null) await endCounter(change.tx, change.organizationId, before.id);
  if (metric.enabled) await setCounter(change, metric);
  else await noteCounter(change, id, null);
  return metric;
}

/** Throws NOT_FOUND. */
export async function removeMetric(change: Change, id: number): Promise<void> {
  const counter = await counterOf(change, id);
  await logMetrics.remove(change, id);
  if (counter !== null) await endCounter(change.tx, change.organizationId, counter.id);
}

interface MetricCounter extends EntryFilter {
  readonly id: number;
}

/** What counts a metric; null while nothing does. Until the change ends nobody else changes it. */
async function counterOf({ tx, organizationId }: Change, id: number): Promise<MetricCounter | null> {
  const [counter] = await tx<MetricCounter[]>`
    SELECT c.id::integer, c.query, c.service, c.level
    FROM log_metrics m JOIN log_counters c ON c.id = m.counter_id
    WHERE m.organization_id = ${organizationId} AND m.id = ${id}
    FOR UPDATE OF m`;
  return counter ?? null;
}

async function setCounter(change: Change, metric: LogMetric): Promise<void> {
  const { tx, organizationId, nowMs } = change;
  await noteCounter(
    change,
    metric.id,
    await makeCounter(tx, organizationId, plainCounter(metric, COUNTER_BUCKET_SEC), nowMs),
  );
}

async function noteCounter(
  { tx, organizationId }: Change,
  id: number,
  counterId: number | null,
): Promise<void> {
  await tx`
    UPDATE log_metrics SET counter_id = ${counterId} WHERE organization_id = ${organizationId} AND id = ${id}`;
}

function isSame(left: EntryFilter, right: EntryFilter): boolean {
  return left.query === right.query && left.service === right.service && left.level === right.level;
}

/** The counter that an answer about a metric can be made of; null when it has to be made of the entries. */
export async function countedBy(sql: Sql, organizationId: number, id: number): Promise<number | null> {
  const [found] = await askPostgres(() =>
    inOrganization(
      sql,
      organizationId,
      (tx) => tx<{ id: number }[]>`
        SELECT c.id::integer FROM log_metrics m JOIN log_counters c ON c.id = m.counter_id
        WHERE m.organization_id = ${organizationId} AND m.id = ${id} AND c.past = 'counted'`,
    ),
  );
  return found?.id ?? null;
}
