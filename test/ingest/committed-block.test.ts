/** What listeners hear of committed batches, against what the table holds. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { NativeFormat } from "../../ingest/decode/native.ts";
import {
  type CommittedBatch,
  CommittedBlock,
  type Ingest,
  indexedText,
  type LogStore,
  openIngest,
} from "../../ingest/index.ts";
import { createClickHouseLogStore } from "../../src/storage/clickhouse-log-store.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";
import { type NativeEntry, nativeEntry } from "./log-entry-arbitrary.ts";

const encoder = new TextEncoder();
const format = new NativeFormat();
let stores: TestStores;
let organizations = 0;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

interface Heard {
  readonly organizations: readonly number[];
  readonly lastId: bigint;
  readonly rows: readonly Record<string, unknown>[];
}

async function open(directory: string, heard: Heard[], store?: LogStore): Promise<Ingest> {
  const nothing = (): void => undefined;
  return openIngest({
    directory,
    store: store ?? createClickHouseLogStore(stores.clickhouseEndpoint),
    observer: {
      decoded: nothing,
      committed: nothing,
      commitFailed: nothing,
      inserted: nothing,
      insertFailed: nothing,
      releaseFailed: nothing,
    },
    instance: 5,
    walMaxBytes: 256 * 1024 * 1024,
    maxInFlightBytes: 64 * 1024 * 1024,
    dedupeWindowMs: 600_000,
    dedupeMaxKeys: 1000,
    now: Date.now,
    committed: { committed: (batch) => heard.push(hear(batch)) },
    onFatal: (error) => {
      throw error;
    },
  });
}

function hear({ organizations: ids, block, lastId }: CommittedBatch): Heard {
  const entries = new CommittedBlock(block);
  const rows = Array.from({ length: entries.rows }, (_, row) => {
    const [keys, texts, jsonKeys] = entries.attributes(row);
    return {
      organization_id: entries.organizationId(row),
      id: entries.id(row).toString(),
      ts: entries.ts(row).toString(),
      received_at: entries.receivedAt(row).toString(),
      level: entries.level(row),
      service: indexedText(entries.service, row),
      source: indexedText(entries.source, row),
      host: indexedText(entries.host, row),
      message: entries.messageText(row),
      trace_id: entries.traceId(row),
      span_id: entries.spanId(row),
      event_id: entries.eventId(row),
      keys,
      texts,
      attr_json_keys: jsonKeys,
    };
  });
  return { organizations: [...ids].toSorted(), lastId, rows };
}

function send(ingest: Ingest, organizationId: number, entries: readonly object[]) {
  const body = encoder.encode(JSON.stringify(entries));
  return ingest.ingest({
    organizationId,
    format: "native",
    bytes: body.length,
    keys: null,
    decode: (batch, skip) => format.decode(body, batch, skip),
  });
}

async function stored(organizationId: number): Promise<Record<string, unknown>[]> {
  const result = await stores.clickhouse.query({
    query: `SELECT organization_id, id, toUnixTimestamp64Nano(ts) AS ts, toUnixTimestamp64Milli(received_at) AS received_at, level,
                   service, source, host, message, trace_id, span_id, event_id, mapKeys(attrs) AS keys,
                   mapValues(attrs) AS texts, attr_json_keys
            FROM logs WHERE organization_id = {organization: UInt32} ORDER BY id`,
    query_params: { organization: organizationId },
    format: "JSONEachRow",
    clickhouse_settings: { output_format_json_quote_64bit_integers: 1 },
  });
  return result.json<Record<string, unknown>>();
}

describe("a listener", () => {
  test("hears of every entry as the table will hold it, in the order of ids", async () => {
    using directory = temporaryDirectory();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(nativeEntry, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 6 }),
        async (requests: NativeEntry[][]) => {
          const organizationId = ++organizations;
          const heard: Heard[] = [];
          const ingest = await open(`${directory.path}/${organizationId}`, heard);
          await Promise.all(requests.map((entries) => send(ingest, organizationId, entries)));
          await ingest.close(10_000);
          expect(heard.flatMap(({ rows }) => rows)).toEqual(await stored(organizationId));
          for (const { organizations: ids, lastId, rows } of heard) {
            expect(ids).toEqual([organizationId]);
            expect(lastId.toString()).toBe(String(rows.at(-1)?.id));
          }
        },
      ),
      { numRuns: 15 },
    );
  });

  test("hears whose entries are in a batch", async () => {
    using directory = temporaryDirectory();
    const heard: Heard[] = [];
    const ingest = await open(directory.path, heard);
    const [one, two] = [++organizations, ++organizations];
    await Promise.all([send(ingest, two, [{ message: "a" }]), send(ingest, one, [{ message: "b" }])]);
    expect(heard.map(({ organizations: ids }) => ids)).toEqual([[one, two]]);
    await ingest.close(1000);
  });

  test("hears before the request is answered, of nothing that was refused, and of no duplicate", async () => {
    using directory = temporaryDirectory();
    const heard: Heard[] = [];
    const ingest = await open(directory.path, heard);
    const organizationId = ++organizations;
    await expect(send(ingest, organizationId, [{ message: "fine" }, { message: 1 }])).rejects.toThrow();
    await send(ingest, organizationId, [{ message: "once", event_id: "e" }]);
    expect(heard).toHaveLength(1);
    await send(ingest, organizationId, [{ message: "once", event_id: "e" }]);
    await send(ingest, organizationId, [{ message: "next" }, { message: "once", event_id: "e" }]);
    expect(heard.flatMap(({ rows }) => rows.map(({ message }) => message))).toEqual(["once", "next"]);
    await ingest.close(1000);
  });

  test("finds its batches on the right side of the mark", async () => {
    using directory = temporaryDirectory();
    const heard: Heard[] = [];
    const ingest = await open(directory.path, heard);
    const organizationId = ++organizations;
    for (let i = 0; i < 20; i++) {
      const sending = send(ingest, organizationId, [{ message: "a" }, { message: "b" }]);
      await new Promise((resolve) =>
        i % 2 === 0 ? setImmediate(resolve) : queueMicrotask(() => resolve(null)),
      );
      const mark = ingest.idMark();
      const before = heard.length;
      await sending;
      for (const [at, { lastId, rows }] of heard.entries()) {
        if (at < before) expect(lastId).toBeLessThanOrEqual(mark);
        else expect(BigInt(String(rows[0]?.id))).toBeGreaterThan(mark);
      }
    }
    await ingest.close(1000);
  });
});
