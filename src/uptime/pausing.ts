import type { TransactionSql } from "postgres";

/**
 * Monitors that nobody watches from now on: what is known of them is forgotten, but for what was seen last, the time
 * counts neither for nor against them, and they are due at once afterwards. Their rows are locked by the caller.
 */
export async function beginPause(
  tx: TransactionSql,
  organizationId: number,
  monitorIds: readonly number[],
  nowMs: number,
): Promise<void> {
  const now = new Date(nowMs);
  const ids = [...monitorIds];
  await tx`
    UPDATE monitor_state
    SET next_slot = 0, confirmed = NULL, confirmed_at = NULL, failures = 0, slow_rounds = 0, successes = 0, run_started_at = NULL,
        unknown_rounds = 0, unknown_since = NULL, told = 'up', told_at = NULL, heartbeat_started_at = NULL, heartbeat_failed = false,
        certificate_told = false, slo_breach_open = false
    WHERE organization_id = ${organizationId} AND monitor_id = ANY(${ids}::bigint[])`;
  await endPeriods(tx, organizationId, ids, now);
  await tx`
    INSERT INTO monitor_periods (organization_id, monitor_id, status, started_at)
    SELECT ${organizationId}, id, 'paused', ${now} FROM unnest(${ids}::bigint[]) AS id`;
}

/** Monitors that are watched again: their first verdict opens the next period. */
export async function endPause(
  tx: TransactionSql,
  organizationId: number,
  monitorIds: readonly number[],
  nowMs: number,
): Promise<void> {
  await endPeriods(tx, organizationId, [...monitorIds], new Date(nowMs));
}

/** A clock that went back must not make a period end before it began. */
async function endPeriods(
  tx: TransactionSql,
  organizationId: number,
  ids: readonly number[],
  now: Date,
): Promise<void> {
  await tx`
    UPDATE monitor_periods SET ended_at = greatest(started_at, ${now})
    WHERE organization_id = ${organizationId} AND monitor_id = ANY(${[...ids]}::bigint[]) AND ended_at IS NULL`;
}
