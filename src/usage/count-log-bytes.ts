import type { Principal } from "../access/principal.ts";
import type { DailyCaps } from "./daily-caps.ts";
import type { GiveBack } from "./log-bytes.ts";
import type { PlanCaps } from "./plan.ts";

/** What unpacked bytes of logs are counted against. */
export interface LogByteCaps {
  readonly token: Pick<DailyCaps, "takeLogBytes">;
  readonly plan: Pick<PlanCaps, "takeLogBytes">;
}

/**
 * Counts the bytes of a request against the caps of its token and its organisation's plan and stores it; what fails is not counted,
 * so that a sender that retries is counted once. Throws PAT_DAILY_LIMIT_EXCEEDED, PLAN_LIMIT_LOG_BYTES, and what
 * `store` throws, which must not have stored anything then.
 */
export async function countLogBytes<T>(
  caps: LogByteCaps,
  principal: Principal,
  bytes: number,
  store: () => Promise<T>,
): Promise<T> {
  const ofToken = await caps.token.takeLogBytes(principal, bytes);
  let ofPlan: GiveBack | null = null;
  try {
    ofPlan = await caps.plan.takeLogBytes(principal.organizationId, bytes);
    return await store();
  } catch (error) {
    // Should that fail as well, too much stays counted; why the request failed is what its sender has to hear.
    await Promise.allSettled([ofToken(), ofPlan?.()]);
    throw error;
  }
}
