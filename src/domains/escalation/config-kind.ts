import { configKind, PEOPLE } from "../../configuration/config-kind.ts";
import { recordsOf, verbsOf } from "../../configuration/record-kinds.ts";
import { policies, removePolicy, updatePolicy } from "./policies.ts";
import { CreatePolicyBody, UpdatePolicyBody } from "./types.ts";

/** Escalation policies as files describe them. */
export const escalationPolicyKind = configKind({
  kind: "escalation-policies",
  audit: "ESCALATION_POLICY",
  table: "escalation_policies",
  read: { role: "viewer", scope: "on-call:read" },
  write: { role: "member", scope: "on-call:write" },
  create: CreatePolicyBody,
  update: UpdatePolicyBody,
  defaults: { repeat: 0 },
  references: [
    { at: ["steps", "*", "scheduleId"], to: "on-call-schedules" },
    { at: ["steps", "*", "userId"], to: PEOPLE },
  ],
  list: recordsOf(policies),
  ...verbsOf({ createAll: policies.createAll, update: updatePolicy, remove: removePolicy }),
});
