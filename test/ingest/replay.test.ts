/**
 * What an earlier process left in the write-ahead log, with a store that has some of it and remembers no tokens, as
 * after a power cut, and with ledgers that something happened to.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { NativeFormat } from "../../ingest/decode/native.ts";
import { type Ingest, openIngest } from "../../ingest/ingest.ts";
import type { LogStore } from "../../ingest/log-store.ts";
import { createClickHouseLogStore } from "../../src/storage/clickhouse-log-store.ts";
import { eventually } from "../harness/eventually.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../harness/temporary-directory.ts";
import { SILENT_OBSERVER } from "./silent-observer.ts";

const DAY_MS = 86_400_000;
const encoder = new TextEncoder();
const format = new NativeFormat();

let stores: TestStores;
let store: LogStore;
let directory: TemporaryDirectory;
const directories: TemporaryDirectory[] = [];
let organization = 0;
let instance = 0;

beforeAll(async () => {
  stores = await openTestStores();
  store = createClickHouseLogStore(stores.clickhouseEndpoint);
});

function newTenant(): void {
  organization++;
  directory = temporaryDirectory();
  directories.push(directory);
}

beforeEach(newTenant);

afterAll(async () => {
  await stores.close();
  for (const each of directories) each[Symbol.dispose]();
});

/** A server's ingest on the directory of the test; each start has a number of its own, as in production. */
function start(each: Partial<LogStore> = {}, now: () => number = Date.now): Promise<Ingest> {
  return openIngest({
    directory: directory.path,
    store: { ...store, ...each },
    observer: SILENT_OBSERVER,
    instance: ++instance,
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

async function send(ingest: Ingest, messages: readonly string[]): Promise<void> {
  const body = encoder.encode(JSON.stringify(messages.map((message) => ({ message }))));
  await ingest.ingest({
    organizationId: organization,
    format: "native",
    bytes: body.length,
    keys: null,
    decode: (batch, skip) => format.decode(body, batch, skip),
  });
}

const command = (query: string) => stores.clickhouse.command({ query });

async function stored(): Promise<string[]> {
  const result = await stores.clickhouse.query({
    query: "SELECT message FROM logs WHERE organization_id = {organization: UInt32} ORDER BY id",
    query_params: { organization },
    format: "JSONEachRow",
  });
  return (await result.json<{ message: string }>()).map(({ message }) => message);
}

/** What a power cut does to the store's memory of tokens, which is never synced. */
async function forgetTokens(): Promise<void> {
  const result = await stores.clickhouse.query({
    query:
      "SELECT data_paths[1] AS path FROM system.tables WHERE database = currentDatabase() AND name = 'logs'",
    format: "JSONEachRow",
  });
  const [table] = await result.json<{ path: string }>();
  const path = join(table?.path ?? "", "deduplication_logs");
  await command("DETACH TABLE logs SYNC");
  const files = readdirSync(path);
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) rmSync(join(path, file));
  await command("ATTACH TABLE logs");
}

/** Takes the insert, and dies before it can say so. */
const answerLost: Partial<LogStore> = {
  insert: async (...insert) => {
    await store.insert(...insert);
    throw new Error("connection reset");
  },
  find: () => Promise.reject(new Error("connection refused")),
};

/** A server whose insert arrives and whose ledger never hears of it. */
async function dieAfterInsert(
  messages: readonly string[],
  receivedAt: readonly number[] = [],
): Promise<void> {
  let now: number | undefined;
  const ingest = await start(answerLost, () => now ?? Date.now());
  const sent = messages.map((message, index) => {
    // Read while the request is taken in.
    now = receivedAt[index];
    return send(ingest, [message]);
  });
  await Promise.all(sent);
  await eventually("the rows are in the store", async () => (await stored()).length === messages.length);
  await ingest.close(1);
}

describe("an insert whose answer was lost with the process", () => {
  test("is not repeated by a store that has forgotten its token", async () => {
    await dieAfterInsert(["a", "b"]);
    await forgetTokens();
    const next = await start();
    await send(next, ["c"]);
    await next.close(10_000);
    expect(await stored()).toEqual(["a", "b", "c"]);
  });

  test("is completed by exactly the rows that are missing, whatever tokens the store remembers", async () => {
    for (const forget of [true, false]) {
      newTenant();
      const today = Math.floor(Date.now() / DAY_MS) * DAY_MS + 1000;
      // Two days in turn, which one insert makes into a part each.
      const days = [today, today - DAY_MS, today - DAY_MS, today, today - DAY_MS];
      await dieAfterInsert(["a", "b", "c", "d", "e"], days);
      await command(
        `ALTER TABLE logs DELETE WHERE organization_id = ${organization} AND toDate(received_at) = toDate(${today / 1000}) SETTINGS mutations_sync = 2`,
      );
      expect(await stored()).toEqual(["b", "c", "e"]);
      if (forget) await forgetTokens();
      const next = await start();
      await next.close(10_000);
      expect(await stored()).toEqual(["a", "b", "c", "d", "e"]);
    }
  });

  test("is made good when the store remembers its token and not its rows", async () => {
    await dieAfterInsert(["a", "b"]);
    await command(
      `ALTER TABLE logs DELETE WHERE organization_id = ${organization} SETTINGS mutations_sync = 2`,
    );
    expect(await stored()).toEqual([]);
    const next = await start();
    await next.close(10_000);
    expect(await stored()).toEqual(["a", "b"]);
  });

  test("is not repeated by the same process either: the store may have lost its power alone", async () => {
    let isAnswered = true;
    const ingest = await start({
      insert: async (...insert) => {
        await store.insert(...insert);
        if (!isAnswered) return;
        isAnswered = false;
        await forgetTokens();
        throw new Error("connection reset");
      },
    });
    await send(ingest, ["a", "b"]);
    await ingest.close(10_000);
    expect(await stored()).toEqual(["a", "b"]);
  });

  test("counts once when it is still on its way and arrives after its repetition", async () => {
    const late: (() => Promise<void>)[] = [];
    const dying = await start({
      insert: ([...blocks], token) => {
        const copies = blocks.map((block) => block.slice());
        late.push(() => store.insert(copies, token, new AbortController().signal));
        return Promise.reject(new Error("connection reset"));
      },
      find: () => Promise.reject(new Error("connection refused")),
    });
    await send(dying, ["a", "b"]);
    await eventually("the insert is under way", () => late.length > 0);
    // Behind it: repeated together with this one it would be another insert.
    await send(dying, ["c"]);
    await dying.close(1);
    const next = await start();
    await next.close(10_000);
    expect(await stored()).toEqual(["a", "b", "c"]);
    await late[0]?.();
    expect(await stored()).toEqual(["a", "b", "c"]);
  });
});

describe("a ledger", () => {
  const SLOT_BYTES = 4096;
  /** More than one wrong byte: that would be set right. */
  const overwrite =
    (...places: number[]) =>
    (path: string): void => {
      const bytes = readFileSync(path);
      for (const place of places) bytes.fill(0x5a, place, place + 8);
      writeFileSync(path, bytes);
    };
  const damages: Record<string, (path: string) => void> = {
    removed: (path) => rmSync(path),
    emptied: (path) => truncateSync(path),
    "cut within its first slot": (path) => truncateSync(path, 40),
    "cut within its second slot": (path) => truncateSync(path, SLOT_BYTES + 40),
    "of zeros": (path) => writeFileSync(path, new Uint8Array(2 * SLOT_BYTES)),
    "with wrong bytes in its first slot": overwrite(20),
    "with wrong bytes in its second slot": overwrite(SLOT_BYTES + 20),
    "with wrong bytes in both slots": overwrite(20, SLOT_BYTES + 20),
  };

  for (const [name, damage] of Object.entries(damages))
    test(`${name} loses nothing and doubles nothing of what is still in the log`, async () => {
      const first = await start();
      await send(first, ["a", "b"]);
      await eventually("a and b are stored", async () => (await stored()).length === 2);
      await send(first, ["c"]);
      await first.close(10_000);
      // This one is interrupted, and then there is what was never tried.
      const second = await start(answerLost);
      await send(second, ["d"]);
      await eventually("d is stored", async () => (await stored()).length === 4);
      await send(second, ["e"]);
      await second.close(1);
      damage(join(directory.path, "ledger"));
      const next = await start();
      await send(next, ["f"]);
      await next.close(10_000);
      expect(await stored()).toEqual(["a", "b", "c", "d", "e", "f"]);
    });
});

describe("nothing is asked of the store", () => {
  const counting = (asked: string[]): Partial<LogStore> => ({
    find: async (span, signal) => {
      asked.push(`${span.firstId}-${span.lastId}`);
      return store.find(span, signal);
    },
  });

  test("by a server that runs, nor by one that starts after a clean stop", async () => {
    const asked: string[] = [];
    for (const message of ["a", "b"]) {
      const ingest = await start(counting(asked));
      await send(ingest, [message]);
      await ingest.close(10_000);
    }
    expect(await stored()).toEqual(["a", "b"]);
    expect(asked).toEqual([]);
  });

  test("twice about what it has: the next start goes on behind it", async () => {
    await dieAfterInsert(["a"]);
    const asked: string[] = [];
    await (await start(counting(asked))).close(10_000);
    expect(asked).toHaveLength(1);
    await (await start(counting(asked))).close(10_000);
    expect(asked).toHaveLength(1);
  });
});
