import { join } from "node:path";
import { Readable } from "node:stream";
import type { ClickHouseClient } from "@clickhouse/client";
import { readLineTemplates, synthesizeLineTemplates } from "../storage/lines.ts";
import { seededRandom } from "../storage/random.ts";
import { tsvRow } from "../storage/rows.ts";

const SEED = 20_260_110;
const LOGHUB = join(import.meta.dir, "../../../shared/data/loghub");
const ROWS_PER_INSERT = 250_000;
const ROWS_PER_CHUNK = 5_000;

/** The rows of `tsvRow` as they arrive, with the id that their time of receipt and sequence make. */
const INSERT = `INSERT INTO logs (organization_id, ts, id, received_at, level, service, source, host, message,
    trace_id, span_id, event_id, attrs, attr_json_keys)
  SELECT organization_id, ts, bitShiftLeft(toUnixTimestamp64Milli(received_at) - 1577836800000, 22) + bitShiftLeft(sequence, 10) + 1,
    received_at, level, service, source, host, message, trace_id, span_id, event_id, attrs, attr_json_keys
  FROM input('organization_id UInt32, ts DateTime64(9, \\'UTC\\'), received_at DateTime64(3, \\'UTC\\'), sequence UInt64,
    level String, service String, source String, host String, message String, trace_id String, span_id String,
    event_id String, attrs Map(String, String), attr_json_keys Array(String), row UInt64')
  FORMAT TSV`;

/** Fills the empty table `logs` with `rows` rows made from real lines, spread over a day. */
export async function fillLogs(clickhouse: ClickHouseClient, rows: number): Promise<void> {
  const random = seededRandom(SEED);
  const real = readLineTemplates(LOGHUB);
  const templates = real.length > 0 ? real : synthesizeLineTemplates(random, 4000);
  for (let from = 0; from < rows; from += ROWS_PER_INSERT) {
    const to = Math.min(rows, from + ROWS_PER_INSERT);
    function* chunks(): Generator<string> {
      for (let start = from; start < to; start += ROWS_PER_CHUNK) {
        const lines: string[] = [];
        for (let row = start; row < Math.min(to, start + ROWS_PER_CHUNK); row++)
          lines.push(tsvRow(row, rows, templates, random));
        yield `${lines.join("\n")}\n`;
      }
    }
    const { stream } = await clickhouse.exec({
      query: INSERT,
      values: Readable.from(chunks(), { objectMode: false }),
    });
    stream.resume();
  }
}

/** Inserts of the size of a busy flusher's, whose indexes of messages are left to the first merge; and none comes any more. */
const UNMERGED_ROWS_PER_INSERT = 100_000;

/** Repeats `rows` rows in parts as they are before they are merged, and keeps them so. */
export async function copyIntoUnmergedParts(clickhouse: ClickHouseClient, rows: number): Promise<void> {
  await clickhouse.command({ query: "SYSTEM STOP MERGES logs" });
  for (let from = 0; from < rows; from += UNMERGED_ROWS_PER_INSERT)
    await clickhouse.command({
      query: `INSERT INTO logs SELECT * FROM logs WHERE organization_id = 1 ORDER BY id LIMIT {from:UInt64}, {rows:UInt64}
        SETTINGS exclude_materialize_skip_indexes_on_insert = 'message_ngrams,message_words'`,
      query_params: { from, rows: UNMERGED_ROWS_PER_INSERT },
    });
}
