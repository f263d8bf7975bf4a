/** Requests of one record of the write-ahead log, some of which others have stored since the log was given up. */

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { NativeFormat } from "../../ingest/decode/native.ts";
import { requestIdentity, requestKeys } from "../../ingest/dedupe/request-keys.ts";
import { type Ingest, type IngestOptions, openIngest } from "../../ingest/ingest.ts";
import type { LogStore } from "../../ingest/log-store.ts";
import { createClickHouseLogStore } from "../../src/storage/clickhouse-log-store.ts";
import { eventually } from "../harness/eventually.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../harness/temporary-directory.ts";
import { SILENT_OBSERVER } from "./silent-observer.ts";

const CREDENTIAL = "token:1";
const encoder = new TextEncoder();
const format = new NativeFormat();

const away = (): Promise<never> => Promise.reject(new Error("connection refused"));
const AWAY: LogStore = { insert: away, find: away };

/** A request under a name of its own; null for one that has none. */
interface Sent {
  readonly name: string | null;
  readonly messages: readonly string[];
  readonly organizationId: number;
}

let stores: TestStores;
let store: LogStore;
let directory: TemporaryDirectory;
const directories: TemporaryDirectory[] = [];
let instance = 0;
let [own, foreign] = [0, 0];

beforeAll(async () => {
  stores = await openTestStores();
  store = createClickHouseLogStore(stores.clickhouseEndpoint);
});

beforeEach(() => {
  own = foreign + 1;
  foreign = own + 1;
  directory = temporaryDirectory();
  directories.push(directory);
});

afterAll(async () => {
  await stores.close();
  for (const each of directories) each[Symbol.dispose]();
});

function open(options: Partial<IngestOptions>): Promise<Ingest> {
  return openIngest({
    directory: directory.path,
    store,
    observer: SILENT_OBSERVER,
    instance: ++instance,
    walMaxBytes: 2 ** 20,
    maxInFlightBytes: 2 ** 20,
    dedupeWindowMs: 60_000,
    dedupeMaxKeys: 1000,
    now: Date.now,
    onFatal: (error) => {
      throw error;
    },
    ...options,
  });
}

function send(ingest: Ingest, { name, messages, organizationId }: Sent): Promise<unknown> {
  const entries = messages.map((message, i) => ({ message, event_id: i === 0 ? message : undefined }));
  const body = encoder.encode(JSON.stringify(entries));
  return ingest.ingest({
    organizationId,
    format: "native",
    bytes: body.length,
    keys: name === null ? null : requestKeys(organizationId, CREDENTIAL, name, body),
    decode: (batch, skip) => format.decode(body, batch, skip),
  });
}

/** Leaves a log whose only record holds all of these requests, none of which the store has. */
async function leave(requests: readonly Sent[]): Promise<void> {
  const batches: number[] = [];
  const ingest = await open({
    store: AWAY,
    observer: { ...SILENT_OBSERVER, committed: (_rows, count) => batches.push(count) },
  });
  await Promise.all(requests.map((request) => send(ingest, request)));
  await ingest.close(1);
  expect(batches).toEqual([requests.length]);
}

const taken = (requests: readonly Sent[]): Uint32Array[] =>
  requests.map(({ name, organizationId }) => requestIdentity(organizationId, CREDENTIAL, name ?? ""));

async function stored(): Promise<string[]> {
  const result = await stores.clickhouse.query({
    query: "SELECT message FROM logs WHERE organization_id IN {organizations: Array(UInt32)} ORDER BY id",
    query_params: { organizations: [own, foreign] },
    format: "JSONEachRow",
  });
  return (await result.json<{ message: string }>()).map(({ message }) => message);
}

/** Requests of several lengths and two organisations, with one between them that has no name. */
function requests(): Sent[] {
  return [
    { name: "one", organizationId: own, messages: ["a1", "a2"] },
    { name: null, organizationId: own, messages: ["b1", "b2", "b3"] },
    { name: "one", organizationId: foreign, messages: ["c1"] },
    { name: "two", organizationId: own, messages: ["d1", "d2", "d3", "d4"] },
    { name: "three", organizationId: own, messages: ["e1", "e2"] },
  ];
}

const messagesOf = (sent: readonly Sent[]): string[] => sent.flatMap(({ messages }) => [...messages]);

test.each([0, 2, 3, 4])(
  "of a record exactly the rows of request %p, which was stored elsewhere, are left out",
  async (index) => {
    const sent = requests();
    await leave(sent);
    const next = await open({ takenOver: async () => taken(sent.slice(index, index + 1)) });
    await next.close(10_000);
    expect(await stored()).toEqual(messagesOf(sent.toSpliced(index, 1)));
  },
);

test("all requests of a record that were stored elsewhere are left out, and what has no name stays", async () => {
  const sent = requests();
  await leave(sent);
  const next = await open({ takenOver: async () => taken(sent.filter(({ name }) => name !== null)) });
  await next.close(10_000);
  expect(await stored()).toEqual(messagesOf(sent.filter(({ name }) => name === null)));
});

test("a record of which nothing is left is done with: what comes behind it is stored", async () => {
  const sent = requests().filter(({ name }) => name !== null);
  await leave(sent);
  const next = await open({ takenOver: async () => taken(sent) });
  await send(next, { name: "late", organizationId: own, messages: ["z"] });
  await next.close(10_000);
  expect(await stored()).toEqual(["z"]);
  expect(next.wal.ledger.flushedThrough).toBe(next.wal.durableEnd);
});

test("the rows of a request that was repeated in part are those that it stored", async () => {
  const first = { name: "first", organizationId: own, messages: ["a1", "a2"] };
  // Of the second its first entry is a repetition of one in the batch.
  const second = { name: "second", organizationId: own, messages: ["a1", "b2", "b3"] };
  const third = { name: "third", organizationId: own, messages: ["c1", "c2"] };
  await leave([first, second, third]);
  const next = await open({ takenOver: async () => taken([second]) });
  await next.close(10_000);
  expect(await stored()).toEqual(["a1", "a2", "c1", "c2"]);
});

test("nothing of the log goes out before it is known who has stored what, however often that has to be asked", async () => {
  const sent = requests();
  await leave(sent);
  const failures: number[] = [];
  let isExecuting = true;
  let asked = 0;
  const next = await open({
    observer: { ...SILENT_OBSERVER, insertFailed: (_error, attempt) => failures.push(attempt) },
    takenOver: async () => {
      asked++;
      if (isExecuting) throw new Error("a request that this log has lost is being executed elsewhere");
      return taken(sent.slice(3, 4));
    },
  });
  await eventually("it has been asked several times", () => asked > 2);
  expect(await stored()).toEqual([]);
  isExecuting = false;
  await next.close(10_000);
  expect(await stored()).toEqual(messagesOf(sent.toSpliced(3, 1)));
  expect(failures.slice(0, 2)).toEqual([1, 2]);
});
