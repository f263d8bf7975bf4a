import { afterAll, beforeAll, expect, test } from "bun:test";
import { LogBatch } from "../../ingest/log-batch.ts";
import { LOG_ID_STEP } from "../../ingest/log-id.ts";
import type { EntrySpan } from "../../ingest/log-store.ts";
import { ByteBuffer } from "../../ingest/native/byte-buffer.ts";
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
function blockOf(firstId: bigint, organizations: readonly number[]): Uint8Array {
  const batch = new LogBatch();
  for (const organization of organizations) {
    batch.beginRequest(organization, RECEIVED_MS);
    batch.message.append("entry");
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
