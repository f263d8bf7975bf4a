/** The whole ingest side, from request to table, with the real write-ahead log and the real store. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NativeFormat } from "../../ingest/decode/native.ts";
import { requestKeys } from "../../ingest/dedupe/request-keys.ts";
import { IngestKeyReusedError, IngestRejectedError, IngestUnavailableError } from "../../ingest/errors.ts";
import { type Ingest, type IngestOptions, openIngest } from "../../ingest/ingest.ts";
import type { IngestResult } from "../../ingest/ingest-request.ts";
import type { LogStore } from "../../ingest/log-store.ts";
import { createClickHouseLogStore } from "../../src/storage/clickhouse-log-store.ts";
import { eventually } from "../harness/eventually.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { SILENT_OBSERVER } from "./silent-observer.ts";

const MINUTE_MS = 60_000;
const encoder = new TextEncoder();
const format = new NativeFormat();

/** Refuses every connection. */
const down: LogStore = {
  insert: () => Promise.reject(new Error("connection refused")),
  find: () => Promise.reject(new Error("connection refused")),
};

let stores: TestStores;
let store: LogStore;
let organizations = 0;
const directories: string[] = [];

beforeAll(async () => {
  stores = await openTestStores();
  store = createClickHouseLogStore(stores.clickhouseEndpoint);
});

afterAll(async () => {
  await stores.close();
  await Promise.all(directories.map((directory) => rm(directory, { recursive: true, force: true })));
});

async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "obs-ingest-"));
  directories.push(directory);
  return directory;
}

async function open(directory: string, options: Partial<IngestOptions> = {}): Promise<Ingest> {
  return openIngest({
    directory,
    store,
    observer: SILENT_OBSERVER,
    instance: 1,
    walMaxBytes: 64 * 1024 * 1024,
    maxInFlightBytes: 64 * 1024 * 1024,
    dedupeWindowMs: 10 * MINUTE_MS,
    dedupeMaxKeys: 1_000_000,
    now: Date.now,
    onFatal: (error) => {
      throw error;
    },
    ...options,
  });
}

function send(
  ingest: Ingest,
  organizationId: number,
  entries: readonly object[],
  name: string | null = null,
): Promise<IngestResult> {
  const body = encoder.encode(JSON.stringify(entries));
  return ingest.ingest({
    organizationId,
    format: "native",
    bytes: body.length,
    keys: name === null ? null : requestKeys(organizationId, "token:1", name, body),
    decode: (batch, skip) => format.decode(body, batch, skip),
  });
}

async function messages(organizationId: number): Promise<string[]> {
  const result = await stores.clickhouse.query({
    query: "SELECT message FROM logs WHERE organization_id = {organization: UInt32} ORDER BY message",
    query_params: { organization: organizationId },
    format: "JSONEachRow",
  });
  return (await result.json<{ message: string }>()).map((row) => row.message);
}

const numbered = (count: number, prefix = "m"): object[] =>
  Array.from({ length: count }, (_, i) => ({ message: `${prefix}${String(i).padStart(6, "0")}` }));
const texts = (entries: readonly object[]): string[] =>
  entries.map((entry) => JSON.parse(JSON.stringify(entry)).message);

