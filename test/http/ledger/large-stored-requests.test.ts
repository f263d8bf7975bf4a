/**
 * Requests with a key whose entries are so many that they are stored in pieces, on instances that die before the row of
 * the key says that they are stored: once all the same, and whole.
 */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { copyFileSync, cpSync, readdirSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { openWal } from "../../../ingest/wal/wal.ts";
import { eventually } from "../../harness/eventually.ts";
import { letPass } from "../../harness/let-pass.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../harness/temporary-directory.ts";
import { type IngestInstance, startIngestInstance, timesStored } from "./ingest-instance.ts";
import { makeOrganization, outcomeOf } from "./thing-server.ts";

const HOLD_MS = 3_600_000;
const LEASE_OVER_MS = 60_000;
/** With such a text each, 300 entries take two pieces. */
const TEXT = "x".repeat(20_000);
const ENTRIES = 300;

let stores: TestStores;
let organizationId: number;
let instances = 0;
const directories: TemporaryDirectory[] = [];
const running = new Set<IngestInstance>();

beforeAll(async () => {
  stores = await openTestStores();
  organizationId = await makeOrganization(stores.postgres);
});
afterAll(() => stores.close());
afterEach(async () => {
  for (const instance of running) await instance.die();
  running.clear();
  for (const directory of directories.splice(0)) directory[Symbol.dispose]();
});

function newDirectory(): string {
  const directory = temporaryDirectory();
  directories.push(directory);
  return directory.path;
}

async function start(directory = newDirectory(), isStoreAway = false): Promise<IngestInstance> {
  const options = { directory, organizationId, instance: ++instances, holdMs: HOLD_MS, isStoreAway };
  const instance = await startIngestInstance(stores, options);
  running.add(instance);
  return instance;
}

const messagesOf = (key: string): string[] => Array.from({ length: ENTRIES }, (_, i) => `${key} ${i}`);

async function post(instance: IngestInstance, key: string): Promise<string> {
  const entries = messagesOf(key).map((message) => ({ message, attrs: { text: TEXT } }));
  return outcomeOf(await instance.send("/api/v1/logs/ingest", key, JSON.stringify(entries)));
}

/**
 * The directory of an instance that made the request durable, in pieces, and died before anybody else knew. What its log
 * had noted before of what goes to the store is in `ledger-before`.
 */
async function leaveEntries(key: string): Promise<string> {
  const directory = newDirectory();
  const dead = await start(directory, true);
  copyFileSync(join(directory, "wal", "ledger"), join(directory, "ledger-before"));
  dead.stuck = "after";
  void post(dead, key);
  await eventually("the request is stuck", () => dead.stuckRequests === 1);
  running.delete(dead);
  await dead.die();
  await letPass(stores.postgres, "idempotency_keys", LEASE_OVER_MS);
  expect((await pieces(directory)).length).toBeGreaterThan(1);
  return directory;
}

/** Where the records of an instance's log begin. */
async function pieces(directory: string): Promise<number[]> {
  const copy = newDirectory();
  cpSync(join(directory, "wal"), copy, { recursive: true });
  const wal = await openWal({
    directory: copy,
    maxBytes: 2 ** 28,
    segmentBytes: 2 ** 26,
    keyRetentionMs: 0,
    clock: Date.now,
    onFatal: () => undefined,
  });
  const { records } = await wal.read(0, { maxBytes: 2 ** 26, maxRecords: 100 });
  await wal.close();
  return records.map(({ start: at }) => at);
}

/** How often each of the request's entries is stored, once every instance has flushed. */
async function timesOf(key: string): Promise<Set<number>> {
  for (const instance of running) {
    await eventually("the log store has everything", () => instance.isFlushed());
    await instance.die();
  }
  running.clear();
  return new Set(await timesStored(stores, messagesOf(key)));
}

const HELD_BACK = "503 UNAVAILABLE";
const ONCE = new Set([1]);

test("its own instance finds every piece, and answers without storing anything again", async () => {
  const key = crypto.randomUUID();
  const back = await start(await leaveEntries(key));
  expect(await post(back, key)).toBe("202 replayed");
  expect(await timesOf(key)).toEqual(ONCE);
});

test("another instance waits for the one that has the pieces, and then answers", async () => {
  const key = crypto.randomUUID();
  const directory = await leaveEntries(key);
  const other = await start();
  expect(await post(other, key)).toBe(HELD_BACK);
  const back = await start(directory);
  await back.settle();
  expect(await post(other, key)).toBe("202 replayed");
  expect(await timesOf(key)).toEqual(ONCE);
});

test("pieces behind which the process was killed are nothing, and the request is stored by whoever gets it", async () => {
  const key = crypto.randomUUID();
  const directory = await leaveEntries(key);
  const [, second = 0] = await pieces(directory);
  const [segment = ""] = readdirSync(join(directory, "wal")).filter((name) => name.endsWith(".wal"));
  truncateSync(join(directory, "wal", segment), second);
  copyFileSync(join(directory, "ledger-before"), join(directory, "wal", "ledger"));
  const other = await start();
  expect(await post(other, key)).toBe(HELD_BACK);
  const back = await start(directory);
  await back.settle();
  expect(await post(other, key)).toBe("202");
  expect(await post(back, key)).toBe("202 replayed");
  expect(await timesOf(key)).toEqual(ONCE);
});

test("an instance that comes back after the hold leaves out every piece that was stored elsewhere", async () => {
  const key = crypto.randomUUID();
  const directory = await leaveEntries(key);
  const other = await start();
  expect(await post(other, key)).toBe(HELD_BACK);
  await letPass(stores.postgres, "idempotency_keys", HOLD_MS);
  expect(await post(other, key)).toBe("202");
  const back = await start(directory);
  expect(await post(back, key)).toBe("202 replayed");
  expect(await timesOf(key)).toEqual(ONCE);
});
