import type { TransactionSql } from "postgres";
import type { RuleKind } from "../live/live-store.ts";
import { GAPS_LISTED_MAX, RUNS_LISTED_MAX } from "./limits.ts";

/** The statements about when rules were not evaluated, and about what somebody had them look at again. */

interface RuleName {
  readonly kind: RuleKind;
  readonly ruleId: number;
}

interface Gap {
  readonly from: string;
  readonly to: string | null;
}

/** A range that a rule was evaluated over because somebody asked for it. */
interface NewRun {
  readonly fromMs: number;
  readonly toMs: number;
  readonly found: number;
  readonly added: number;
  readonly truncated: boolean;
}

interface RuleRun {
  readonly id: number;
  readonly from: string;
  readonly to: string;
  readonly found: number;
  readonly added: number;
  readonly truncated: boolean;
  readonly runAt: string;
}

/** From now on a rule is not evaluated. */
export async function beginGap(
  tx: TransactionSql,
  organizationId: number,
  { kind, ruleId }: RuleName,
  nowMs: number,
): Promise<void> {
  await tx`
    INSERT INTO rule_gaps (organization_id, rule_kind, rule_id, from_at)
    VALUES (${organizationId}, ${kind}, ${ruleId}, ${new Date(nowMs)})`;
}

/** They are again. What lasted no time, as when a rule is changed, is no gap. */
export async function endGaps(
  tx: TransactionSql,
  organizationId: number,
  rules: readonly RuleName[],
  nowMs: number,
): Promise<void> {
  const now = new Date(nowMs);
  const open = tx`
    organization_id = ${organizationId} AND to_at IS NULL AND (rule_kind, rule_id) IN (
      SELECT kind, rule_id FROM unnest(${rules.map(({ kind }) => kind)}::text[], ${rules.map(({ ruleId }) => ruleId)}::bigint[])
        AS given (kind, rule_id))`;
  await tx`DELETE FROM rule_gaps WHERE ${open} AND from_at >= ${now}`;
  await tx`UPDATE rule_gaps SET to_at = ${now} WHERE ${open}`;
}

/** The latest gaps and runs of a rule, newest first. */
export async function readRuns(
  tx: TransactionSql,
  organizationId: number,
  { kind, ruleId }: RuleName,
): Promise<{ gaps: Gap[]; runs: RuleRun[] }> {
  const gaps = await tx<{ from_at: Date; to_at: Date | null }[]>`
    SELECT from_at, to_at FROM rule_gaps
    WHERE organization_id = ${organizationId} AND rule_kind = ${kind} AND rule_id = ${ruleId}
    ORDER BY id DESC LIMIT ${GAPS_LISTED_MAX}`;
  const runs = await tx<RunRow[]>`
    SELECT id::integer, from_at, to_at, found, added, truncated, run_at FROM rule_runs
    WHERE organization_id = ${organizationId} AND rule_kind = ${kind} AND rule_id = ${ruleId}
    ORDER BY id DESC LIMIT ${RUNS_LISTED_MAX}`;
  return {
    gaps: gaps.map(({ from_at, to_at }) => ({
      from: from_at.toISOString(),
      to: to_at?.toISOString() ?? null,
    })),
    runs: runs.map(runOf),
  };
}

export async function insertRun(
  tx: TransactionSql,
  organizationId: number,
  { kind, ruleId }: RuleName,
  { fromMs, toMs, found, added, truncated }: NewRun,
  nowMs: number,
): Promise<RuleRun> {
  const [row] = await tx<RunRow[]>`
    INSERT INTO rule_runs (organization_id, rule_kind, rule_id, from_at, to_at, found, added, truncated, run_at)
    VALUES (${organizationId}, ${kind}, ${ruleId}, ${new Date(fromMs)}, ${new Date(toMs)}, ${found}, ${added},
            ${truncated}, ${new Date(nowMs)})
    RETURNING id::integer, from_at, to_at, found, added, truncated, run_at`;
  if (row === undefined) throw new Error("a run was not kept");
  return runOf(row);
}

/** An episode that a run found; `group` is its name. */
interface FoundEpisode {
  readonly group: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly peak: number;
}

/**
 * Keeps the episodes that are not known, of which nobody is told; how many they are. One that overlaps a known one of its
 * group is the same.
 */
export async function addFound(
  tx: TransactionSql,
  organizationId: number,
  { kind, ruleId }: RuleName,
  episodes: readonly FoundEpisode[],
  nowMs: number,
): Promise<number> {
  const { count } = await tx`
    INSERT INTO detections (organization_id, rule_kind, rule_id, group_key, started_at, ended_at, until_at, peak,
                            is_reported, detected_at, mode)
    SELECT ${organizationId}, ${kind}, ${ruleId}, x.group_key, x.started_at, x.ended_at, x.ended_at, x.peak, true,
           ${new Date(nowMs)}, 'run'
    FROM jsonb_to_recordset(${tx.json(
      episodes.map(({ group, fromMs, toMs, peak }) => ({
        group_key: group,
        started_at: new Date(fromMs).toISOString(),
        ended_at: new Date(toMs).toISOString(),
        peak,
      })),
    )}) AS x (group_key text, started_at timestamptz, ended_at timestamptz, peak double precision)
    WHERE NOT EXISTS (
      SELECT 1 FROM detections d
      WHERE d.organization_id = ${organizationId} AND d.rule_kind = ${kind} AND d.rule_id = ${ruleId}
        AND d.group_key = x.group_key AND d.started_at <= x.ended_at AND d.until_at >= x.started_at
        AND d.merged_into IS NULL)`;
  return count;
}

/** What is known of a rule goes with it. */
export async function forgetRuns(
  tx: TransactionSql,
  organizationId: number,
  { kind, ruleId }: RuleName,
): Promise<void> {
  await tx`
    DELETE FROM rule_gaps WHERE organization_id = ${organizationId} AND rule_kind = ${kind} AND rule_id = ${ruleId}`;
  await tx`
    DELETE FROM rule_runs WHERE organization_id = ${organizationId} AND rule_kind = ${kind} AND rule_id = ${ruleId}`;
}

interface RunRow {
  readonly id: number;
  readonly from_at: Date;
  readonly to_at: Date;
  readonly found: number;
  readonly added: number;
  readonly truncated: boolean;
  readonly run_at: Date;
}

function runOf({ id, from_at, to_at, found, added, truncated, run_at }: RunRow): RuleRun {
  return {
    ...{ id, from: from_at.toISOString(), to: to_at.toISOString(), found, added, truncated },
    runAt: run_at.toISOString(),
  };
}