describe("acknowledged entries", () => {
  test("are in the table exactly once, however many requests share a batch", async () => {
    const organization = ++organizations;
    const ingest = await open(await newDirectory());
    const requests = Array.from({ length: 50 }, (_, i) => numbered(20, `r${String(i).padStart(2, "0")}-`));
    const results = await Promise.all(requests.map((entries) => send(ingest, organization, entries)));
    expect(results).toEqual(requests.map(() => ({ accepted: 20, duplicates: 0, replayed: false })));
    await ingest.close(180_000);
    expect(await messages(organization)).toEqual(requests.flatMap(texts));
  });

  test("of a request that is refused after some of them were read are nobody's, and leave the batch to the next", async () => {
    const [refused, next] = [++organizations, ++organizations];
    const ingest = await open(await newDirectory());
    const failing = ingest.ingest({
      organizationId: refused,
      format: "native",
      bytes: 1,
      keys: null,
      decode: (batch) => {
        format.decode(encoder.encode(JSON.stringify(numbered(3, "refused "))), batch, new Set());
        throw new IngestRejectedError("the rest cannot be read", []);
      },
    });
    const taken = send(ingest, next, numbered(2));
    await expect(failing).rejects.toBeInstanceOf(IngestRejectedError);
    expect(await taken).toEqual({ accepted: 2, duplicates: 0, replayed: false });
    await ingest.close(180_000);
    expect(await messages(next)).toEqual(texts(numbered(2)));
    expect(await messages(refused)).toEqual([]);
  });

  test("of an event that comes again while its batch is being synced are stored once", async () => {
    const organization = ++organizations;
    const ingest = await open(await newDirectory());
    const entry = { message: "once", event_id: "a" };
    const first = send(ingest, organization, [entry]);
    // Behind the turn in which the sync begins.
    await new Promise((turn) => setImmediate(turn));
    const again = send(ingest, organization, [entry, { message: "new" }]);
    expect(await first).toEqual({ accepted: 1, duplicates: 0, replayed: false });
    expect(await again).toEqual({ accepted: 2, duplicates: 1, replayed: false });
    await ingest.close(180_000);
    expect(await messages(organization)).toEqual(["new", "once"]);
  });

  test("of different organizations in one batch stay with their owner", async () => {
    const [one, two] = [++organizations, ++organizations];
    const ingest = await open(await newDirectory());
    await Promise.all([send(ingest, one, numbered(3, "one")), send(ingest, two, numbered(3, "two"))]);
    await ingest.close(180_000);
    expect(await messages(one)).toEqual(texts(numbered(3, "one")));
    expect(await messages(two)).toEqual(texts(numbered(3, "two")));
  });

  test("become visible while more arrive, without a close", async () => {
    const organization = ++organizations;
    const ingest = await open(await newDirectory());
    await send(ingest, organization, numbered(5));
    await eventually("5 rows are visible", async () => (await messages(organization)).length === 5);
    await ingest.close(180_000);
  });
});

describe("a failing store", () => {
  test("gets every insert again until it succeeds, and holds each entry once", async () => {
    const organization = ++organizations;
    let failures = 4;
    const flaky: LogStore = {
      ...store,
      insert: async (blocks, token, signal) => {
        // Every other failure comes after the insert was carried out: its answer was lost.
        if (failures-- > 0) {
          if (failures % 2 === 0) await store.insert(blocks, token, signal);
          throw new Error("connection reset");
        }
        return store.insert(blocks, token, signal);
      },
    };
    const ingest = await open(await newDirectory(), { store: flaky });
    await Promise.all([
      send(ingest, organization, numbered(10, "a")),
      send(ingest, organization, numbered(10, "b")),
    ]);
    await ingest.close(180_000);
    expect(await messages(organization)).toEqual([...texts(numbered(10, "a")), ...texts(numbered(10, "b"))]);
  });

  test("delays nothing but visibility: the entries wait in the log over a restart", async () => {
    const organization = ++organizations;
    const directory = await newDirectory();
    const first = await open(directory, { store: down });
    await send(first, organization, numbered(100));
    await first.close(50);
    expect(await messages(organization)).toEqual([]);
    const second = await open(directory);
    await second.close(180_000);
    expect(await messages(organization)).toEqual(texts(numbered(100)));
  });

  test("that took an insert whose answer was lost in a restart does not take it twice", async () => {
    const organization = ++organizations;
    const directory = await newDirectory();
    const forgetful: LogStore = {
      ...store,
      insert: async (blocks, token, signal) => {
        await store.insert(blocks, token, signal);
        throw new Error("connection reset");
      },
    };
    const first = await open(directory, { store: forgetful });
    await send(first, organization, numbered(100));
    await eventually("100 rows are visible", async () => (await messages(organization)).length === 100);
    // More arrives before the restart: the replayed insert must keep its old bounds.
    await send(first, organization, numbered(50, "n"));
    await first.close(50);
    const second = await open(directory);
    await second.close(180_000);
    expect(await messages(organization)).toEqual([...texts(numbered(100)), ...texts(numbered(50, "n"))]);
  });
});

