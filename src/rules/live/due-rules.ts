import type { Sql } from "postgres";
import type { TimeSpan } from "../evaluation/bucket-sums.ts";
import { CHANGES_MAX, LOOKED_AT_EVERY_MS } from "./limits.ts";
import type { StoredRule } from "./live-store.ts";

/** The queries about which rules have something to look at, and that they have looked. Times are milliseconds since 1970. */

/** A rule that has something to look at. */
export interface DueRule extends StoredRule {
  /** Buckets that got entries; none where a time is over and nothing came. */
  readonly spans: readonly TimeSpan[];
  /** The number of the last of what came. */
  readonly last: string;
  /** Whether a time is over of a group. */
  readonly isWoken: boolean;
  /** Whether it is known when something came last, of all entries together, and nothing is wrong with it. */
  readonly isWatched: boolean;
  /** Up to where windows are judged, for a rule that judges them when they are over; null for others. */
  readonly judgedMs: number | null;
  /** Whether its owner is told something of it. */
  readonly hasNote: boolean;
  /** Whether it is to be noted that it was looked at, which is not done each time. */
  readonly isNoteDue: boolean;
}

interface DueRow extends Omit<DueRule, "spans"> {
  readonly from: readonly number[];
  readonly to: readonly number[];
}

/** Rules with a number above `after` that have something to look at: entries that came, or a time that is over. */
export async function dueRules(
  sql: Sql,
  { throughMs, after, max }: { throughMs: number | null; after: number; max: number },
): Promise<readonly DueRule[]> {
  const through = new Date(throughMs ?? 0);
  const rows = await sql<DueRow[]>`
    WITH woken AS (
      SELECT DISTINCT live_rule_id AS id FROM rule_groups WHERE wake_at <= ${through} AND live_rule_id > ${after}
      UNION SELECT id FROM live_rules WHERE note_until <= ${through} AND id > ${after}
    ), due AS (
      SELECT live_rule_id AS id FROM live_rule_counters
      WHERE counter_id IN (SELECT counter_id FROM counter_changes) AND live_rule_id > ${after}
      UNION SELECT id FROM woken
    )
    SELECT r.id::integer, r.organization_id AS "organizationId", r.kind, r.rule_id::integer AS "ruleId",
           ARRAY(SELECT rc.counter_id::integer FROM live_rule_counters rc
                 WHERE rc.live_rule_id = r.id ORDER BY rc.place) AS "counterIds",
           r.definition, r.version::text, r.failures, r.last_error IS NOT NULL AS "hasNote",
           coalesce(r.evaluated_at < now() - ${LOOKED_AT_EVERY_MS} * interval '1 millisecond', true) AS "isNoteDue",
           EXISTS (SELECT 1 FROM woken w WHERE w.id = r.id) AS "isWoken",
           EXISTS (SELECT 1 FROM rule_groups g WHERE g.live_rule_id = r.id AND g.group_key = ''
                   AND g.state ->> 'lastDataMs' IS NOT NULL AND g.state ->> 'state' IS NULL) AS "isWatched",
           (SELECT (g.state ->> 'judgedMs')::double precision FROM rule_groups g
            WHERE g.live_rule_id = r.id AND g.group_key = '') AS "judgedMs",
           came.from, came.to, came.last
    FROM due JOIN live_rules r ON r.id = due.id
    CROSS JOIN LATERAL (
      SELECT coalesce(array_agg(x.from_ms::double precision ORDER BY x.id), '{}') AS from,
             coalesce(array_agg(x.to_ms::double precision ORDER BY x.id), '{}') AS to,
             coalesce(max(x.id), 0)::text AS last
      FROM (SELECT ch.id, ch.from_ms, ch.to_ms FROM live_rule_counters rc
            JOIN counter_changes ch ON ch.counter_id = rc.counter_id
            WHERE rc.live_rule_id = r.id ORDER BY ch.id LIMIT ${CHANGES_MAX}) x
    ) came
    WHERE r.retry_at <= now()
      AND NOT EXISTS (SELECT 1 FROM live_rule_counters rc JOIN log_counters c ON c.id = rc.counter_id
                      WHERE rc.live_rule_id = r.id AND c.past <> 'counted')
    ORDER BY r.id LIMIT ${max}`;
  return rows.map(({ from, to, ...rule }) => ({
    ...rule,
    spans: from.map((fromMs, i) => ({ fromMs, toMs: to[i] ?? fromMs })),
  }));
}

/**
 * Rules have looked at what came up to their `last` and nothing follows of it: of all of them together that it need not be looked at
 * again. Not of one that is another by now, and nothing waits for who writes of the same.
 */
export async function noteLooked(sql: Sql, rules: readonly DueRule[], nowMs: number): Promise<void> {
  const ids = rules.map(({ id }) => id);
  const versions = rules.map(({ version }) => version);
  await sql`
    DELETE FROM counter_changes WHERE id IN (
      SELECT ch.id
      FROM unnest(${ids}::bigint[], ${versions}::bigint[], ${rules.map(({ last }) => last)}::bigint[])
             AS given (id, version, last)
      JOIN live_rules r ON r.id = given.id AND r.version = given.version
      JOIN live_rule_counters rc ON rc.live_rule_id = r.id
      JOIN counter_changes ch ON ch.counter_id = rc.counter_id AND ch.id <= given.last
      ORDER BY ch.id FOR UPDATE OF ch SKIP LOCKED)`;
  const seldom = rules.filter(({ isNoteDue }) => isNoteDue).map(({ id }) => id);
  if (seldom.length === 0) return;
  await sql`
    UPDATE live_rules SET evaluated_at = ${new Date(nowMs)} WHERE id IN (
      SELECT id FROM live_rules WHERE id = ANY(${seldom}::bigint[]) ORDER BY id FOR UPDATE SKIP LOCKED)`;
}
