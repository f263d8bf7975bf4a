import type { ConfigKind } from "../configuration/config-kind.ts";
import { modelPriceKind } from "../domains/ai-agents/config-kind.ts";
import { assetKind } from "../domains/assets/config-kind.ts";
import { Fingerprints } from "../domains/configuration/fields.ts";
import { configurationRoutes } from "../domains/configuration/routes.ts";
import { correlationKind } from "../domains/correlation-rules/config-kind.ts";
import { escalationPolicyKind } from "../domains/escalation/config-kind.ts";
import { identityKind } from "../domains/identities/config-kind.ts";
import { ingestRuleKind } from "../domains/ingest-rules/config-kind.ts";
import { ingestSourceKind } from "../domains/ingest-sources/config-kind.ts";
import { allowedIndicatorKind, iocFeedKind, iocKind } from "../domains/iocs/config-kind.ts";
import { kqlFunctionKind } from "../domains/kql-functions/config-kind.ts";
import { logAlertKind } from "../domains/log-alerts/config-kind.ts";
import { logMetricKind } from "../domains/log-metrics/config-kind.ts";
import { retentionKind } from "../domains/logs/retention/config-kind.ts";
import { maintenanceKind } from "../domains/maintenance/config-kind.ts";
import { metricAlertKind } from "../domains/metric-alerts/config-kind.ts";
import { monitorKind } from "../domains/monitors/config-kind.ts";
import { alertChannelKind } from "../domains/notifications/config-kind.ts";
import { scheduleKind } from "../domains/on-call/config-kind.ts";
import { savedSearchKind } from "../domains/saved-searches/config-kind.ts";
import { statusPageKind } from "../domains/status-pages/config-kind.ts";
import { createTxtResolver } from "../identity/providers/sso/txt-resolver.ts";
import { hasPolicy } from "../on-call/policy-store.ts";
import { monitorVerbs } from "./monitors.ts";
import type { Services } from "./services.ts";

type KindServices = Parameters<typeof monitorVerbs>[0] &
  Pick<Services, "now" | "sources" | "statusPageKey"> & {
    readonly config: Pick<Services["config"], "logRetentionDays">;
    readonly kept: Pick<Services["kept"], "forget">;
    readonly rules: Pick<Services["rules"], "forget">;
    readonly statusPages: Pick<Services["statusPages"], "forget">;
    readonly counting: Pick<Services["counting"], "onCounterMade" | "onIocBatch">;
  };

/** What files can describe, each kind behind those that its records may refer to. */
export function configKinds(services: KindServices): ConfigKind[] {
  const { config, kept, counting, monitorChanges, statusPageKey: key } = services;
  const { onCounterMade } = counting;
  const rules = { ...services, alertPolicy: services.policy, knowsPolicy: hasPolicy, onCounterMade };
  return [
    kqlFunctionKind(kept),
    savedSearchKind,
    logMetricKind(onCounterMade),
    scheduleKind,
    escalationPolicyKind,
    monitorKind(monitorVerbs(services)),
    maintenanceKind(monitorChanges.wake),
    statusPageKind({
      ...services,
      hosts: { key, vouched: config.statusPageHosts ?? [], resolveTxt: createTxtResolver() },
    }),
    logAlertKind(rules),
    metricAlertKind(rules),
    correlationKind(rules),
    ingestSourceKind(services),
    ingestRuleKind(services.rules),
    assetKind,
    identityKind,
    iocKind(counting.onIocBatch),
    iocFeedKind,
    allowedIndicatorKind,
    alertChannelKind(services),
    retentionKind(config.logRetentionDays),
    modelPriceKind,
  ];
}

/** What an organisation has set up, as files. */
export function serverConfiguration(services: KindServices) {
  const { sql, box, now } = services;
  const fingerprints = new Fingerprints(box.keyFor("configuration"));
  return { routes: configurationRoutes({ sql, now, fingerprints, kinds: configKinds(services) }) };
}
