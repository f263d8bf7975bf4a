import type { Fragment, Sql } from "postgres";
import type { Change } from "../../changes/change.ts";
import { type Changes, SERVER_ORIGIN } from "../../changes/changes.ts";
import { BackgroundWork } from "../../jobs/background-work.ts";
import { takeTurn } from "../../jobs/claims/turns.ts";
import { whenDue } from "../../jobs/due-watch.ts";
import type { Logger } from "../../log.ts";
import { findSilence } from "../../problems/silences.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { incidentOpened } from "./events.ts";
import { UNSILENCE_MAX_OF_ROUND, UNSILENCE_POLL_MS, UNSILENCE_STOP_MS } from "./limits.ts";
import { findKey, lockIncident, lockKey, updateIncident } from "./store.ts";
import { note, tell } from "./timeline.ts";

const JOB = "incident-unsilencing";

interface UnsilencingOptions {
  readonly sql: Sql;
  readonly changes: Changes;
  readonly log: Logger;
}

interface Due {
  readonly id: number;
  readonly organizationId: number;
}

/** Tells of incidents that are still open when the silence is over for which nobody was told; one instance at a time. */
export class Unsilencing extends BackgroundWork {
  readonly #options: UnsilencingOptions;

  constructor(options: UnsilencingOptions) {
    super({
      pollMs: UNSILENCE_POLL_MS,
      watch: whenDue(options.sql, (sql) => sql`EXISTS (SELECT 1 FROM incidents i WHERE ${isDue(sql)})`),
      failure: "incidents whose silence is over could not be told",
      stopMs: UNSILENCE_STOP_MS,
      log: options.log,
    });
    this.#options = options;
  }

  /** One round; true when there may be more. */
  async workOnce(signal: AbortSignal): Promise<boolean> {
    return (await takeTurn(this.#options.sql, JOB, () => this.#unsilence(signal))) ?? false;
  }

  async #unsilence(signal: AbortSignal): Promise<boolean> {
    const { sql, changes, log } = this.#options;
    const due = await askPostgres(
      () => sql<Due[]>`
        SELECT i.id::integer, i.organization_id AS "organizationId" FROM incidents i
        WHERE ${isDue(sql)}
        ORDER BY i.id LIMIT ${UNSILENCE_MAX_OF_ROUND}`,
    );
    let failures = 0;
    for (const { id, organizationId } of due) {
      if (signal.aborted) return false;
      const cause = { organizationId, actor: { kind: "job", name: JOB }, origin: SERVER_ORIGIN } as const;
      try {
        await changes.inChange(cause, null, (change) => unsilence(change, id));
      } catch (error) {
        // One that cannot be told leaves the others.
        failures += 1;
        log.error({ incidentId: id, err: error }, "an incident whose silence is over could not be told");
      }
    }
    return due.length === UNSILENCE_MAX_OF_ROUND && failures === 0;
  }
}

function isDue(sql: Sql): Fragment {
  return sql`
    i.silence_id IS NOT NULL AND i.resolved_at IS NULL
      AND NOT EXISTS (SELECT 1 FROM silences s
                      WHERE s.id = i.silence_id AND s.organization_id = i.organization_id
                        AND s.starts_at <= now() AND s.ends_at > now())`;
}

async function unsilence(change: Change, id: number): Promise<void> {
  const { tx, organizationId, nowMs } = change;
  const key = await findKey(tx, organizationId, id);
  if (key !== undefined && key !== null) await lockKey(tx, organizationId, key);
  const known = await lockIncident(tx, organizationId, id);
  // By now it may be over, or another silence may hold for it.
  if (known === null || known.incident.resolvedAt !== null || known.incident.silenceId === null) return;
  const { source, monitorIds, acknowledgedAt } = known.incident;
  const silenceId = await findSilence(tx, organizationId, { ...known, source, monitorIds }, nowMs);
  const changed = await updateIncident(tx, organizationId, id, { silenceId }, nowMs);
  // Whoever answers for it knows.
  if (silenceId !== null || acknowledgedAt !== null) return;
  const body = "The silence is over, and it is still open.";
  const update = await note(change, changed, { kind: "changed", body, isPublic: false });
  tell(change, incidentOpened, changed, { update, notify: true });
}
