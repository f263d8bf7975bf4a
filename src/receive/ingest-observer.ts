import type { IngestObserver } from "../../ingest/index.ts";
import type { Logger } from "../log.ts";
import type { IngestMetrics, InsertMetrics } from "./ingest-metrics.ts";

/** Turns what the ingest pipeline reports into metrics, and its failures into log lines. */
export function createIngestObserver(
  metrics: { readonly ingest: IngestMetrics; readonly insert: InsertMetrics },
  log: Logger,
): IngestObserver {
  const { ingest, insert } = metrics;
  return {
    decoded: (format, entries, duplicates, bytes, durationMs) => {
      ingest.records.inc({ format, outcome: "accepted" }, entries - duplicates);
      if (duplicates > 0) ingest.records.inc({ format, outcome: "duplicate" }, duplicates);
      ingest.bytes.inc({ format }, bytes);
      ingest.stageSec.observe({ stage: "decode" }, durationMs / 1000);
    },
    committed: (_rows, _requests, durationMs) =>
      ingest.stageSec.observe({ stage: "commit" }, durationMs / 1000),
    commitFailed: (requests, error) =>
      log.error({ err: error, requests }, "log entries could not be made durable"),
    inserted: (rows, _bytes, durationMs) => {
      insert.batches.inc({ outcome: "inserted" });
      insert.rows.inc(rows);
      insert.batchRows.observe(rows);
      insert.durationSec.observe(durationMs / 1000);
    },
    insertFailed: (error, attempt, retryInMs) => {
      insert.batches.inc({ outcome: "failed" });
      log.warn({ err: error, attempt, retryInMs }, "an insert into the log store failed and is repeated");
    },
    releaseFailed: (error) =>
      log.warn({ err: error }, "a segment of the write-ahead log could not be released"),
  };
}
