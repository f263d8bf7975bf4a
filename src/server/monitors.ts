import { monitorDomain } from "../domains/monitors/domain.ts";
import { sendTestAlert } from "../domains/notifications/test-alerts.ts";
import { hasPolicy } from "../on-call/policy-store.ts";
import { OutboundPolicy } from "../outbound/outbound-policy.ts";
import { judgeTarget } from "../probes/targets/judge-target.ts";
import type { Services } from "./services.ts";

/** Monitors of this server: which addresses they may watch and alert, and who is told that they have changed. */
export function serverMonitors(services: Services) {
  const { config, monitorChanges } = services;
  const allow = config.outboundAllow ?? [];
  const targets = new OutboundPolicy({ allow, allowPrivate: config.monitorAllowPrivate });
  return monitorDomain({
    ...services,
    alertPolicy: services.policy,
    judgeTarget: (type, text) => judgeTarget(type, text, targets),
    hasEscalationPolicy: hasPolicy,
    onMonitorsChanged: monitorChanges.wake,
    testAlerts: { send: (target) => sendTestAlert(services, target) },
  });
}
