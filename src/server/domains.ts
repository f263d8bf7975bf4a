import { aiAgentRoutes } from "../domains/ai-agents/routes.ts";
import { assetRoutes } from "../domains/assets/routes.ts";
import { auditRoutes } from "../domains/audit/routes.ts";
import { caseRoutes } from "../domains/cases/routes.ts";
import { contextRoutes } from "../domains/context/routes.ts";
import { correlationRoutes, putsCorrelations } from "../domains/correlation-rules/routes.ts";
import { detectionRoutes } from "../domains/detections/routes.ts";
import { escalationDomain, readOnCall } from "../domains/escalation/domain.ts";
import { whoIsPaged } from "../domains/escalation/simulation.ts";
import { exportRoutes } from "../domains/export/routes.ts";
import { identityRoutes } from "../domains/identities/routes.ts";
import { incidentDomain } from "../domains/incidents/domain.ts";
import { acknowledge, readIncident, resolve } from "../domains/incidents/service.ts";
import { ingestRuleDomain } from "../domains/ingest-rules/domain.ts";
import { ingestSourceDomain } from "../domains/ingest-sources/domain.ts";
import { iocDomain } from "../domains/iocs/domain.ts";
import { kqlRoutes } from "../domains/kql/routes.ts";
import { kqlFunctionRoutes } from "../domains/kql-functions/routes.ts";
import { kqlTableDomain } from "../domains/kql-tables/domain.ts";
import { logAlertDomain } from "../domains/log-alerts/domain.ts";
import { logErrorDomain, readErrorChanges } from "../domains/log-errors/domain.ts";
import { logMetricRoutes } from "../domains/log-metrics/routes.ts";
import { logArchiveRoutes } from "../domains/logs/archive/routes.ts";
import { readLogEntry } from "../domains/logs/entry.ts";
import { readEntryRecord } from "../domains/logs/entry-record.ts";
import { logIngestRoutes } from "../domains/logs/ingest-routes.ts";
import { readPatternChanges } from "../domains/logs/patterns/pattern-changes.ts";
import { logPatternRoutes } from "../domains/logs/patterns/routes.ts";
import { logReadRoutes } from "../domains/logs/read-routes.ts";
import { elasticsearchRoutes } from "../domains/logs/receive/elasticsearch/routes.ts";
import { gelfRoutes } from "../domains/logs/receive/gelf/routes.ts";
import { journalRoutes } from "../domains/logs/receive/journal/routes.ts";
import { listenersDomain } from "../domains/logs/receive/listeners/domain.ts";
import { lokiRoutes } from "../domains/logs/receive/loki/routes.ts";
import { otlpRoutes } from "../domains/logs/receive/otlp/routes.ts";
import { platformRoutes } from "../domains/logs/receive/platforms/routes.ts";
import { splunkRoutes } from "../domains/logs/receive/splunk/routes.ts";
import { readReleases } from "../domains/logs/releases/read-releases.ts";
import { logRetentionRoutes } from "../domains/logs/retention/routes.ts";
import { tailDomain } from "../domains/logs/tail/domain.ts";
import { maintenanceRoutes } from "../domains/maintenance/routes.ts";
import { metricAlertRoutes } from "../domains/metric-alerts/routes.ts";
import { metricRoutes } from "../domains/metrics/routes.ts";
import { monitorScheduling } from "../domains/monitors/scheduling/part.ts";
import { defaultChannels } from "../domains/notifications/default-store.ts";
import { notificationDomain, readDeliveries } from "../domains/notifications/domain.ts";
import { onCallDomain } from "../domains/on-call/domain.ts";
import { inviteMailer } from "../domains/organizations/invite-mail.ts";
import { organizationRoutes } from "../domains/organizations/routes.ts";
import { overviewRoutes } from "../domains/overview/routes.ts";
import { quarantineDomain } from "../domains/quarantine/domain.ts";
import { receivedAlertRoutes } from "../domains/received-alerts/routes.ts";
import { savedSearches } from "../domains/saved-searches/records.ts";
import { savedSearchRoutes } from "../domains/saved-searches/routes.ts";
import { removeOldSilences, silenceRoutes } from "../domains/silences/routes.ts";
import { statusPageDomain } from "../domains/status-pages/domain.ts";
import { removeExpiredKeys } from "../http/ledger/idempotency-store.ts";
import { PasswordHasher } from "../identity/password-hasher.ts";
import { createTxtResolver } from "../identity/providers/sso/txt-resolver.ts";
import { lockMembers } from "../membership/member-store.ts";
import { hasPolicy } from "../on-call/policy-store.ts";
import { removeOldTokenUsage } from "../usage/token-usage-store.ts";
import { serverConfiguration } from "./configuration.ts";
import { createLoginThrottle, identityPart } from "./identity.ts";
import { serverMonitors } from "./monitors.ts";
import type { Part } from "./part.ts";
import type { Services } from "./services.ts";

/**
 * Every part of the server, a line each, in the order in which they start: first what domains stand on. Routes, the types
 * of clients, starts, stops, readiness and housekeeping are made of this list and nothing else.
 */
