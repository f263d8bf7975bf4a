import type { Sql } from "postgres";
import { BY_ID, resource } from "../../http/resource.ts";
import { createPolicy, listPolicies, readPolicy, removePolicy, updatePolicy } from "./policies.ts";
import { CreatePolicyBody, EscalationPolicy, UpdatePolicyBody } from "./types.ts";

/** Whom an incident reaches, one after the other. */
export function escalationRoutes({ sql }: { sql: Sql }) {
  const policies = resource({
    path: "/api/v1/escalation-policies",
    tag: "Escalation",
    one: "an escalation policy",
    many: "escalation policies",
    by: BY_ID,
    record: EscalationPolicy,
    read: { role: "viewer", scope: "on-call:read" },
    write: { role: "member", scope: "on-call:write" },
    audit: "ESCALATION_POLICY",
  });
  return [
    policies.list("Oldest first", ({ organizationId }) => listPolicies(sql, organizationId)),
    policies.create(CreatePolicyBody, EscalationPolicy, createPolicy),
    policies.read(EscalationPolicy, ({ organizationId }, id) => readPolicy(sql, organizationId, id)),
    policies.update(UpdatePolicyBody, updatePolicy),
    policies.remove(removePolicy, { errors: ["CONFLICT"] }),
  ];
}
