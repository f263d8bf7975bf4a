import type { TransactionSql } from "postgres";
import { ApiError } from "../../errors.ts";
import { endOfWork, type MaintenanceWindow } from "../../maintenance/windows.ts";
import { defaultPolicyId, findPolicy } from "./escalation-store.ts";
import { simulate } from "./next.ts";
import { reachOf } from "./reach.ts";

/** A step as it would be taken. */
interface SimulatedStep {
  /** Seconds after the incident opened. */
  readonly offsetSec: number;
  /** Null where nobody is on call. */
  readonly userId: number | null;
  /** Of the policy, from 0. */
  readonly step: number;
  readonly cycle: number;
}

/** The longest that a policy can take, all rounds together, is months; so far ahead turns are looked at. */
export const AHEAD_MAX_MS = 400 * 24 * 60 * 60 * 1000;

/** Every step of a policy for an incident that opens at a moment, milliseconds since 1970, and that nobody answers. Throws NOT_FOUND. */
export async function simulatePolicy(
  tx: TransactionSql,
  organizationId: number,
  policyId: number,
  { at, windows = [] }: { readonly at: number; readonly windows?: readonly MaintenanceWindow[] },
): Promise<SimulatedStep[]> {
  const policy = await findPolicy(tx, organizationId, policyId);
  if (policy === null) throw new ApiError("NOT_FOUND", "No such escalation policy.");
  const { reach } = await reachOf(tx, organizationId, policy, { from: at, to: at + AHEAD_MAX_MS });
  const heldUntil = (moment: number) => endOfWork(windows, moment);
  // Within announced work nothing opens.
  let opensAt = at;
  for (let end = heldUntil(at); end !== null; end = heldUntil(end)) opensAt = end;
  return simulate(policy, opensAt, reach, heldUntil).map(({ step, cycle, userId, at: takenAt }) => ({
    ...{ step, cycle, userId },
    offsetSec: Math.round((takenAt - at) / 1000),
  }));
}

/** Whom an incident pages by its own policy, or the organisation's where it names none; nobody by a policy that is gone. */
export async function whoIsPaged(
  tx: TransactionSql,
  organizationId: number,
  ownPolicyId: number | null,
  at: number,
): Promise<SimulatedStep[]> {
  const policyId = ownPolicyId ?? (await defaultPolicyId(tx, organizationId));
  if (policyId === null || (await findPolicy(tx, organizationId, policyId)) === null) return [];
  return simulatePolicy(tx, organizationId, policyId, { at });
}
