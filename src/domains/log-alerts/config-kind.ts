import { type ConfigKind, configKind } from "../../configuration/config-kind.ts";
import { verbsOf } from "../../configuration/record-kinds.ts";
import { RULE_SECRETS, readAlertChannels } from "../../notify/stored-channels.ts";
import { type LogAlertDependencies, LogAlerts } from "./alerts.ts";
import { type CreateLogAlertBody, DEFAULTS, LogAlertTerms, UpdateLogAlertBody } from "./types.ts";

interface LogAlertKindDependencies extends LogAlertDependencies {
  /** Rings when there is something new to count. */
  readonly onCounterMade: () => void;
}

/** Log alerts as files describe them. */
export function logAlertKind(deps: LogAlertKindDependencies): ConfigKind {
  const alerts = new LogAlerts(deps);
  return configKind({
    kind: "log-alerts",
    audit: "LOG_ALERT",
    table: "log_alerts",
    read: { role: "viewer", scope: "alerts:read" },
    write: { role: "member", scope: "alerts:write" },
    create: LogAlertTerms,
    update: UpdateLogAlertBody,
    defaults: DEFAULTS,
    secrets: RULE_SECRETS,
    references: [{ at: ["escalationPolicyId"], to: "escalation-policies" }],
    list: async (tx, organizationId, limit) => {
      const found = await alerts.listIn(tx, organizationId, limit);
      const channels = await readAlertChannels(tx, organizationId, "log_alerts", deps.box);
      return found.map((alert) => ({ id: alert.id, fields: { ...alert, ...channels.get(alert.id) } }));
    },
    ...verbsOf(
      {
        createAll: (change, bodies: readonly CreateLogAlertBody[]) => alerts.createAll(change, bodies),
        update: (change, id, body: UpdateLogAlertBody) => alerts.update(change, id, body),
        remove: (change, id) => alerts.remove(change, id),
      },
      (change) => change.afterCommit(deps.onCounterMade),
    ),
  });
}
