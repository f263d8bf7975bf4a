import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { LATENCY_BUCKETS_SEC } from "../latency-buckets.ts";

/** Rows; from one entry to the largest merged insert. */
const BATCH_BUCKETS_ROWS = [1, 10, 100, 500, 1000, 5000, 10_000, 50_000, 100_000, 500_000];

export interface IngestMetrics {
  readonly records: Counter<"format" | "outcome">;
  readonly bytes: Counter<"format">;
  /** Where the time of an acknowledged batch goes: `decode`, then `commit`. */
  readonly stageSec: Histogram<"stage">;
}

export function ingestMetrics(registry: Registry): IngestMetrics {
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

interface WalMetrics {
  readonly bytes: Gauge;
  /** Age of the oldest record that is not in the store yet. */
  readonly oldestAgeSec: Gauge;
}

export function walMetrics(registry: Registry): WalMetrics {
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

export interface InsertMetrics {
  readonly batches: Counter<"outcome">;
  readonly rows: Counter;
  readonly batchRows: Histogram;
  readonly durationSec: Histogram;
}

export function insertMetrics(registry: Registry): InsertMetrics {
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
