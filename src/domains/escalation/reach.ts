import type { TransactionSql } from "postgres";
import { memberAddresses, rotationsBetween } from "../../on-call/rotation-store.ts";
import { onCallAt } from "../../on-call/shifts.ts";
import type { PolicySnapshot, Reach } from "./next.ts";

interface Reachable {
  readonly reach: Reach;
  /** The account mail of members. */
  readonly addresses: ReadonlyMap<number, string>;
}

/** Who is reached by the steps of a policy at moments of a range, as schedules and memberships are now. */
export async function reachOf(
  tx: TransactionSql,
  organizationId: number,
  { steps }: PolicySnapshot,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<Reachable> {
  const addresses = await memberAddresses(tx, organizationId);
  const isReachable = (userId: number): boolean => addresses.has(userId);
  const asks = steps.some(({ type }) => type === "schedule");
  const rotations = asks
    ? await rotationsBetween(tx, organizationId, { from: new Date(from), to: new Date(to + 1) })
    : [];
  const reach: Reach = (step, at) => {
    if (step.type === "user") return isReachable(step.userId) ? step.userId : null;
    const own = rotations.filter(({ scheduleId }) => scheduleId === step.scheduleId);
    return onCallAt(own, at, isReachable);
  };
  return { reach, addresses };
}
