import { Registry } from "prom-client";
import { archiveMetrics } from "../archive/archive-metrics.ts";
import { anchorMetrics } from "../audit/anchors/anchor-metrics.ts";
import { eventMetrics } from "../changes/events/event-metrics.ts";
import { ingestRuleMetrics } from "../domains/ingest-rules/rule-metrics.ts";
import { messageMetrics } from "../domains/logs/receive/listeners/message-metrics.ts";
import { tailMetrics } from "../domains/logs/tail/tail-metrics.ts";
import { monitorMetrics } from "../domains/monitors/scheduling/monitor-metrics.ts";
import { quarantineMetrics } from "../domains/quarantine/quarantine-metrics.ts";
import { httpMetrics, rateLimitMetrics } from "../http/http-metrics.ts";
import { deliveryMetrics } from "../notify/deliveries/delivery-metrics.ts";
import { mailMetrics } from "../notify/mail/mail-metrics.ts";
import { dedupeMetrics } from "../receive/dedupe-metrics.ts";
import { ingestMetrics, insertMetrics, walMetrics } from "../receive/ingest-metrics.ts";
import { sealMetrics } from "../rules/seal/seal-metrics.ts";
import { queryMetrics } from "../storage/query-metrics.ts";
import { registerProcessMetrics, uncaughtFaults } from "./process-metrics.ts";

/** Every metric of the server, each with its owner. Passed to whoever measures; label values are never a caller's text. */
export type Metrics = ReturnType<typeof createMetrics>;

/** Makes the metrics of one server. */
export function createMetrics() {
  const registry = new Registry();
  const collectors: (() => void)[] = [];
  registerProcessMetrics(registry, collectors);
  return {
    http: httpMetrics(registry),
    uncaughtFaults: uncaughtFaults(registry),
    rateLimit: rateLimitMetrics(registry),
    ingest: ingestMetrics(registry),
    ingestRules: ingestRuleMetrics(registry),
    wal: walMetrics(registry),
    dedupe: dedupeMetrics(registry),
    insert: insertMetrics(registry),
    query: queryMetrics(registry),
    tail: tailMetrics(registry),
    mail: mailMetrics(registry),
    deliveries: deliveryMetrics(registry),
    audit: anchorMetrics(registry),
    events: eventMetrics(registry),
    archive: archiveMetrics(registry),
    quarantine: quarantineMetrics(registry),
    monitors: monitorMetrics(registry),
    seal: sealMetrics(registry),
    syslog: messageMetrics(registry, "syslog"),
    gelf: messageMetrics(registry, "gelf"),
    forward: messageMetrics(registry, "forward"),
    /** Runs before each exposition, for gauges whose value is looked up rather than told. */
    onCollect: (update: () => void): void => {
      collectors.push(update);
    },
    /** The text exposition and its content type. */
    expose: async (): Promise<{ text: string; contentType: string }> => {
      for (const update of collectors) update();
      return { text: await registry.metrics(), contentType: registry.contentType };
    },
  };
}
