import type { Fragment, ISql, Sql } from "postgres";
import type { Change } from "../../changes/change.ts";
import { type Changes, SERVER_ORIGIN } from "../../changes/changes.ts";
import { BackgroundWork } from "../../jobs/background-work.ts";
import { takeTurn } from "../../jobs/claims/turns.ts";
import { whenDue } from "../../jobs/due-watch.ts";
import type { Logger } from "../../log.ts";
import type { Problem } from "../../problems/events.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { incidentOpened } from "./events.ts";
import {
  DIGEST_MAX_OF_ROUND,
  DIGEST_NAMED_MAX,
  DIGEST_POLL_MS,
  DIGEST_STOP_MS,
  STORM_TOLD_MAX,
  STORM_WITHIN_MS,
} from "./limits.ts";
import { isOfRule, ruleOf } from "./rule-key.ts";
import { findIncident, lockKey, type NewIncident, updateIncident } from "./store.ts";
import { note, tell } from "./timeline.ts";

const JOB = "incident-digests";

/**
 * When nobody is told of one more of the rule: `insertIncident` counts where it inserts, and those that others open at the same
 * time come before or after, so that of any number at once only the first are told. Null for what is of no rule.
 */
export async function stormOf(
  { tx, organizationId, nowMs }: Change,
  problem: Problem,
): Promise<NewIncident["storm"]> {
  const rule = ruleOf(problem);
  if (rule === null) return null;
  // One lock for all rules: events of several are delivered together, and would wait for one another.
  await lockKey(tx, organizationId, "storm");
  return { rule, since: new Date(nowMs - STORM_WITHIN_MS), incidents: STORM_TOLD_MAX };
}

interface DigestOptions {
  readonly sql: Sql;
  readonly changes: Changes;
  readonly log: Logger;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

interface Storm {
  readonly organizationId: number;
  readonly rule: string;
}

/** Tells in one message of the incidents of a rule that opened without one; one instance at a time. */
export class Digests extends BackgroundWork {
  readonly #options: DigestOptions;

  constructor(options: DigestOptions) {
    super({
      pollMs: DIGEST_POLL_MS,
      watch: whenDue(options.sql, (sql) => sql`EXISTS (SELECT 1 FROM incidents WHERE ${isHeldBack(sql)})`),
      failure: "incidents that were held back could not be told; they will be",
      stopMs: DIGEST_STOP_MS,
      log: options.log,
    });
    this.#options = options;
  }

  /** One round; true when there may be more. */
  async workOnce(signal: AbortSignal): Promise<boolean> {
    return (await takeTurn(this.#options.sql, JOB, () => this.#tellStorms(signal))) ?? false;
  }

  async #tellStorms(signal: AbortSignal): Promise<boolean> {
    const { sql, changes, log, now } = this.#options;
    const before = new Date(now() - STORM_WITHIN_MS);
    const storms = await askPostgres(
      () => sql<Storm[]>`
        SELECT organization_id AS "organizationId",
               array_to_string((string_to_array(source_key, ':'))[1:3], ':') AS rule
        FROM incidents WHERE ${isHeldBack(sql)}
        GROUP BY 1, 2 HAVING min(held_back_at) <= ${before} ORDER BY 1, 2 LIMIT ${DIGEST_MAX_OF_ROUND}`,
    );
    let failures = 0;
    for (const { organizationId, rule } of storms) {
      if (signal.aborted) return false;
      const cause = { organizationId, actor: { kind: "job", name: JOB }, origin: SERVER_ORIGIN } as const;
      try {
        await changes.inChange(cause, null, (change) => tellStorm(change, rule));
      } catch (error) {
        // One that cannot be told leaves the others.
        failures += 1;
        log.error({ rule, err: error }, "a storm of incidents could not be told");
      }
    }
    return storms.length === DIGEST_MAX_OF_ROUND && failures === 0;
  }
}

function isHeldBack(sql: ISql): Fragment {
  return sql`held_back_at IS NOT NULL AND digested_at IS NULL`;
}

interface Held {
  readonly id: number;
  readonly title: string;
  readonly isOpen: boolean;
}

/** One of the open ones is told of, with how many there were beside it and which the largest are. */
async function tellStorm(change: Change, rule: string): Promise<void> {
  const { tx, organizationId, nowMs } = change;
  const held = await tx<Held[]>`
    SELECT id::integer, title, resolved_at IS NULL AS "isOpen" FROM incidents
    WHERE organization_id = ${organizationId} AND ${isHeldBack(tx)} AND ${isOfRule(tx, rule)}
    ORDER BY resolved_at IS NOT NULL, (evidence ->> 'peak')::double precision DESC NULLS LAST, id
    FOR UPDATE`;
  const [first, ...others] = held;
  if (first === undefined) return;
  await tx`
    UPDATE incidents SET digested_at = ${new Date(nowMs)}
    WHERE organization_id = ${organizationId} AND id = ANY(${held.map(({ id }) => id)}::bigint[])`;
  // What opened and ended meanwhile is in the list for whoever looks.
  if (!first.isOpen) return;
  const stored = await findIncident(tx, organizationId, first.id);
  if (stored === null) return;
  const body = digestText(first, others);
  // From now on it is one like any other: when it ends is told.
  const told = await updateIncident(tx, organizationId, first.id, { heldBackAt: null }, nowMs);
  const update = await note(change, told, { kind: "changed", body, isPublic: false });
  tell(change, incidentOpened, told, { update, notify: stored.incident.acknowledgedAt === null });
}

function digestText(first: Held, others: readonly Held[]): string {
  if (others.length === 0) return "It opened among many others of its rule, so that nobody was told at once.";
  const ended = others.filter(({ isOpen }) => !isOpen).length;
  const named = others.slice(0, DIGEST_NAMED_MAX).map(({ title }) => title);
  const more = others.length - named.length;
  return [
    `${others.length} more incidents of this rule opened without a message`,
    ended === 0 ? "" : ` (${ended} of them are over)`,
    `: ${named.join(", ")}${more > 0 ? ` and ${more} others` : ""}.`,
    ` ${first.title} is the largest.`,
  ].join("");
}
