import type { Sql } from "postgres";
import type { Change } from "../../../changes/change.ts";
import { type Changes, SERVER_ORIGIN } from "../../../changes/changes.ts";
import { BackgroundWork } from "../../../jobs/background-work.ts";
import type { Logger } from "../../../log.ts";
import { readWindows, windowsOfMonitor } from "../../../maintenance/windows.ts";
import { problemCleared, problemRaised } from "../../../problems/events.ts";
import { askPostgres } from "../../../storage/ask-postgres.ts";
import { readPeriods } from "../../../uptime/read-periods.ts";
import { objectiveState, objectiveWindow, uptimeOf } from "../../../uptime/slo.ts";
import { SLO_EVERY_MS, SLO_LOOK_BACK_MS, SLO_MAX_ROWS, STOP_MS } from "./limits.ts";
import { MONITORS_JOB } from "./round-commit.ts";

interface SloWatchOptions {
  readonly sql: Sql;
  readonly changes: Changes;
  readonly log: Logger;
}

interface ObjectiveRow {
  id: string;
  organization_id: number;
  name: string;
  uptime_target_bp: number;
  uptime_window_days: number;
  slo_breach_open: boolean;
}

/**
 * Says when an objective is missed, and when it is met again. It can be missed only while a monitor is down, and met again
 * only where it was missed: of all others nothing is asked.
 */
export class SloWatch extends BackgroundWork {
  readonly #options: SloWatchOptions;
  #afterId = 0;

  constructor(options: SloWatchOptions) {
    super({
      pollMs: SLO_EVERY_MS,
      failure: "objectives of monitors could not be judged",
      stopMs: STOP_MS,
      log: options.log,
    });
    this.#options = options;
  }

  /** Judges some monitors behind those of the last time; true when there are more. */
  async workOnce(): Promise<boolean> {
    const { sql, changes } = this.#options;
    const rows = await askPostgres(
      () => sql<ObjectiveRow[]>`
        SELECT m.id, m.organization_id, m.name, m.uptime_target_bp, m.uptime_window_days, s.slo_breach_open
        FROM monitors m JOIN monitor_state s ON s.monitor_id = m.id
        WHERE m.id > ${this.#afterId} AND NOT m.paused AND (
          s.slo_breach_open OR s.confirmed = 'down' OR s.confirmed_at > now() - ${SLO_LOOK_BACK_MS}::integer * interval '1 ms')
        ORDER BY m.id LIMIT ${SLO_MAX_ROWS}`,
    );
    for (const row of rows) {
      const { organization_id: organizationId } = row;
      await changes.inChange({ organizationId, actor: MONITORS_JOB, origin: SERVER_ORIGIN }, null, (change) =>
        judge(change, row),
      );
    }
    const isEnd = rows.length < SLO_MAX_ROWS;
    this.#afterId = isEnd ? 0 : Number(rows.at(-1)?.id ?? 0);
    return !isEnd;
  }
}

async function judge(change: Change, row: ObjectiveRow): Promise<void> {
  const { tx, organizationId, nowMs } = change;
  const monitorId = Number(row.id);
  const objective = { uptimeTargetBp: row.uptime_target_bp, uptimeWindowDays: row.uptime_window_days };
  const window = objectiveWindow(objective, nowMs);
  const { byMonitor } = await readPeriods(tx, organizationId, [monitorId], window);
  const windows = await readWindows(tx, organizationId, [monitorId], window);
  const { downMs } = uptimeOf(byMonitor.get(monitorId) ?? [], windowsOfMonitor(windows, monitorId), window);
  const { isBreached, allowedDownMs } = objectiveState(objective, downMs);
  if (isBreached === row.slo_breach_open) return;
  // Whoever comes first says it.
  const { count } = await tx`
    UPDATE monitor_state SET slo_breach_open = ${isBreached}
    WHERE monitor_id = ${monitorId} AND slo_breach_open = ${!isBreached}`;
  if (count === 0) return;
  const key = `slo:${monitorId}`;
  const at = new Date(nowMs).toISOString();
  const minutes = { down: Math.round(downMs / 60_000), allowed: Math.round(allowedDownMs / 60_000) };
  const summary = `Down for ${minutes.down} minutes of ${objective.uptimeWindowDays} days; ${minutes.allowed} are allowed.`;
  if (!isBreached) {
    change.emit(problemCleared, key, { key, at, cause: "recovered", summary });
    return;
  }
  change.emit(problemRaised, key, {
    key,
    source: { kind: "slo", id: monitorId, name: row.name },
    title: `${[...row.name].slice(0, 200).join("")} misses its objective`,
    severity: "medium",
    since: at,
    monitorIds: [monitorId],
    summary,
    evidence: { downMs, allowedDownMs, uptimeTargetBp: objective.uptimeTargetBp },
  });
}