describe("event ids", () => {
  const event = (id: string, message = id): object => ({ message, event_id: id });

  test("store a repeated event once: in one request, in one batch, later, and after a restart", async () => {
    const organization = ++organizations;
    const directory = await newDirectory();
    const first = await open(directory);
    expect(await send(first, organization, [event("a"), event("b"), event("a")])).toEqual({
      accepted: 3,
      duplicates: 1,
      replayed: false,
    });
    const together = await Promise.all([
      send(first, organization, [event("c")]),
      send(first, organization, [event("c"), { message: "d" }]),
    ]);
    expect(together.map((result) => result.duplicates)).toEqual([0, 1]);
    expect(await send(first, organization, [event("a")])).toEqual({
      accepted: 1,
      duplicates: 1,
      replayed: false,
    });
    await first.close(180_000);
    const second = await open(directory);
    expect(await send(second, organization, [event("a"), event("e")])).toEqual({
      accepted: 2,
      duplicates: 1,
      replayed: false,
    });
    await second.close(180_000);
    expect(await messages(organization)).toEqual(["a", "b", "c", "d", "e"]);
  });

  test("are remembered over a restart also when the entries had not reached the store", async () => {
    const organization = ++organizations;
    const directory = await newDirectory();
    const first = await open(directory, { store: down });
    await send(first, organization, [event("a")]);
    await first.close(50);
    const second = await open(directory);
    expect(await send(second, organization, [event("a")])).toEqual({
      accepted: 1,
      duplicates: 1,
      replayed: false,
    });
    await second.close(180_000);
    expect(await messages(organization)).toEqual(["a"]);
  });

  test("of another organization are other events", async () => {
    const [one, two] = [++organizations, ++organizations];
    const ingest = await open(await newDirectory());
    await send(ingest, one, [event("a")]);
    expect(await send(ingest, two, [event("a")])).toEqual({ accepted: 1, duplicates: 0, replayed: false });
    await ingest.close(180_000);
  });

  test("are forgotten when the window has passed", async () => {
    const organization = ++organizations;
    let now = Date.now();
    const ingest = await open(await newDirectory(), { now: () => now });
    await send(ingest, organization, [event("a")]);
    now += 16 * MINUTE_MS;
    expect(await send(ingest, organization, [event("a")])).toEqual({
      accepted: 1,
      duplicates: 0,
      replayed: false,
    });
    await ingest.close(180_000);
  });

  test("beyond what memory takes make it forget what came first, over a restart as well, and nothing of the last ten minutes", async () => {
    const organization = ++organizations;
    const directory = await newDirectory();
    let now = Date.now();
    const options = { now: () => now, dedupeMaxKeys: 8, dedupeWindowMs: 24 * 60 * MINUTE_MS };
    let ingest = await open(directory, options);
    const ids = Array.from({ length: 12 }, (_, i) => `event ${i}`);
    for (const id of ids) {
      now += 5 * MINUTE_MS;
      expect(await send(ingest, organization, [event(id)])).toMatchObject({ duplicates: 0 });
    }
    for (const again of [false, true]) {
      if (again) {
        await ingest.close(180_000);
        ingest = await open(directory, options);
      }
      expect(
        await send(
          ingest,
          organization,
          ids.slice(6).map((id) => event(id)),
        ),
      ).toMatchObject({ duplicates: 6 });
    }
    expect(ingest.events.reachMs).toBeGreaterThanOrEqual(10 * MINUTE_MS);
    expect(await send(ingest, organization, [event("event 0")])).toMatchObject({ duplicates: 0 });
    await ingest.close(180_000);
  });

  test("beyond what may be remembered are refused, entries without one are not", async () => {
    const organization = ++organizations;
    const ingest = await open(await newDirectory(), { dedupeMaxKeys: 2 });
    await send(ingest, organization, [event("a"), event("b")]);
    expect(await refusal(send(ingest, organization, [event("c")]))).toBe("duplicates_full");
    expect(await send(ingest, organization, [{ message: "plain" }, event("a")])).toEqual({
      accepted: 2,
      duplicates: 1,
      replayed: false,
    });
    await ingest.close(180_000);
    expect(await messages(organization)).toEqual(["a", "b", "plain"]);
  });
});

