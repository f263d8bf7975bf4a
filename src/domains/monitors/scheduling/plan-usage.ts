import type { TransactionSql } from "postgres";
import type { CheckOutcome } from "../../../probes/check.ts";
import type { RoundFacts } from "./round-facts.ts";
import type { Round } from "./rounds.ts";

/** What checks come to that the plan does not allow. */
export const PLAN_USED_UP: CheckOutcome = {
  status: "unknown",
  error: "plan_limit",
  durationMs: 0,
  phases: { dnsMs: 0, connectMs: 0, tlsMs: 0, firstByteMs: 0 },
  statusCode: null,
  certificateNotAfter: null,
  failedStep: null,
};

interface PlanUse {
  readonly rounds: readonly Round[];
  /** Organisations whose checks of the month are used up. */
  readonly usedUp: readonly number[];
  /** Those of them whose owners are to be told: said once a month. */
  readonly untold: readonly number[];
}

interface UsePlanOptions {
  /** See `countByOrganization`. */
  readonly counts: ReadonlyMap<number, number>;
  readonly nowMs: number;
  readonly limit: number;
}

/** The month of UTC, as a date. */
export function monthOf(nowMs: number): string {
  return `${new Date(nowMs).toISOString().slice(0, 7)}-01`;
}

/** Checks by organisation: of rounds, those that count against the month's. */
export function countByOrganization(
  rounds: readonly Round[],
  { settings }: RoundFacts,
): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const { monitorId, checks } of rounds) {
    const monitor = settings.get(monitorId);
    const made = checks.filter(({ outcome }) => outcome.error !== "plan_limit").length;
    if (monitor === undefined || monitor.isHeartbeat || made === 0) continue;
    counts.set(monitor.organizationId, (counts.get(monitor.organizationId) ?? 0) + made);
  }
  return counts;
}

/** Where a plan has no limit, all of the rounds are as they are. */
export function allAllowed(rounds: readonly Round[]): PlanUse {
  return { rounds, usedUp: [], untold: [] };
}

/** Adds checks to the month's, and answers how many these are by now. */
export async function addUsage(
  tx: TransactionSql,
  counts: ReadonlyMap<number, number>,
  nowMs: number,
): Promise<readonly { readonly organization_id: number; readonly checks: string }[]> {
  if (counts.size === 0) return [];
  const ids = [...counts.keys()].sort((a, b) => a - b);
  return tx<{ organization_id: number; checks: string }[]>`
    INSERT INTO organization_usage AS used (organization_id, month, checks)
    SELECT organization_id, ${monthOf(nowMs)}, checks
    FROM unnest(${ids}::integer[], ${ids.map((id) => counts.get(id) ?? 0)}::bigint[])
      AS given (organization_id, checks)
    ON CONFLICT (organization_id, month) DO UPDATE SET checks = used.checks + excluded.checks
    RETURNING organization_id, checks`;
}

/**
 * Counts checks against the month's of their organisations. Those beyond the limit found nothing out: they do not count,
 * and turn into what says why.
 */
export async function usePlan(
  tx: TransactionSql,
  rounds: readonly Round[],
  { settings }: RoundFacts,
  { counts, nowMs, limit }: UsePlanOptions,
): Promise<PlanUse> {
  const counted = await addUsage(tx, counts, nowMs);
  const month = monthOf(nowMs);
  const over = counted
    .map(({ organization_id, checks }) => ({ organizationId: organization_id, over: Number(checks) - limit }))
    .filter((use) => use.over >= 0);
  if (over.length === 0) return allAllowed(rounds);
  const usedUp = over.map(({ organizationId }) => organizationId);
  await tx`
    UPDATE organization_usage SET checks = least(checks, ${limit}::bigint)
    WHERE month = ${month} AND organization_id = ANY(${usedUp}::integer[])`;
  const untold = await tx<{ organization_id: number }[]>`
    UPDATE organization_usage SET checks_told = true
    WHERE month = ${month} AND organization_id = ANY(${usedUp}::integer[]) AND NOT checks_told
    RETURNING organization_id`;
  const left = new Map(over.map((use) => [use.organizationId, use.over]));
  return {
    rounds: withoutExcess(rounds, settings, left),
    usedUp,
    untold: untold.map(({ organization_id }) => organization_id),
  };
}

/** The last checks, as many as are beyond the limit, found nothing out. */
function withoutExcess(
  rounds: readonly Round[],
  settings: RoundFacts["settings"],
  excess: Map<number, number>,
): Round[] {
  return rounds
    .toReversed()
    .map((round) => {
      const monitor = settings.get(round.monitorId);
      if (monitor === undefined || monitor.isHeartbeat) return round;
      const { organizationId } = monitor;
      const checks = round.checks.map((check) => {
        const over = excess.get(organizationId) ?? 0;
        if (over <= 0 || check.outcome.error === "plan_limit") return check;
        excess.set(organizationId, over - 1);
        return { ...check, outcome: PLAN_USED_UP };
      });
      return { ...round, checks };
    })
    .reverse();
}
