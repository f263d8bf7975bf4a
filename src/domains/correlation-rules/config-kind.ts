import { type ConfigKind, configKind } from "../../configuration/config-kind.ts";
import { oneByOne, verbsOf } from "../../configuration/record-kinds.ts";
import { RULE_SECRETS, readAlertChannels } from "../../notify/stored-channels.ts";
import { type CorrelationDependencies, Correlations } from "./rules.ts";
import { CreateCorrelationBody, UpdateCorrelationBody } from "./types.ts";

interface CorrelationKindDependencies extends CorrelationDependencies {
  /** Rings when there is something new to count. */
  readonly onCounterMade: () => void;
}

/** Correlation rules as files describe them. */
export function correlationKind(deps: CorrelationKindDependencies): ConfigKind {
  const rules = new Correlations(deps);
  return configKind({
    kind: "correlation-rules",
    audit: "CORRELATION_RULE",
    table: "correlation_rules",
    read: { role: "viewer", scope: "security:read" },
    write: { role: "member", scope: "security:write" },
    create: CreateCorrelationBody,
    update: UpdateCorrelationBody,
    defaults: { severity: "medium", windowSec: 300, enabled: true },
    secrets: RULE_SECRETS,
    immutable: ["kind"],
    references: [{ at: ["escalationPolicyId"], to: "escalation-policies" }],
    list: async (tx, organizationId, limit) => {
      const found = await rules.listIn(tx, organizationId, limit);
      const channels = await readAlertChannels(tx, organizationId, "correlation_rules", deps.box);
      return found.map((rule) => ({ id: rule.id, fields: { ...rule, ...channels.get(rule.id) } }));
    },
    ...verbsOf(
      {
        createAll: oneByOne((change, body: CreateCorrelationBody) => rules.create(change, body)),
        update: (change, id, body: UpdateCorrelationBody) => rules.update(change, id, body),
        remove: (change, id) => rules.remove(change, id),
      },
      (change) => change.afterCommit(deps.onCounterMade),
    ),
  });
}
