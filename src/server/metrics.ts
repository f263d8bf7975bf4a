import { Registry } from "prom-client";
import { type ArchiveMetrics, archiveMetrics } from "../archive/archive-metrics.ts";
import { type AnchorMetrics, anchorMetrics } from "../audit/anchors/anchor-metrics.ts";
import { type SyslogMetrics, syslogMetrics } from "../domains/logs/receive/syslog/syslog-metrics.ts";
import { type TailMetrics, tailMetrics } from "../domains/logs/tail/tail-metrics.ts";
import { type QuarantineMetrics, quarantineMetrics } from "../domains/quarantine/quarantine-metrics.ts";
import {
  type HttpMetrics,
  httpMetrics,
  type RateLimitMetrics,
  rateLimitMetrics,
} from "../http/http-metrics.ts";
import { type MailMetrics, mailMetrics } from "../notify/mail/mail-metrics.ts";
import { type DedupeMetrics, dedupeMetrics } from "../receive/dedupe-metrics.ts";
import {
  type IngestMetrics,
  type InsertMetrics,
  ingestMetrics,
  insertMetrics,
  type WalMetrics,
  walMetrics,
} from "../receive/ingest-metrics.ts";
import { type QueryMetrics, queryMetrics } from "../storage/query-metrics.ts";
import { registerProcessMetrics, type UncaughtFaults, uncaughtFaults } from "./process-metrics.ts";

/** Every metric of the server, in a registry of its own. Passed to whoever measures; label values are never a caller's text. */
export interface Metrics {
  readonly http: HttpMetrics;
  readonly uncaughtFaults: UncaughtFaults;
  readonly rateLimit: RateLimitMetrics;
  readonly ingest: IngestMetrics;
  readonly wal: WalMetrics;
  readonly dedupe: DedupeMetrics;
  readonly insert: InsertMetrics;
  readonly query: QueryMetrics;
  readonly tail: TailMetrics;
  readonly mail: MailMetrics;
  readonly audit: AnchorMetrics;
  readonly archive: ArchiveMetrics;
  readonly quarantine: QuarantineMetrics;
  readonly syslog: SyslogMetrics;
  readonly gelf: SyslogMetrics;
  readonly forward: SyslogMetrics;
  /** Runs before each exposition, for gauges whose value is looked up rather than told. */
  onCollect(update: () => void): void;
  /** The text exposition and its content type. */
  expose(): Promise<{ text: string; contentType: string }>;
}

/** Makes the metrics of one server. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const collectors: (() => void)[] = [];
  registerProcessMetrics(registry, collectors);
  return {
    http: httpMetrics(registry),
    uncaughtFaults: uncaughtFaults(registry),
    rateLimit: rateLimitMetrics(registry),
    ingest: ingestMetrics(registry),
    wal: walMetrics(registry),
    dedupe: dedupeMetrics(registry),
    insert: insertMetrics(registry),
    query: queryMetrics(registry),
    tail: tailMetrics(registry),
    mail: mailMetrics(registry),
    audit: anchorMetrics(registry),
    archive: archiveMetrics(registry),
    quarantine: quarantineMetrics(registry),
    syslog: syslogMetrics(registry),
    gelf: syslogMetrics(registry, "gelf"),
    forward: syslogMetrics(registry, "forward"),
    onCollect: (update) => {
      collectors.push(update);
    },
    expose: async () => {
      for (const update of collectors) update();
      return { text: await registry.metrics(), contentType: registry.contentType };
    },
  };
}
