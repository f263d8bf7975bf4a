/** Entries that moved to the archive before the server that stored them heard of it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { NativeFormat } from "../../ingest/decode/native.ts";
import { type Ingest, type LogStore, openIngest } from "../../ingest/index.ts";
import { findArchivedEntries } from "../../src/archive/archived-entries.ts";
import { createClickHouseLogStore } from "../../src/storage/clickhouse-log-store.ts";
import { eventually } from "../harness/eventually.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../harness/temporary-directory.ts";
import { SILENT_OBSERVER } from "../ingest/silent-observer.ts";
import { archivedIds, DAY_MS, hotIds, makeOrganization, NOW_MS, testArchiver } from "./archive-setup.ts";

const format = new NativeFormat();
let stores: TestStores;
let temporary: TemporaryDirectory;
beforeAll(async () => {
  stores = await openTestStores();
  temporary = temporaryDirectory();
});
afterAll(async () => {
  await stores.close();
  temporary[Symbol.dispose]();
});

function start(instance: number, store: LogStore, now: () => number): Promise<Ingest> {
  return openIngest({
    directory: join(temporary.path, "wal"),
    store,
    observer: SILENT_OBSERVER,
    instance,
    walMaxBytes: 2 ** 20,
    maxInFlightBytes: 2 ** 20,
    dedupeWindowMs: 60_000,
    dedupeMaxKeys: 1000,
    now,
    onFatal: (error) => {
      throw error;
    },
  });
}

async function send(ingest: Ingest, organizationId: number, message: string): Promise<void> {
  const body = new TextEncoder().encode(JSON.stringify([{ message }]));
  const decode: Parameters<Ingest["ingest"]>[0]["decode"] = (batch, skip) => format.decode(body, batch, skip);
  await ingest.ingest({ organizationId, format: "native", bytes: body.length, keys: null, decode });
}

test("an interrupted insert of which a part has been archived and a part has not is not repeated", async () => {
  const organization = await makeOrganization(stores);
  const { run, files } = testArchiver(stores, temporary.path);
  const { clickhouseEndpoint: endpoint, postgres: sql } = stores;
  const store = createClickHouseLogStore(endpoint, {
    findArchived: (span, signal) => findArchivedEntries({ sql, endpoint, files }, span, signal),
  });
  const answerLost: LogStore = {
    insert: async (...insert) => {
      await store.insert(...insert);
      throw new Error("connection reset");
    },
    find: () => Promise.reject(new Error("connection refused")),
  };
  let nowMs = NOW_MS - 40 * DAY_MS;
  const first = await start(1, answerLost, () => nowMs);
  const sent = [send(first, organization, "old"), send(first, organization, "old too")];
  nowMs = NOW_MS - DAY_MS;
  await Promise.all([...sent, send(first, organization, "fresh")]);
  await eventually("the rows are stored", async () => (await hotIds(stores, organization)).length === 3);
  await first.close(1);
  await run();
  const hot = await hotIds(stores, organization);
  const archived = await archivedIds(stores, organization, files);
  expect([hot.length, archived.length]).toEqual([1, 2]);
  // Under the old token, and where the store has forgotten it.
  const second = await start(
    2,
    { ...store, insert: (blocks, _, signal) => store.insert(blocks, "new", signal) },
    Date.now,
  );
  await second.close(10_000);
  expect(await hotIds(stores, organization)).toEqual(hot);
  expect(await archivedIds(stores, organization, files)).toEqual(archived);
});
