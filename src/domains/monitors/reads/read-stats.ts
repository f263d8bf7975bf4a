import type { Sql, TransactionSql } from "postgres";
import { ApiError, DependencyError } from "../../../errors.ts";
import type { Logger } from "../../../log.ts";
import { readWindows, windowsOfMonitor } from "../../../maintenance/windows.ts";
import { askPostgres } from "../../../storage/ask-postgres.ts";
import { inOrganization } from "../../../storage/organization-transaction.ts";
import type { QueryCaller } from "../../../storage/query-runner.ts";
import { readPeriods } from "../../../uptime/read-periods.ts";
import { objectiveState, objectiveWindow, type Period, uptimeOf } from "../../../uptime/slo.ts";
import type { Span } from "../../../uptime/spans.ts";
import { noSuchMonitor } from "../service.ts";
import { findMonitors, type WatchedMonitorRow } from "../store.ts";
import type { ChecksOf } from "./check-plans.ts";
import { type CheckRows, type CheckStats, NO_CHECKS } from "./check-rows.ts";
import { spanOf } from "./time-span.ts";
import { bucketSecOf, timelineOf } from "./timeline.ts";
import type { MonitorStats, SpanParameters, Timeline, TimelineParameters } from "./types.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

export interface StatsDependencies {
  readonly sql: Sql;
  readonly rows: CheckRows;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Who asks, and where it is said what could not be read. */
interface Asking {
  readonly caller: QueryCaller;
  readonly log: Logger;
}

/** What Postgres knows of monitors over a stretch of time. */
interface Known {
  readonly row: WatchedMonitorRow;
  readonly periods: readonly Period[];
  readonly maintenance: readonly Span[];
}

/** Uptime from confirmed states, which the log store has no part in, and what it knows of checks. Unknown ids are left out. */
export async function readStats(
  { sql, rows, now }: StatsDependencies,
  asking: Asking,
  ids: readonly number[],
  parameters: SpanParameters,
): Promise<MonitorStats[]> {
  const nowMs = now();
  const spanFor = (row: WatchedMonitorRow): Span =>
    spanOf(parameters, nowMs, row.uptime_window_days * DAY_MS);
  const { organizationId } = asking.caller;
  const { known, isCut } = await askPostgres(() =>
    inOrganization(sql, organizationId, (tx) =>
      readKnown(tx, organizationId, ids, nowMs, (row) => [
        spanFor(row),
        objectiveWindow(objectiveOf(row), nowMs),
      ]),
    ),
  );
  if (known.length === 0) return [];
  const of = known.map(({ row }): ChecksOf => ({ monitorId: Number(row.id), span: spanFor(row) }));
  const checks = await unlessAway(asking, () => rows.stats(asking.caller, of));
  return known.map((one) => statsOf(one, spanFor(one.row), nowMs, { checks, isCut }));
}

/** Throws NOT_FOUND, VALIDATION_FAILED. */
export async function readTimeline(
  { sql, rows, now }: StatsDependencies,
  asking: Asking,
  id: number,
  { bucketSec: askedSec, ...parameters }: TimelineParameters,
): Promise<Timeline> {
  const nowMs = now();
  const span = spanOf(parameters, nowMs, DAY_MS);
  const bucketSec = bucketSecOf(span, askedSec);
  const { organizationId } = asking.caller;
  const { known, isCut } = await askPostgres(() =>
    inOrganization(sql, organizationId, (tx) => readKnown(tx, organizationId, [id], nowMs, () => [span])),
  );
  const [one] = known;
  if (one === undefined) throw noSuchMonitor();
  const of = { monitorId: id, span };
  const checks = await unlessAway(asking, () => rows.buckets(asking.caller, of, bucketSec * 1000));
  const buckets = timelineOf(span, bucketSec, { ...one, checks });
  return { buckets, bucketSec, partial: isCut || checks === null };
}

async function readKnown(
  tx: TransactionSql,
  organizationId: number,
  ids: readonly number[],
  nowMs: number,
  spansOf: (row: WatchedMonitorRow) => readonly Span[],
): Promise<{ readonly known: readonly Known[]; readonly isCut: boolean }> {
  const monitors = await findMonitors(tx, organizationId, ids);
  if (monitors.length === 0) return { known: [], isCut: false };
  const found = monitors.map(({ id }) => Number(id));
  const spans = monitors.flatMap(spansOf);
  const whole = {
    fromMs: Math.min(...spans.map(({ fromMs }) => fromMs)),
    toMs: Math.max(...spans.map(({ toMs }) => toMs)),
  };
  const { byMonitor, isCut } = await readPeriods(tx, organizationId, found, whole);
  const windows = await readWindows(tx, organizationId, found, whole);
  const known = monitors.map((row) => ({
    row,
    periods: clippedTo(byMonitor.get(Number(row.id)) ?? [], nowMs),
    maintenance: windowsOfMonitor(windows, Number(row.id)),
  }));
  return { known, isCut };
}

/** What the log store says of checks; null while it does not answer. */
type ChecksKnown = ReadonlyMap<number, CheckStats> | null;

function statsOf(
  { row, periods, maintenance }: Known,
  span: Span,
  nowMs: number,
  { checks, isCut }: { readonly checks: ChecksKnown; readonly isCut: boolean },
): MonitorStats {
  const id = Number(row.id);
  const uptime = uptimeOf(periods, maintenance, span);
  const objective = objectiveOf(row);
  const window = objectiveWindow(objective, nowMs);
  const state = objectiveState(objective, uptimeOf(periods, maintenance, window).downMs);
  return {
    monitorId: id,
    from: new Date(span.fromMs).toISOString(),
    to: new Date(span.toMs).toISOString(),
    uptimePercent: uptime.percent,
    downtimeSec: uptime.downMs / 1000,
    checks: checks === null ? null : (checks.get(id)?.counts ?? NO_CHECKS),
    responseTimeMs: checks?.get(id)?.times ?? null,
    slo: {
      targetBp: objective.uptimeTargetBp,
      windowDays: objective.uptimeWindowDays,
      downtimeSec: state.downMs / 1000,
      allowedDowntimeSec: state.allowedDownMs / 1000,
      budgetLeftSec: state.budgetLeftMs / 1000,
      breached: state.isBreached,
    },
    partial: isCut || checks === null,
  };
}

function objectiveOf(row: WatchedMonitorRow) {
  return { uptimeTargetBp: row.uptime_target_bp, uptimeWindowDays: row.uptime_window_days };
}

/** Nothing is known of the future: the period that goes on goes on until now, whatever time is asked for. */
function clippedTo(periods: readonly Period[], nowMs: number): Period[] {
  return periods.map((period) => (period.toMs === null ? { ...period, toMs: nowMs } : period));
}

/** Uptime is answered whatever becomes of the log store. */
async function unlessAway<T>({ log }: Asking, read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof DependencyError)) throw error;
    log.warn({ err: error }, "statistics of monitors go without their checks");
    return null;
  }
}