export function openDomains(services: Services) {
  const { config, receiver } = services;
  return [
    services.serverIngest,
    services.mail,
    services.notifications,
    services.archive,
    services.upkeep,
    services.anchors,
    services.events,
    services.storedRequests,
    { housekeeping: [removeExpiredKeys, removeOldTokenUsage] },
    identityPart(services),
    { routes: logIngestRoutes(services) },
    { routes: otlpRoutes(receiver, { protobuf: config.otlpProtobuf }) },
    { routes: elasticsearchRoutes(receiver) },
    { routes: gelfRoutes(receiver) },
    { routes: journalRoutes(receiver) },
    { routes: lokiRoutes(receiver) },
    { routes: splunkRoutes(receiver) },
    { routes: platformRoutes(services) },
    { routes: logReadRoutes(services) },
    { routes: logPatternRoutes(services) },
    { routes: logArchiveRoutes(services) },
    { routes: logRetentionRoutes({ ...services, defaultDays: config.logRetentionDays }) },
    quarantineDomain(services),
    ingestSourceDomain(services),
    ingestRuleDomain(services),
    { routes: savedSearchRoutes(services) },
    { routes: kqlFunctionRoutes(services) },
    kqlTableDomain(services),
    services.counting,
    { routes: logMetricRoutes({ ...services, ...services.counting }) },
    { routes: metricRoutes({ ...services, ...services.counting }) },
    logAlertDomain({
      ...services,
      alertPolicy: services.policy,
      knowsPolicy: hasPolicy,
      onCounterMade: services.counting.onCounterMade,
      ...{ whoIsPaged, defaultChannels },
      readSavedSearch: (tx, organizationId, id) => savedSearches.readIn(tx, organizationId, id),
      putCorrelation: putsCorrelations({
        ...services,
        alertPolicy: services.policy,
        knowsPolicy: hasPolicy,
      }),
    }),
    {
      routes: correlationRoutes({
        ...{ ...services, ...services.counting },
        alertPolicy: services.policy,
        knowsPolicy: hasPolicy,
      }),
    },
    {
      routes: metricAlertRoutes({
        ...{ ...services, ...services.counting },
        knowsPolicy: hasPolicy,
      }),
    },
    { routes: assetRoutes(services) },
    { routes: identityRoutes(services) },
    iocDomain({ ...services, onBatch: services.counting.onIocBatch }),
    { routes: contextRoutes({ ...services, clickhouseEndpoint: services.stores.clickhouseEndpoint }) },
    logErrorDomain({
      ...services,
      signals: services.counting.signals,
      readEntry: (caller, id) => readLogEntry(services, caller, id),
    }),
    onCallDomain(services),
    escalationDomain({ ...services, links: services.acknowledgeLinks, acknowledge, resolve }),
    incidentDomain({
      ...services,
      readPatternChanges: (caller, times) => readPatternChanges(services, caller, times),
      readReleases: (caller, times) => readReleases(services, caller, times),
      readErrorChanges: (organizationId, times) => readErrorChanges(services, organizationId, times),
      knowsPolicy: hasPolicy,
      readDeliveries: (organizationId, incidentId) => readDeliveries(services, organizationId, incidentId),
      readOnCall: (organizationId, incidentId) => readOnCall(services, organizationId, incidentId),
    }),
    {
      routes: caseRoutes({
        ...services,
        lockMembers,
        readIncident: (organizationId, id) => readIncident(services.sql, organizationId, id),
        readEntry: (context, id) => readEntryRecord(services, context, id),
      }),
    },
    { routes: aiAgentRoutes(services) },
    { routes: receivedAlertRoutes({ ...services, knowsPolicy: hasPolicy }) },
    notificationDomain(services),
    serverMonitors(services),
    monitorScheduling({
      ...services,
      clickhouseEndpoint: services.stores.clickhouseEndpoint,
      metrics: services.metrics.monitors,
    }),
    {
      routes: maintenanceRoutes({ ...services, onWindowsChanged: services.monitorChanges.wake }),
    },
    statusPageDomain({
      ...services,
      passwords: new PasswordHasher({ concurrency: 1 }),
      throttle: createLoginThrottle(services),
      statusPageHosts: config.statusPageHosts ?? [],
      resolveTxt: createTxtResolver(),
    }),
    { routes: auditRoutes(services) },
    { routes: organizationRoutes({ ...services, mailInvite: inviteMailer(services) }) },
    { routes: detectionRoutes(services) },
    { routes: silenceRoutes(services), housekeeping: [removeOldSilences] },
    { routes: overviewRoutes(services) },
    { routes: exportRoutes(services) },
    serverConfiguration(services),
    { routes: kqlRoutes() },
    tailDomain(services),
    listenersDomain(services),
  ] as const satisfies readonly Part[];
}

type RoutesOf<P> = P extends { readonly routes: readonly (infer R)[] } ? R : never;

/** The routes of every domain with their types; one that does not name its path as a literal hides the others of its function. */
export type DeclaredRoute = RoutesOf<ReturnType<typeof openDomains>[number]>;

/** Every route of the API with its types: what clients have the types of their calls from, and all they may take from the server. */
export type ApiRoute = Extract<DeclaredRoute, { readonly path: `/api/v1/${string}` }>;
