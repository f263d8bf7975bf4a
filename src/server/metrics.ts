import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { type ArchiveMetrics, archiveMetrics } from "../archive/archive-metrics.ts";
import { type AnchorMetrics, anchorMetrics } from "../audit/anchors/anchor-metrics.ts";
import { type SyslogMetrics, syslogMetrics } from "../domains/logs/receive/syslog/syslog-metrics.ts";
import { type QuarantineMetrics, quarantineMetrics } from "../domains/quarantine/quarantine-metrics.ts";
import { type DedupeMetrics, dedupeMetrics } from "../receive/dedupe-metrics.ts";
import { registerProcessMetrics, type UncaughtFaults, uncaughtFaults } from "./process-metrics.ts";

/** Seconds; from an answer out of memory to a query at its time limit. */
const LATENCY_BUCKETS_SEC = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];

/** Rows; from one entry to the largest merged insert. */
const BATCH_BUCKETS_ROWS = [1, 10, 100, 500, 1000, 5000, 10_000, 50_000, 100_000, 500_000];

/** Every metric of the server, in a registry of its own. Passed to whoever measures; label values are never a caller's text. */
export interface Metrics {
  readonly http: {
    readonly requests: Counter<"method" | "route" | "status">;
    readonly durationSec: Histogram<"method" | "route">;
    readonly inFlight: Gauge;
    /** Refused because too many were being answered: all that there may be (`all`), or the caller's share (`share`). */
    readonly capacityRejections: Counter<"bound">;
  };
  readonly uncaughtFaults: UncaughtFaults;
  readonly rateLimit: {
    /** By the class of the bucket. */
    readonly rejections: Counter<"class">;
    /** Judged by this instance alone because the shared store did not answer. */
    readonly localDecisions: Counter;
  };
  readonly ingest: {
    readonly records: Counter<"format" | "outcome">;
    readonly bytes: Counter<"format">;
    /** Where the time of an acknowledged batch goes: `decode`, then `commit`. */
    readonly stageSec: Histogram<"stage">;
  };
  readonly wal: {
    readonly bytes: Gauge;
    /** Age of the oldest record that is not in the store yet. */
    readonly oldestAgeSec: Gauge;
  };
  readonly dedupe: DedupeMetrics;
  readonly insert: {
    readonly batches: Counter<"outcome">;
    readonly rows: Counter;
    readonly batchRows: Histogram;
    readonly durationSec: Histogram;
  };
  readonly query: {
    readonly durationSec: Histogram<"operation" | "outcome">;
    readonly rowsRead: Counter<"operation">;
  };
  readonly tail: {
    /** Streams that are open. */
    readonly streams: Gauge;
    /** Entries that a filter let through, once for each distinct filter. */
    readonly matched: Counter;
    /** Entries sent to readers. */
    readonly delivered: Counter;
    /** Entries that slow readers did not get. */
    readonly dropped: Counter;
  };
  readonly mail: {
    readonly mails: Counter<"outcome">;
    readonly waiting: Gauge;
    /** Age of the oldest mail that waits. */
    readonly oldestAgeSec: Gauge;
  };
  readonly audit: AnchorMetrics;
  readonly archive: ArchiveMetrics;
  readonly quarantine: QuarantineMetrics;
  readonly syslog: SyslogMetrics;
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
    onCollect: (update) => {
      collectors.push(update);
    },
    expose: async () => {
      for (const update of collectors) update();
      return { text: await registry.metrics(), contentType: registry.contentType };
    },
  };
}

function httpMetrics(registry: Registry): Metrics["http"] {
  const registers = [registry];
  return {
    requests: new Counter({
      name: "obs_http_requests_total",
      help: "Requests answered.",
      labelNames: ["method", "route", "status"],
      registers,
    }),
    durationSec: new Histogram({
      name: "obs_http_request_duration_seconds",
      help: "Time from the arrival of a request's head to its answer; of a stream, to its start.",
      labelNames: ["method", "route"],
      buckets: LATENCY_BUCKETS_SEC,
      registers,
    }),
    inFlight: new Gauge({ name: "obs_http_requests_in_flight", help: "Requests being answered.", registers }),
    capacityRejections: new Counter({
      name: "obs_http_capacity_rejections_total",
      help: "Requests refused because too many were being answered, of all callers (all) or of theirs (share).",
      labelNames: ["bound"],
      registers,
    }),
  };
}

