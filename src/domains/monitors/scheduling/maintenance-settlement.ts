import type { Fragment, Sql } from "postgres";
import { type Changes, SERVER_ORIGIN } from "../../../changes/changes.ts";
import { BackgroundWork } from "../../../jobs/background-work.ts";
import { whenDue } from "../../../jobs/due-watch.ts";
import type { Logger } from "../../../log.ts";
import { askPostgres } from "../../../storage/ask-postgres.ts";
import { tell } from "../../../uptime/advance.ts";
import { lockStates, writeTold } from "../../../uptime/state-store.ts";
import { SETTLE_EVERY_MS, SETTLE_MAX_ROWS, STOP_MS } from "./limits.ts";
import { MONITORS_JOB } from "./round-commit.ts";
import { readSettings } from "./round-facts.ts";
import { tellEffects } from "./tell-effects.ts";

interface MaintenanceSettlementOptions {
  readonly sql: Sql;
  readonly changes: Changes;
  readonly log: Logger;
}

interface EndedWindow {
  id: string;
  organization_id: number;
  monitor_id: string | null;
}

function isDue(sql: Sql): Fragment {
  return sql`settled_at IS NULL AND ends_at <= now()`;
}

/** When announced work is over, says once what is wrong still; what is over by then was never told. */
export class MaintenanceSettlement extends BackgroundWork {
  readonly #options: MaintenanceSettlementOptions;

  constructor(options: MaintenanceSettlementOptions) {
    super({
      pollMs: SETTLE_EVERY_MS,
      watch: whenDue(
        options.sql,
        (sql) => sql`EXISTS (SELECT 1 FROM maintenance_windows WHERE ${isDue(sql)})`,
      ),
      failure: "the end of maintenance could not be settled",
      stopMs: STOP_MS,
      log: options.log,
    });
    this.#options = options;
  }

  /** Settles a window that has ended; true when there may be more. Two instances at once say nothing twice. */
  async workOnce(): Promise<boolean> {
    const { sql } = this.#options;
    const [window] = await askPostgres(
      () => sql<EndedWindow[]>`
        SELECT id, organization_id, monitor_id FROM maintenance_windows
        WHERE ${isDue(sql)} ORDER BY ends_at, id LIMIT 1`,
    );
    if (window === undefined) return false;
    for (let afterId: number | null = 0; afterId !== null; )
      afterId = await this.#settleSome(window, afterId);
    await askPostgres(
      () =>
        sql`UPDATE maintenance_windows SET settled_at = now() WHERE id = ${window.id} AND ends_at <= now()`,
    );
    return true;
  }

  /** Settles monitors whose ids are larger; answers where to go on, null at the end. */
  #settleSome(window: EndedWindow, afterId: number): Promise<number | null> {
    const { organization_id: organizationId, monitor_id: monitorId } = window;
    return this.#options.changes.inChange(
      { organizationId, actor: MONITORS_JOB, origin: SERVER_ORIGIN },
      null,
      async (change) => {
        const { tx, nowMs } = change;
        const candidates = await tx<{ monitor_id: string }[]>`
          SELECT monitor_id FROM monitor_state
          WHERE organization_id = ${organizationId} AND monitor_id > ${afterId}
            AND (${monitorId}::bigint IS NULL OR monitor_id = ${monitorId}::bigint)
            AND (confirmed <> told OR (certificate_not_after IS NOT NULL AND NOT certificate_told))
          ORDER BY monitor_id LIMIT ${SETTLE_MAX_ROWS}`;
        const ids = candidates.map((row) => Number(row.monitor_id));
        const states = await lockStates(tx, ids);
        const { settings, inMaintenance } = await readSettings(tx, ids);
        const told = states.flatMap((before) => {
          const monitor = settings.get(before.monitorId);
          if (monitor === undefined || monitor.isPaused || inMaintenance.has(before.monitorId)) return [];
          const { state, effects } = tell(before, monitor, nowMs);
          tellEffects(change, monitor, state, effects);
          return effects.length === 0 ? [] : [{ ...before, ...state }];
        });
        await writeTold(tx, told);
        return ids.length < SETTLE_MAX_ROWS ? null : (ids.at(-1) ?? null);
      },
    );
  }
}
