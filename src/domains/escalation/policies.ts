import type { Sql, TransactionSql } from "postgres";
import type { Change } from "../../changes/change.ts";
import { Records } from "../../changes/records.ts";
import { ApiError, type FieldIssue, validationFailed } from "../../errors.ts";
import { lockMembers } from "../../membership/member-store.ts";
import { POLICIES_MAX } from "../../on-call/limits.ts";
import { existingSchedules, lockPolicy, whatUsesPolicy } from "./store.ts";
import { type CreatePolicyBody, EscalationPolicy, type PolicyStep, type UpdatePolicyBody } from "./types.ts";

/** Seconds that a round takes at least when there are several, so that one person is not paged again in the same moment. */
const ROUND_MIN_SEC = 60;

export const policies = new Records<typeof EscalationPolicy, CreatePolicyBody, UpdatePolicyBody>({
  noun: "escalation policy",
  table: "escalation_policies",
  schema: EscalationPolicy,
  maxPerOrganization: POLICIES_MAX,
  check: async (fields, before, change) => {
    const steps = fields.steps ?? before?.steps ?? [];
    const repeat = fields.repeat ?? before?.repeat ?? 0;
    const issues = [
      ...issuesOfRepeat(steps, repeat),
      ...(fields.steps === undefined
        ? []
        : await issuesOfSteps(change.tx, change.organizationId, fields.steps)),
    ];
    if (issues.length > 0) throw validationFailed(issues);
  },
});
export const { create: createPolicy, update: updatePolicy } = policies;

export function listPolicies(sql: Sql, organizationId: number): Promise<EscalationPolicy[]> {
  return policies.list(sql, organizationId);
}

/** Throws NOT_FOUND. */
export function readPolicy(sql: Sql, organizationId: number, id: number): Promise<EscalationPolicy> {
  return policies.read(sql, organizationId, id);
}

/** Throws NOT_FOUND, and CONFLICT while something escalates by the policy. */
export async function removePolicy(change: Change, id: number): Promise<void> {
  const { tx, organizationId } = change;
  await lockPolicy(tx, organizationId, id);
  const users = await whatUsesPolicy(tx, organizationId, id);
  if (users.length > 0)
    throw new ApiError("CONFLICT", `The policy is used by ${users.join(", ")}. Change that first.`);
  await policies.remove(change, id);
}

function issuesOfRepeat(steps: readonly PolicyStep[], repeat: number): FieldIssue[] {
  const roundSec = steps.reduce((sum, { delaySec }) => sum + delaySec, 0);
  if (repeat === 0 || roundSec >= ROUND_MIN_SEC) return [];
  return [
    {
      path: "/repeat",
      code: "custom",
      message: `needs delays of at least ${ROUND_MIN_SEC} seconds in the steps, or the same people are reached again at once`,
    },
  ];
}

/** What steps name has to be there, and stays there until the change is made. */
async function issuesOfSteps(
  tx: TransactionSql,
  organizationId: number,
  steps: readonly PolicyStep[],
): Promise<FieldIssue[]> {
  const schedules = await existingSchedules(
    tx,
    organizationId,
    steps.flatMap((step) => (step.type === "schedule" ? [step.scheduleId] : [])),
  );
  const users = await lockMembers(
    tx,
    organizationId,
    steps.flatMap((step) => (step.type === "user" ? [step.userId] : [])),
  );
  return steps.flatMap((step, at): FieldIssue[] => {
    if (step.type === "schedule" && !schedules.has(step.scheduleId))
      return [
        { path: `/steps/${at}/scheduleId`, code: "custom", message: "is no schedule of the organisation" },
      ];
    if (step.type === "user" && !users.has(step.userId))
      return [{ path: `/steps/${at}/userId`, code: "custom", message: "is no member of the organisation" }];
    return [];
  });
}
