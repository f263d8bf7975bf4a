/**
 * The Native encoder and the native decoder against ClickHouse itself: what goes in as JSON comes out of the table.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { NativeFormat } from "../../ingest/decode/native.ts";
import { LogBatch } from "../../ingest/log-batch.ts";
import { LOG_ID_STEP } from "../../ingest/log-id.ts";
import { ByteBuffer } from "../../ingest/native/byte-buffer.ts";
import { createClickHouseLogStore } from "../../src/storage/clickhouse-log-store.ts";
import { storedText } from "../domains/logs/stored-rows.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { type NativeEntry, nativeEntry } from "./log-entry-arbitrary.ts";

const RECEIVED_AT_MS = Date.parse("2026-11-21T12:00:00.123Z");
const encoder = new TextEncoder();
const format = new NativeFormat();
let stores: TestStores;
let runs = 0;

beforeAll(async () => {
  stores = await openTestStores();
});

afterAll(() => stores.close());

/** A row as the table holds it, in the order in which it was written. */
interface StoredRow {
  ts: string;
  id: string;
  received_at: string;
  level: string;
  service: string;
  source: string;
  host: string;
  message: string;
  event_id: string;
  attrs: Record<string, string>;
  attr_json_keys: string[];
}

async function insert(batch: LogBatch, firstId: bigint): Promise<void> {
  const out = new ByteBuffer();
  batch.writeTo(out, firstId, LOG_ID_STEP);
  await createClickHouseLogStore(stores.clickhouseEndpoint).insert(
    [out.view()],
    crypto.randomUUID(),
    new AbortController().signal,
  );
}

async function rowsOf(organizationId: number): Promise<StoredRow[]> {
  const result = await stores.clickhouse.query({
    query: `SELECT toUnixTimestamp64Nano(ts) AS ts, id, toString(received_at) AS received_at, level, service, source, host, message,
                   trace_id, span_id, event_id, attrs, attr_json_keys
            FROM logs WHERE organization_id = {organization: UInt32} ORDER BY id`,
    query_params: { organization: organizationId },
    format: "JSONEachRow",
    clickhouse_settings: { output_format_json_quote_64bit_integers: 1 },
  });
  return result.json<StoredRow>();
}

/** What the table should hold of an entry, from the entry alone. */
function expectedRow(entry: NativeEntry): Omit<StoredRow, "id" | "received_at"> {
  // Through JSON once, because that is how it travels: -0 becomes 0.
  const attrs: [string, unknown][] = Object.entries(JSON.parse(JSON.stringify(entry.attrs ?? {})));
  return {
    ts: expectedNanoseconds(entry.ts).toString(),
    level: entry.level ?? "",
    service: entry.service ?? "",
    source: entry.source ?? "",
    host: entry.host ?? "",
    message: entry.message,
    event_id: entry.event_id ?? "",
    attrs: Object.fromEntries(attrs.map(([key, value]) => [key, storedText(value)])),
    attr_json_keys: attrs.filter(([, value]) => typeof value !== "string").map(([key]) => key),
  };
}

function expectedNanoseconds(ts: string | number | undefined): bigint {
  if (ts === undefined) return BigInt(RECEIVED_AT_MS) * 1_000_000n;
  if (typeof ts === "string")
    return BigInt(Date.parse(`${ts.slice(0, -7)}Z`)) * 1_000_000n + BigInt(ts.slice(-7, -1));
  return BigInt(ts) * (ts < 100_000_000_000 ? 1_000_000_000n : 1_000_000n);
}

describe("entries of any content", () => {
  test("come out of the table as they went in, nanoseconds, control characters and types of attributes included", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(nativeEntry, { minLength: 1, maxLength: 30 }), { minLength: 1, maxLength: 4 }),
        async (requests) => {
          const organization = 1000 + runs++;
          const batch = new LogBatch();
          for (const entries of requests) {
            batch.beginRequest(organization, RECEIVED_AT_MS);
            format.decode(encoder.encode(JSON.stringify(entries)), batch, new Set());
            batch.keepRequest();
          }
          await insert(batch, 1n << 22n);
          const stored = await rowsOf(organization);
          const entries = requests.flat();
          expect(stored.length).toBe(entries.length);
          stored.forEach((row, index) => {
            expect(row).toMatchObject(expectedRow(entries[index] ?? { message: "" }));
            expect(row.attrs).toEqual(expectedRow(entries[index] ?? { message: "" }).attrs);
            expect(row.id).toBe(((1n << 22n) + BigInt(index * LOG_ID_STEP)).toString());
            expect(row.received_at).toBe("2026-11-21 12:00:00.123");
          });
        },
      ),
      { numRuns: 60 },
    );
  });

  test("keep their columns apart when dictionaries outgrow one and two bytes", async () => {
    const organization = 900;
    const batch = new LogBatch();
    const count = 70_000;
    const message = (i: number): NativeEntry => ({
      message: `m${i}`,
      service: `service-${i}`,
      host: `host-${i % 300}`,
      attrs: { [`key-${i % 300}`]: i },
    });
    for (let from = 0; from < count; from += 500) {
      batch.beginRequest(organization, RECEIVED_AT_MS);
      format.decode(
        encoder.encode(JSON.stringify(Array.from({ length: 500 }, (_, i) => message(from + i)))),
        batch,
        new Set(),
      );
      batch.keepRequest();
    }
    await insert(batch, 1n << 22n);
    const result = await stores.clickhouse.query({
      query: `SELECT countIf(service = concat('service-', substring(message, 2)) AND host = concat('host-', toString(n % 300))
                AND attrs = map(concat('key-', toString(n % 300)), toString(n)) AND attr_json_keys = [concat('key-', toString(n % 300))]) AS right, count() AS all
              FROM (SELECT *, toUInt32(substring(message, 2)) AS n FROM logs WHERE organization_id = 900)`,
      format: "JSONEachRow",
    });
    expect(await result.json<unknown>()).toEqual([{ right: String(count), all: String(count) }]);
  });
});

describe("a request that is taken back", () => {
  test("leaves no trace in the batch, not even in its dictionaries", async () => {
    const kept = { message: "kept", service: "a", attrs: { k: 1 } };
    const write = (bodies: readonly unknown[]): Uint8Array => {
      const batch = new LogBatch();
      for (const body of bodies) {
        batch.beginRequest(7, RECEIVED_AT_MS);
        try {
          format.decode(encoder.encode(JSON.stringify(body)), batch, new Set());
          batch.keepRequest();
        } catch {
          batch.rewindRequest();
        }
      }
      const out = new ByteBuffer();
      batch.writeTo(out, 1n, LOG_ID_STEP);
      return out.view().slice();
    };
    const refused = [
      { message: "secret", service: "secret", host: "secret", attrs: { secret: { secret: 1 } } },
      { message: "", service: "secret" },
    ];
    expect(write([kept, refused, kept])).toEqual(write([kept, kept]));
  });
});
