import type { Sql, TransactionSql } from "postgres";
import { Type } from "typebox";
import { lateCheck } from "../../late-check.ts";
import type { Episode } from "../evaluation/episodes.ts";
import type { GroupState } from "../evaluation/states.ts";
import { RuleDefinition } from "./definition.ts";
import { DETECTIONS_KEPT_MS } from "./limits.ts";

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

const definitionText = lateCheck(RuleDefinition);
const keptText = lateCheck(
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

/** What a rule was looked at with: when, up to when everything is known, and what its owner has to know. */
interface Looked {
  readonly nowMs: number;
  readonly throughMs: number;
  readonly note: string | null;
  readonly noteForMs?: number;
}

/**
 * Locks a rule that is as it was when it was read, so that this is its next evaluation; false when another one was
 * quicker, or the rule is another by now. What came up to `last` is looked at; `note` is what the rule's owner has to know, until a
 * time that everything is known up to, or else until the next evaluation.
 */
export async function beginEvaluated(
  tx: TransactionSql,
  { id, organizationId, version, counterIds }: LiveRule,
  last: string,
  { nowMs, throughMs, note, noteForMs }: Looked,
): Promise<boolean> {
  const until = note === null || noteForMs === undefined ? null : new Date(throughMs + noteForMs);
  const isOn = tx`${note}::text IS NULL AND note_until > ${new Date(throughMs)}`;
  const locked = await tx`
    UPDATE live_rules
    SET version = version + 1, evaluated_at = ${new Date(nowMs)}, failures = 0,
        last_error = CASE WHEN ${isOn} THEN last_error ELSE ${note} END,
        note_until = CASE WHEN ${isOn} THEN note_until ELSE ${until}::timestamptz END
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
    SET failures = ${failures}, last_error = ${error}, note_until = NULL, retry_at = now() + ${delayMs} * interval '1 millisecond'
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
