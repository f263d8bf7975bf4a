import type { TransactionSql } from "postgres";
import { beginGap, endGaps, forgetRuns } from "../runs/run-store.ts";
import { keepGroup, type LiveRule } from "./live-store.ts";

/** How rules begin and end to be evaluated, each in the transaction of the change that its owner makes. */

/** When a rule begins. */
interface LiveTimes {
  /** From when on it is looked at whatever comes. */
  readonly lookFromMs?: number;
  /** When entries are missing if none has come by then; null for never. */
  readonly missingFromMs?: number | null;
}

/** A rule that begins. */
export interface NewLiveRule extends Pick<LiveRule, "kind" | "ruleId" | "counterIds" | "definition"> {
  readonly times: LiveTimes;
}

/** Begins to evaluate rules; one that is to be looked at whatever comes, from a moment on. */
export async function makeLive(
  tx: TransactionSql,
  organizationId: number,
  rules: readonly NewLiveRule[],
  nowMs: number,
): Promise<void> {
  if (rules.length === 0) return;
  const inserted = await tx<{ id: number }[]>`
    INSERT INTO live_rules (organization_id, kind, rule_id, definition)
    SELECT ${organizationId}::integer, kind, rule_id, definition::jsonb
    FROM unnest(${rules.map(({ kind }) => kind)}::text[], ${rules.map(({ ruleId }) => ruleId)}::bigint[],
                ${rules.map(({ definition }) => JSON.stringify(definition))}::text[])
      WITH ORDINALITY AS given (kind, rule_id, definition, place)
    ORDER BY place
    RETURNING id::integer`;
  // Ids are given out in the order of the rows; in which order they come back nobody promises.
  const ids = inserted.map(({ id }) => id).toSorted((left, right) => left - right);
  const made = rules.map((rule, i) => {
    const id = ids[i];
    if (id === undefined) throw new Error("a rule was not made live");
    return { ...rule, id };
  });
  const counted = made.flatMap(({ id, counterIds }) =>
    counterIds.map((counterId, place) => ({ id, place, counterId })),
  );
  await tx`
    INSERT INTO live_rule_counters (live_rule_id, organization_id, place, counter_id)
    SELECT id, ${organizationId}::integer, place, counter_id
    FROM unnest(${counted.map(({ id }) => id)}::bigint[], ${counted.map(({ place }) => place)}::integer[],
                ${counted.map(({ counterId }) => counterId)}::bigint[]) AS given (id, place, counter_id)`;
  await endGaps(tx, organizationId, rules, nowMs);
  for (const { id, times } of made) await keepFirstLook(tx, { id, organizationId }, times, nowMs);
}

/** When a rule is looked at first although nothing has come. */
async function keepFirstLook(
  tx: TransactionSql,
  rule: Pick<LiveRule, "id" | "organizationId">,
  { lookFromMs, missingFromMs }: LiveTimes,
  nowMs: number,
): Promise<void> {
  const times = [lookFromMs, missingFromMs].filter((ms) => ms !== undefined && ms !== null);
  if (times.length === 0) return;
  const kept = {
    ...{ state: null, judgedMs: lookFromMs ?? null },
    // Whoever has never sent anything is missing, too.
    ...(missingFromMs !== undefined && missingFromMs !== null && { lastDataMs: nowMs }),
  };
  await keepGroup(tx, rule, "", kept, Math.min(...times));
}

/** Evaluates a live rule by another definition of the same counter from now on. */
export async function redefineLive(
  tx: TransactionSql,
  organizationId: number,
  { kind, ruleId, definition }: Pick<LiveRule, "kind" | "ruleId" | "definition">,
): Promise<void> {
  await tx`
    UPDATE live_rules
    SET definition = ${JSON.stringify(definition)}::text::jsonb, version = version + 1, failures = 0, retry_at = now(),
        last_error = NULL, note_until = NULL
    WHERE organization_id = ${organizationId} AND kind = ${kind} AND rule_id = ${ruleId}`;
  const { noDataMs = null } = definition;
  if (noDataMs === null) return;
  // What comes moves the time of the next look only when that is over: a shorter one may be over before.
  await tx`
    UPDATE rule_groups
    SET wake_at = least(wake_at, to_timestamp(((state ->> 'lastDataMs')::double precision + ${noDataMs}) / 1000))
    WHERE organization_id = ${organizationId} AND state ->> 'lastDataMs' IS NOT NULL AND state ->> 'state' IS NULL
      AND live_rule_id IN (
        SELECT id FROM live_rules WHERE organization_id = ${organizationId} AND kind = ${kind} AND rule_id = ${ruleId})`;
}

/** What counted a rule that has ended, and its groups of which an incident may be open: of its condition, and of missing entries. */
interface EndedRule {
  readonly counterIds: readonly number[];
  readonly groups: readonly string[];
  readonly missing: readonly string[];
}

/** Evaluates a rule no more, for a while or ever: what counted it, and the groups of which an incident may be open; null where it was not live. */
export async function endLive(
  tx: TransactionSql,
  organizationId: number,
  { kind, ruleId }: Pick<LiveRule, "kind" | "ruleId">,
  { nowMs, cause }: { readonly nowMs: number; readonly cause: "paused" | "deleted" },
): Promise<EndedRule | null> {
  if (cause === "deleted") await forgetRuns(tx, organizationId, { kind, ruleId });
  const [live] = await tx<{ id: number }[]>`
    SELECT id::integer FROM live_rules
    WHERE organization_id = ${organizationId} AND kind = ${kind} AND rule_id = ${ruleId} FOR UPDATE`;
  if (live === undefined) return null;
  if (cause === "paused") await beginGap(tx, organizationId, { kind, ruleId }, nowMs);
  const groups = await tx<{ group_key: string; is_missing: boolean }[]>`
    SELECT group_key, state #>> '{state,kind}' = 'no_data' AS is_missing FROM rule_groups
    WHERE organization_id = ${organizationId} AND live_rule_id = ${live.id}
      AND (state #>> '{state,incident}' IS NOT NULL OR state #>> '{state,kind}' = 'no_data')`;
  const counters = await tx<{ id: number }[]>`
    SELECT counter_id::integer AS id FROM live_rule_counters
    WHERE organization_id = ${organizationId} AND live_rule_id = ${live.id}`;
  await tx`DELETE FROM live_rules WHERE organization_id = ${organizationId} AND id = ${live.id}`;
  const named = (isMissing: boolean) =>
    groups.filter(({ is_missing }) => is_missing === isMissing).map(({ group_key }) => group_key);
  return { counterIds: counters.map(({ id }) => id), groups: named(false), missing: named(true) };
}
