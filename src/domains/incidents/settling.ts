import type { Fragment, Sql } from "postgres";
import type { Change } from "../../changes/change.ts";
import { type Changes, SERVER_ORIGIN } from "../../changes/changes.ts";
import { BackgroundWork } from "../../jobs/background-work.ts";
import { takeTurn } from "../../jobs/claims/turns.ts";
import { whenDue } from "../../jobs/due-watch.ts";
import type { Logger } from "../../log.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { SETTLE_MAX_OF_ROUND, SETTLE_POLL_MS, SETTLE_STOP_MS } from "./limits.ts";
import { lockIncident, lockKey } from "./store.ts";
import { endIncident } from "./timeline.ts";

const JOB = "incident-settling";

export interface SettlingOptions {
  readonly sql: Sql;
  readonly changes: Changes;
  readonly log: Logger;
}

interface Due {
  readonly id: string;
  readonly organization_id: number;
  readonly source_key: string;
}

/** Ends incidents that flapped and have been well for long enough, by the clock of the database; one instance at a time. */
export class Settling extends BackgroundWork {
  readonly #options: SettlingOptions;

  constructor(options: SettlingOptions) {
    super({
      pollMs: SETTLE_POLL_MS,
      watch: whenDue(options.sql, (sql) => sql`EXISTS (SELECT 1 FROM incidents WHERE ${isDue(sql)})`),
      failure: "incidents that settled could not be ended",
      stopMs: SETTLE_STOP_MS,
      log: options.log,
    });
    this.#options = options;
  }

  /** One round; true when there may be more. */
  async workOnce(signal: AbortSignal): Promise<boolean> {
    return (await takeTurn(this.#options.sql, JOB, () => this.#settle(signal))) ?? false;
  }

  async #settle(signal: AbortSignal): Promise<boolean> {
    const { sql, changes, log } = this.#options;
    const due = await askPostgres(
      () => sql<Due[]>`
        SELECT id, organization_id, source_key FROM incidents
        WHERE ${isDue(sql)} ORDER BY settle_at LIMIT ${SETTLE_MAX_OF_ROUND}`,
    );
    let failures = 0;
    for (const incident of due) {
      if (signal.aborted) return false;
      const cause = {
        organizationId: incident.organization_id,
        actor: { kind: "job", name: JOB },
        origin: SERVER_ORIGIN,
      } as const;
      try {
        await changes.inChange(cause, null, (change) => settle(change, incident));
      } catch (error) {
        // One that cannot be ended leaves the others.
        failures += 1;
        log.error({ incidentId: Number(incident.id), err: error }, "an incident could not be ended");
      }
    }
    return due.length === SETTLE_MAX_OF_ROUND && failures === 0;
  }
}

function isDue(sql: Sql): Fragment {
  return sql`settle_at <= now() AND source_key IS NOT NULL`;
}

async function settle(change: Change, { id, source_key }: Due): Promise<void> {
  const { tx, organizationId, nowMs } = change;
  await lockKey(tx, organizationId, source_key);
  const known = await lockIncident(tx, organizationId, Number(id));
  // By now it may be wrong again, or have been resolved.
  const [due] = await tx`
    SELECT 1 FROM incidents WHERE organization_id = ${organizationId} AND id = ${id} AND settle_at <= now()`;
  if (known === null || due === undefined) return;
  const resolution = known.incident.source?.kind === "alert" ? "sender" : "recovered";
  const body = "Well for 15 minutes.";
  await endIncident(change, known, { resolution, atMs: nowMs, body, isPublic: false });
}
