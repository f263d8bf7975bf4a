import type { TransactionSql } from "postgres";
import { beginGap, endGap, forgetRuns } from "../runs/run-store.ts";
import { keepGroup, type LiveRule } from "./live-store.ts";

/** How rules begin and end to be evaluated, each in the transaction of the change that its owner makes. */

/** When a rule begins. */
interface LiveTimes {
  readonly nowMs: number;
  /** From when on it is looked at whatever comes. */
  readonly lookFromMs?: number;
  /** When entries are missing if none has come by then; null for never. */
  readonly missingFromMs?: number | null;
}

/** Begins to evaluate a rule; one that is to be looked at whatever comes, from a moment on. */
export async function makeLive(
  tx: TransactionSql,
  organizationId: number,
  { kind, ruleId, counterIds, definition }: Pick<LiveRule, "kind" | "ruleId" | "counterIds" | "definition">,
  { nowMs, lookFromMs, missingFromMs }: LiveTimes,
): Promise<void> {
  const [made] = await tx<{ id: number }[]>`
    INSERT INTO live_rules (organization_id, kind, rule_id, definition)
    VALUES (${organizationId}, ${kind}, ${ruleId}, ${JSON.stringify(definition)}::text::jsonb)
    RETURNING id::integer`;
  if (made === undefined) throw new Error("a rule was not made live");
  await tx`
    INSERT INTO live_rule_counters (live_rule_id, organization_id, place, counter_id)
    SELECT ${made.id}, ${organizationId}, given.place - 1, given.counter_id
    FROM unnest(${[...counterIds]}::bigint[]) WITH ORDINALITY AS given (counter_id, place)`;
  await endGap(tx, organizationId, { kind, ruleId }, nowMs);
  const rule = { id: made.id, organizationId };
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
    SET definition = ${JSON.stringify(definition)}::text::jsonb, version = version + 1, failures = 0, retry_at = now()
    WHERE organization_id = ${organizationId} AND kind = ${kind} AND rule_id = ${ruleId}`;
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
