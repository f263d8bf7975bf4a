import { monitorDomain } from "../domains/monitors/domain.ts";
import type { MonitorDependencies } from "../domains/monitors/service.ts";
import { sendTestAlert } from "../domains/notifications/test-alerts.ts";
import { hasPolicy } from "../on-call/policy-store.ts";
import { OutboundPolicy } from "../outbound/outbound-policy.ts";
import { judgeTarget } from "../probes/targets/judge-target.ts";
import type { Services } from "./services.ts";

/** Monitors of this server. */
export function serverMonitors(services: Services) {
  return monitorDomain({
    ...services,
    ...monitorVerbs(services),
    testAlerts: { send: (target) => sendTestAlert(services, target) },
  });
}

type MonitorServices = Pick<Services, "sql" | "box" | "plans" | "publicUrl" | "policy"> & {
  readonly config: Pick<Services["config"], "outboundAllow" | "monitorAllowPrivate" | "statusPageHosts">;
  readonly monitorChanges: Pick<Services["monitorChanges"], "wake">;
};

/** What changing monitors needs: which addresses they may watch and alert, and who is told that they have changed. */
export function monitorVerbs({
  sql,
  box,
  plans,
  publicUrl,
  policy,
  config,
  monitorChanges,
}: MonitorServices) {
  const allow = config.outboundAllow ?? [];
  const targets = new OutboundPolicy({ allow, allowPrivate: config.monitorAllowPrivate });
  const verbs: MonitorDependencies = {
    ...{ sql, box, plans, publicUrl },
    alertPolicy: policy,
    judgeTarget: (type, text) => judgeTarget(type, text, targets),
    hasEscalationPolicy: hasPolicy,
    onMonitorsChanged: monitorChanges.wake,
  };
  return verbs;
}