describe("requests that name themselves", () => {
  test("are stored once: repeated at once, later, and after a restart", async () => {
    const organization = ++organizations;
    const directory = await newDirectory();
    const first = await open(directory);
    const together = await Promise.all(
      [1, 2, 3].map(() => send(first, organization, numbered(3), "batch-1")),
    );
    expect(together.filter((result) => result.replayed)).toHaveLength(2);
    expect(await send(first, organization, numbered(3), "batch-1")).toEqual({
      accepted: 3,
      duplicates: 3,
      replayed: true,
    });
    await first.close(180_000);
    const second = await open(directory);
    expect((await send(second, organization, numbered(3), "batch-1")).replayed).toBe(true);
    expect((await send(second, organization, numbered(3), "batch-2")).replayed).toBe(false);
    await second.close(180_000);
    expect(await messages(organization)).toEqual(texts(numbered(3)).flatMap((text) => [text, text]));
  });

  test("are refused when the name belongs to other content", async () => {
    const organization = ++organizations;
    const ingest = await open(await newDirectory());
    await send(ingest, organization, numbered(1), "batch-1");
    expect(send(ingest, organization, numbered(2), "batch-1")).rejects.toBeInstanceOf(IngestKeyReusedError);
    expect((await send(ingest, organization, numbered(2))).accepted).toBe(2);
    await ingest.close(180_000);
    expect(await messages(organization)).toHaveLength(3);
  });
});

describe("bounds", () => {
  test("a full log refuses, keeps what it acknowledged and takes entries again once the store has caught up", async () => {
    const organization = ++organizations;
    let isDown = true;
    const gated: LogStore = {
      ...store,
      insert: (blocks, token, signal) =>
        isDown ? Promise.reject(new Error("down")) : store.insert(blocks, token, signal),
    };
    const ingest = await open(await newDirectory(), { store: gated, walMaxBytes: 4 * 1024 * 1024 });
    const filler = "x".repeat(8000);
    let acknowledged = 0;
    let reason: string | null = null;
    for (let i = 0; i < 1000 && reason === null; i++) {
      const entries = Array.from({ length: 50 }, (_, j) => ({
        message: `${String(i * 50 + j).padStart(6, "0")}${filler}`,
      }));
      reason = await refusal(send(ingest, organization, entries));
      if (reason === null) acknowledged += entries.length;
    }
    expect(["log_full", "write_failed"]).toContain(reason ?? "nothing");
    expect(acknowledged).toBeGreaterThan(0);
    isDown = false;
    await eventually(
      "entries are taken again",
      async () => (await refusal(send(ingest, organization, numbered(1, "after")))) === null,
    );
    await ingest.close(180_000);
    expect(await messages(organization)).toHaveLength(acknowledged + 1);
  });

  test("more requests in flight than allowed are refused, and the bound comes free again", async () => {
    const organization = ++organizations;
    const ingest = await open(await newDirectory(), { maxInFlightBytes: 10_000 });
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () => refusal(send(ingest, organization, numbered(40)))),
    );
    expect(outcomes).toContain("in_flight");
    expect(outcomes).toContain(null);
    expect(await refusal(send(ingest, organization, numbered(1)))).toBeNull();
    await ingest.close(180_000);
    expect(await messages(organization)).toHaveLength(
      outcomes.filter((outcome) => outcome === null).length * 40 + 1,
    );
  });

  test("a server that may make no ids refuses, and takes entries when it has a number again", async () => {
    const organization = ++organizations;
    let instance: number | null = null;
    const ingest = await open(await newDirectory(), { instance: () => instance });
    expect(await refusal(send(ingest, organization, [{ message: "early" }]))).toBe("no_instance");
    instance = 7;
    await send(ingest, organization, [{ message: "later" }]);
    await ingest.close(180_000);
    expect(await messages(organization)).toEqual(["later"]);
  });

  test("after close every request is refused", async () => {
    const ingest = await open(await newDirectory());
    await ingest.close(1000);
    expect(await refusal(send(ingest, 1, numbered(1)))).toBe("closing");
  });
});

/** Why a request was refused; null when it was not. */
async function refusal(result: Promise<unknown>): Promise<IngestUnavailableError["reason"] | null> {
  try {
    await result;
    return null;
  } catch (error) {
    if (error instanceof IngestUnavailableError) return error.reason;
    throw error;
  }
}
