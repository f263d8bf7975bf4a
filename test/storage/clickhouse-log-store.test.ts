import { afterAll, beforeAll, expect, test } from "bun:test";
import { LogBatch } from "../../ingest/log-batch.ts";
import { LOG_ID_STEP } from "../../ingest/log-id.ts";
import type { EntrySpan } from "../../ingest/log-store.ts";
import { ByteBuffer } from "../../ingest/native/byte-buffer.ts";
import { TableStatements } from "../../src/log-store/table-statements.ts";
import { createClickHouseLogStore } from "../../src/storage/clickhouse-log-store.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";

const RECEIVED_MS = Date.parse("2026-11-21T23:59:59.999Z");
const signal = new AbortController().signal;
let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

/** Entries of these organisations, the first with the id, the others with those that follow. */
function blockOf(firstId: bigint, organizations: readonly number[], message = "entry"): Uint8Array {
  const batch = new LogBatch();
  for (const organization of organizations) {
    batch.beginRequest(organization, RECEIVED_MS);
    batch.message.append(message);
    batch.endRow();
    batch.keepRequest();
  }
  const out = new ByteBuffer();
  batch.writeTo(out, firstId, LOG_ID_STEP);
  return out.view();
}

const idOf = (sequence: number, instance: number): bigint => BigInt(sequence * LOG_ID_STEP + instance);
const spanOf = (firstId: bigint, lastId: bigint): EntrySpan => ({
  firstId,
  lastId,
  organizations: { min: 1, max: 9 },
  receivedMs: { min: RECEIVED_MS, max: RECEIVED_MS },
});

test("entries are found by organisation and id, those of other instances between them are not", async () => {
  const store = createClickHouseLogStore(stores.clickhouseEndpoint);
  await store.insert([blockOf(idOf(100, 7), [3, 4, 3])], "a", signal);
  await store.insert([blockOf(idOf(100, 8), [3, 3])], "b", signal);
  await store.insert([blockOf(idOf(103, 7), [3])], "c", signal);
  expect(await store.find(spanOf(idOf(100, 7), idOf(102, 7)), signal)).toEqual(
    new Map([
      [3, new Set([idOf(100, 7), idOf(102, 7)])],
      [4, new Set([idOf(101, 7)])],
    ]),
  );
  expect(await store.find(spanOf(idOf(101, 7), idOf(101, 7)), signal)).toEqual(
    new Map([[4, new Set([idOf(101, 7)])]]),
  );
  expect(await store.find(spanOf(idOf(200, 7), idOf(300, 7)), signal)).toEqual(new Map());
});

test("ids of the whole range of 64 bits come back as they are", async () => {
  const store = createClickHouseLogStore(stores.clickhouseEndpoint);
  const id = 2n ** 64n - 1024n;
  await store.insert([blockOf(id, [5])], "last", signal);
  expect(await store.find(spanOf(id, id), signal)).toEqual(new Map([[5, new Set([id])]]));
});

test("nothing counts as stored or found before it is settled", async () => {
  const settled: string[] = [];
  let isBroken = false;
  const store = createClickHouseLogStore(stores.clickhouseEndpoint, {
    settle: async () => {
      if (isBroken) throw new Error("the disk is gone");
      settled.push("settled");
    },
  });
  await store.insert([blockOf(idOf(500, 1), [1])], "d", signal);
  expect(settled).toHaveLength(1);
  await store.find(spanOf(idOf(500, 1), idOf(500, 1)), signal);
  expect(settled).toHaveLength(2);
  isBroken = true;
  await expect(store.insert([blockOf(idOf(501, 1), [1])], "e", signal)).rejects.toThrow("the disk is gone");
  await expect(store.find(spanOf(idOf(501, 1), idOf(501, 1)), signal)).rejects.toThrow("the disk is gone");
});

/** Rows that the store would read for entries of an organisation that this is asked of. */
async function rowsToRead(organization: number, condition: string): Promise<number> {
  const answer = await stores.clickhouse.query({
    query: `EXPLAIN ESTIMATE SELECT message FROM logs WHERE organization_id = ${organization} AND ${condition}`,
    format: "JSONEachRow",
    clickhouse_settings: { use_skip_indexes_on_data_read: 0, use_query_condition_cache: 0 },
  });
  const parts = await answer.json<{ rows: string | number }>();
  return parts.reduce((sum, { rows }) => sum + Number(rows), 0);
}

test("a large insert has indexes of ids and of attributes at once, and those of messages with its first merge", async () => {
  const organization = 77;
  await stores.clickhouse.command({ query: "SYSTEM STOP MERGES logs" });
  try {
    const store = createClickHouseLogStore(stores.clickhouseEndpoint);
    const rows = 1_200;
    const block = blockOf(idOf(900, 3), new Array<number>(rows).fill(organization), "a word ".repeat(1_100));
    expect(block.length).toBeGreaterThan(8 * 1024 * 1024);
    await store.insert([block], "large", signal);
    expect(await rowsToRead(organization, "1")).toBe(rows);
    expect(await rowsToRead(organization, "id = 1")).toBe(0);
    expect(await rowsToRead(organization, "trace_id = 'nobodys'")).toBe(0);
    expect(await rowsToRead(organization, "attrs['key'] = 'nobodys'")).toBe(0);
    expect(await rowsToRead(organization, "lower(message) LIKE '%nobodys%'")).toBe(rows);
  } finally {
    await stores.clickhouse.command({ query: "SYSTEM START MERGES logs" });
  }
  await stores.clickhouse.command({ query: "OPTIMIZE TABLE logs FINAL" });
  expect(await rowsToRead(organization, "lower(message) LIKE '%nobodys%'")).toBe(0);
});

test("an ordinary insert has its words in the index at once, and of one that leaves them to a merge somebody is told", async () => {
  let told = 0;
  const store = createClickHouseLogStore(stores.clickhouseEndpoint, { onUnindexed: () => told++ });
  const statements = new TableStatements(stores.clickhouse);
  await statements.addWordIndex(signal);
  // What was there before is merged with its words.
  await stores.clickhouse.command({ query: "OPTIMIZE TABLE logs FINAL" });
  await stores.clickhouse.command({ query: "SYSTEM STOP MERGES logs" });
  const before = await statements.rowsWithoutWords(signal);
  await store.insert([blockOf(idOf(700, 7), [6, 6])], "small", signal);
  expect([await statements.rowsWithoutWords(signal), told]).toEqual([before, 0]);
  const large = Array.from({ length: 400_000 }, () => 6);
  await store.insert([blockOf(idOf(800, 7), large)], "without words", signal);
  expect([await statements.rowsWithoutWords(signal), told]).toEqual([before + large.length, 1]);
  await stores.clickhouse.command({ query: "SYSTEM START MERGES logs" });
});
