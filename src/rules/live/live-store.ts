import type { Sql, TransactionSql } from "postgres";
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { TimeSpan } from "../evaluation/bucket-sums.ts";
import type { Episode } from "../evaluation/episodes.ts";
import type { GroupState } from "../evaluation/states.ts";
import { RuleDefinition } from "./definition.ts";
import { CHANGES_MAX, DETECTIONS_KEPT_MS } from "./limits.ts";

/** The queries about rules that are live, and about what they found. Times are milliseconds since 1970. */

export type RuleKind = "log" | "metric" | "correlation";

/** A rule that is evaluated as entries come. */
export interface LiveRule {
  readonly id: number;
  readonly organizationId: number;
  readonly kind: RuleKind;
  /** Of its kind. */
  readonly ruleId: number;
  /** What it is found in, in the order of its steps. */
  readonly counterIds: readonly number[];
  readonly definition: RuleDefinition;
  readonly version: string;
  readonly failures: number;
}

/** What is kept of a group that is not well, or that has to be looked at by a time. */
export interface KeptGroup {
  readonly state: GroupState | null;
  /** Up to where windows are judged, for a rule that judges them when they are over. */
  readonly judgedMs: number | null;
  /** The newest entry, for a rule that tells of missing ones. */
  readonly lastDataMs?: number;
}

/** An episode as it is stored. */
export interface StoredEpisode extends Episode {
  readonly group: string;
  readonly isReported: boolean;
}

const definitionText = Compile(RuleDefinition);
const keptText = Compile(
  Type.Object({
    state: Type.Union([
      Type.Null(),
      Type.Object({
        kind: Type.Enum(["pending", "firing", "recovering", "no_data"]),
        sinceMs: Type.Number(),
        incident: Type.Union([
          Type.Null(),
          Type.Object({ raisedAtMs: Type.Number(), fromMs: Type.Number(), untilMs: Type.Number() }),
        ]),
      }),
    ]),
    judgedMs: Type.Union([Type.Number(), Type.Null()]),
    lastDataMs: Type.Optional(Type.Number()),
  }),
);

/** A live rule as it is stored: another server may have written what this one does not know. */
export interface StoredRule extends Omit<LiveRule, "definition"> {
  readonly definition: unknown;
}

/** Throws an Error for one of a form that this server does not know. */
export function readRule(stored: StoredRule): LiveRule {
  const { definition } = stored;
  if (!definitionText.Check(definition)) throw new Error("a live rule has an unknown form");
  return { ...stored, definition };
}

/** Rules with a number above `after` that have something to look at: entries that came, or a time that is over. */
export async function dueRules(
  sql: Sql,
  { throughMs, after, max }: { throughMs: number | null; after: number; max: number },
): Promise<readonly StoredRule[]> {
  const through = new Date(throughMs ?? 0);
  return sql<StoredRule[]>`
    SELECT r.id::integer, r.organization_id AS "organizationId", r.kind, r.rule_id::integer AS "ruleId",
           ARRAY(SELECT rc.counter_id::integer FROM live_rule_counters rc
                 WHERE rc.live_rule_id = r.id ORDER BY rc.place) AS "counterIds",
           r.definition, r.version::text, r.failures
    FROM live_rules r
    WHERE r.id > ${after} AND r.retry_at <= now()
      AND NOT EXISTS (SELECT 1 FROM live_rule_counters rc JOIN log_counters c ON c.id = rc.counter_id
                      WHERE rc.live_rule_id = r.id AND c.past <> 'counted')
      AND (EXISTS (SELECT 1 FROM live_rule_counters rc JOIN counter_changes ch ON ch.counter_id = rc.counter_id
                   WHERE rc.live_rule_id = r.id)
           OR EXISTS (SELECT 1 FROM rule_groups g WHERE g.live_rule_id = r.id AND g.wake_at <= ${through}))
    ORDER BY r.id LIMIT ${max}`;
}

/** What came to the counters of a rule that nobody has looked at; the number of the last of it. */
export async function readChanges(
  sql: Sql,
  counterIds: readonly number[],
): Promise<{ readonly spans: readonly TimeSpan[]; readonly last: string }> {
  const rows = await sql<{ id: string; fromMs: string; toMs: string }[]>`
    SELECT id, from_ms AS "fromMs", to_ms AS "toMs" FROM counter_changes
    WHERE counter_id = ANY(${[...counterIds]}) ORDER BY id LIMIT ${CHANGES_MAX}`;
  const spans = rows.map(({ fromMs, toMs }) => ({ fromMs: Number(fromMs), toMs: Number(toMs) }));
  return { spans, last: rows.at(-1)?.id ?? "0" };
}

/** Groups that are not well, by their names. */
export async function readGroups(sql: Sql, liveRuleId: number): Promise<ReadonlyMap<string, KeptGroup>> {
  const rows = await sql<{ group_key: string; state: unknown }[]>`
    SELECT group_key, state FROM rule_groups WHERE live_rule_id = ${liveRuleId}`;
  return new Map(
    rows.map(({ group_key, state }) => {
      if (!keptText.Check(state)) throw new Error("the state of a rule has an unknown form");
      return [group_key, state];
    }),
  );
}

/**
 * Locks a rule that is as it was when it was read, so that this is its next evaluation; false when another one was
 * quicker, or the rule is another by now. What came up to `last` is looked at; `note` is what the rule's owner has to know.
 */