function rateLimitMetrics(registry: Registry): Metrics["rateLimit"] {
  const registers = [registry];
  return {
    rejections: new Counter({
      name: "obs_rate_limit_rejections_total",
      help: "Requests refused with RATE_LIMITED.",
      labelNames: ["class"],
      registers,
    }),
    localDecisions: new Counter({
      name: "obs_rate_limit_local_decisions_total",
      help: "Requests judged by this instance alone because the shared store did not answer.",
      registers,
    }),
  };
}

function ingestMetrics(registry: Registry): Metrics["ingest"] {
  const registers = [registry];
  return {
    records: new Counter({
      name: "obs_ingest_records_total",
      help: "Records received, by format and outcome (accepted, rejected, duplicate).",
      labelNames: ["format", "outcome"],
      registers,
    }),
    bytes: new Counter({
      name: "obs_ingest_bytes_total",
      help: "Unpacked bytes of bodies received.",
      labelNames: ["format"],
      registers,
    }),
    stageSec: new Histogram({
      name: "obs_ingest_stage_duration_seconds",
      help: "Time of one batch in each stage before it is acknowledged.",
      labelNames: ["stage"],
      buckets: LATENCY_BUCKETS_SEC,
      registers,
    }),
  };
}

function walMetrics(registry: Registry): Metrics["wal"] {
  const registers = [registry];
  return {
    bytes: new Gauge({ name: "obs_wal_bytes", help: "Bytes of the write-ahead log on disk.", registers }),
    oldestAgeSec: new Gauge({
      name: "obs_wal_oldest_age_seconds",
      help: "Age of the oldest acknowledged record that is not in the store yet.",
      registers,
    }),
  };
}

function insertMetrics(registry: Registry): Metrics["insert"] {
  const registers = [registry];
  return {
    batches: new Counter({
      name: "obs_insert_batches_total",
      help: "Inserts sent to the store, by outcome (inserted, failed).",
      labelNames: ["outcome"],
      registers,
    }),
    rows: new Counter({ name: "obs_insert_rows_total", help: "Rows the store has confirmed.", registers }),
    batchRows: new Histogram({
      name: "obs_insert_batch_rows",
      help: "Rows of one insert.",
      buckets: BATCH_BUCKETS_ROWS,
      registers,
    }),
    durationSec: new Histogram({
      name: "obs_insert_duration_seconds",
      help: "Time of one insert.",
      buckets: LATENCY_BUCKETS_SEC,
      registers,
    }),
  };
}

function queryMetrics(registry: Registry): Metrics["query"] {
  const registers = [registry];
  return {
    durationSec: new Histogram({
      name: "obs_query_duration_seconds",
      help: "Time of queries to the log store, by operation and outcome (ok, refused, timeout, failed).",
      labelNames: ["operation", "outcome"],
      buckets: LATENCY_BUCKETS_SEC,
      registers,
    }),
    rowsRead: new Counter({
      name: "obs_query_rows_read_total",
      help: "Rows the log store read for queries.",
      labelNames: ["operation"],
      registers,
    }),
  };
}

function tailMetrics(registry: Registry): Metrics["tail"] {
  const registers = [registry];
  return {
    streams: new Gauge({ name: "obs_tail_streams", help: "Live tails that are open.", registers }),
    matched: new Counter({
      name: "obs_tail_matched_total",
      help: "Entries that the filter of a live tail let through, once for each distinct filter.",
      registers,
    }),
    delivered: new Counter({
      name: "obs_tail_delivered_total",
      help: "Entries sent to live tails.",
      registers,
    }),
    dropped: new Counter({
      name: "obs_tail_dropped_total",
      help: "Entries that live tails did not get because they came too fast.",
      registers,
    }),
  };
}

function mailMetrics(registry: Registry): Metrics["mail"] {
  const registers = [registry];
  return {
    mails: new Counter({
      name: "obs_mails_total",
      help: "Attempts to send a mail, by outcome (sent, failed and tried again, given_up, expired).",
      labelNames: ["outcome"],
      registers,
    }),
    waiting: new Gauge({ name: "obs_mails_waiting", help: "Mails that wait to be sent.", registers }),
    oldestAgeSec: new Gauge({
      name: "obs_mail_oldest_age_seconds",
      help: "Age of the oldest mail that waits to be sent.",
      registers,
    }),
  };
}
