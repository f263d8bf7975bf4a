import type { Change } from "../changes/change.ts";
import { type FieldIssue, validationFailed } from "../errors.ts";

/** Whether the organisation has an escalation policy. */
export type KnowsPolicy = (tx: Change["tx"], organizationId: number, policyId: number) => Promise<boolean>;

export const UNKNOWN_POLICY: FieldIssue = {
  path: "/escalationPolicyId",
  code: "custom",
  message: "is no escalation policy of yours",
};

/** Throws VALIDATION_FAILED for a policy that the organisation has not; without one everything is fine. */
export async function requirePolicy(
  knowsPolicy: KnowsPolicy,
  { tx, organizationId }: Change,
  policyId: number | null | undefined,
): Promise<void> {
  if (policyId === undefined || policyId === null) return;
  if (!(await knowsPolicy(tx, organizationId, policyId))) throw validationFailed([UNKNOWN_POLICY]);
}