export async function beginEvaluated(
  tx: TransactionSql,
  { id, organizationId, version, counterIds }: LiveRule,
  last: string,
  { nowMs, note }: { readonly nowMs: number; readonly note: string | null },
): Promise<boolean> {
  const locked = await tx`
    UPDATE live_rules
    SET version = version + 1, evaluated_at = ${new Date(nowMs)}, failures = 0, last_error = ${note}
    WHERE organization_id = ${organizationId} AND id = ${id} AND version = ${version}`;
  if (locked.count === 0) return false;
  await tx`
    DELETE FROM counter_changes
    WHERE organization_id = ${organizationId} AND counter_id = ANY(${[...counterIds]}) AND id <= ${last}`;
  return true;
}

/** A rule that could not be evaluated is tried again later. */
export async function noteFailure(
  sql: Sql,
  { id, version }: Pick<LiveRule, "id" | "version">,
  { failures, delayMs, error }: { failures: number; delayMs: number; error: string },
): Promise<void> {
  await sql`
    UPDATE live_rules
    SET failures = ${failures}, last_error = ${error}, retry_at = now() + ${delayMs} * interval '1 millisecond'
    WHERE id = ${id} AND version = ${version}`;
}

/** The episodes of groups that go on at `fromMs` or begin later. */
export async function episodesSince(
  tx: TransactionSql,
  { organizationId, kind, ruleId }: LiveRule,
  groups: readonly string[],
  fromMs: number,
): Promise<StoredEpisode[]> {
  const rows = await tx<
    { id: number; group_key: string; from: Date; to: Date; until: Date; peak: number; is_reported: boolean }[]
  >`
    SELECT id::integer, group_key, started_at AS "from", ended_at AS "to", until_at AS "until", peak, is_reported
    FROM detections
    WHERE organization_id = ${organizationId} AND rule_kind = ${kind} AND rule_id = ${ruleId}
      AND group_key = ANY(${[...groups]}) AND until_at >= ${new Date(fromMs)} AND merged_into IS NULL
    ORDER BY id`;
  return rows.map(({ id, group_key, from, to, until, peak, is_reported }) => ({
    ...{ id, group: group_key, peak, isReported: is_reported },
    ...{ fromMs: from.getTime(), toMs: to.getTime(), untilMs: until.getTime() },
  }));
}

type Times = Pick<Episode, "fromMs" | "toMs" | "untilMs" | "peak">;

export async function insertEpisode(
  tx: TransactionSql,
  { organizationId, kind, ruleId }: LiveRule,
  group: string,
  { fromMs, toMs, untilMs, peak }: Times,
  nowMs: number,
): Promise<number> {
  const [made] = await tx<{ id: number }[]>`
    INSERT INTO detections (organization_id, rule_kind, rule_id, group_key, started_at, ended_at, until_at, peak, detected_at)
    VALUES (${organizationId}, ${kind}, ${ruleId}, ${group}, ${new Date(fromMs)}, ${new Date(toMs)},
            ${new Date(untilMs)}, ${peak}, ${new Date(nowMs)})
    RETURNING id::integer`;
  if (made === undefined) throw new Error("a detection was not made");
  return made.id;
}

export async function updateEpisode(
  tx: TransactionSql,
  organizationId: number,
  id: number,
  { fromMs, toMs, untilMs, peak }: Times,
): Promise<void> {
  await tx`
    UPDATE detections
    SET started_at = ${new Date(fromMs)}, ended_at = ${new Date(toMs)}, until_at = ${new Date(untilMs)}, peak = ${peak}
    WHERE organization_id = ${organizationId} AND id = ${id}`;
}

/** It is a part of another one, or with null turned out to be none. */
export async function endEpisode(
  tx: TransactionSql,
  organizationId: number,
  id: number,
  into: number | null,
): Promise<void> {
  if (into === null)
    await tx`DELETE FROM detections WHERE organization_id = ${organizationId} AND id = ${id}`;
  else
    await tx`UPDATE detections SET merged_into = ${into} WHERE organization_id = ${organizationId} AND id = ${id}`;
}

/** Somebody was told of them. */
export async function noteReported(
  tx: TransactionSql,
  organizationId: number,
  ids: readonly number[],
): Promise<void> {
  if (ids.length > 0)
    await tx`
      UPDATE detections SET is_reported = true WHERE organization_id = ${organizationId} AND id = ANY(${[...ids]}::bigint[])`;
}

/** Keeps what is known of a group until its next look, or with null nothing. */
export async function keepGroup(
  tx: TransactionSql,
  { id, organizationId }: Pick<LiveRule, "id" | "organizationId">,
  group: string,
  kept: KeptGroup | null,
  wakeMs: number,
): Promise<void> {
  if (kept === null) {
    await tx`
      DELETE FROM rule_groups WHERE organization_id = ${organizationId} AND live_rule_id = ${id} AND group_key = ${group}`;
    return;
  }
  const state = JSON.stringify(kept);
  await tx`
    INSERT INTO rule_groups (live_rule_id, organization_id, group_key, state, wake_at)
    VALUES (${id}, ${organizationId}, ${group}, ${state}::text::jsonb, ${new Date(wakeMs)})
    ON CONFLICT (live_rule_id, group_key) DO UPDATE SET state = excluded.state, wake_at = excluded.wake_at`;
}

/** Removes detections of long ago, at most `limit`. */
export async function removeOldDetections(sql: Sql, nowMs: number, limit: number): Promise<number> {
  const { count } = await sql`
    DELETE FROM detections WHERE id IN (
      SELECT id FROM detections WHERE detected_at < ${new Date(nowMs - DETECTIONS_KEPT_MS)}
      ORDER BY detected_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)`;
  return count;
}
