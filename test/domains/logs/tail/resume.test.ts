/** A reader that comes back: nothing is lost and nothing is shown twice, wherever the break lies. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { LogStore } from "../../../../ingest/index.ts";
import { idBefore, TailPosition } from "../../../../src/domains/logs/tail/position.ts";
import { createClickHouseLogStore } from "../../../../src/storage/clickhouse-log-store.ts";
import { eventually } from "../../../harness/eventually.ts";
import { openTestStores, type TestStores } from "../../../harness/stores.ts";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { makeSession, makeTenant, openTail, send, startTailServer, type Tenant } from "./tail-server.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

const numbered = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `entry ${from + i}`);
const entriesOf = (messages: readonly string[]): object[] => messages.map((message) => ({ message }));

/** A store that can be stopped and started. */
function gatedStore(): LogStore & { isOpen: boolean } {
  const store = createClickHouseLogStore(stores.clickhouseEndpoint);
  const gate = {
    ...store,
    isOpen: true,
    insert: async (...args: Parameters<LogStore["insert"]>): Promise<void> => {
      if (!gate.isOpen) throw new Error("connection refused");
      await store.insert(...args);
    },
  };
  return gate;
}

describe("a reader that comes back", () => {
  test("gets what came meanwhile, then what comes, each once", async () => {
    const server = await startTailServer(stores);
    const tenant = await makeTenant(stores);
    const session = await makeSession(server, tenant, { q: "entry" });
    const first = await openTail(server, session);
    await send(server, tenant, entriesOf(numbered(0, 5)));
    await first.haveMessages(5);
    first.close();
    await send(server, tenant, [{ message: "other" }, ...entriesOf(numbered(5, 20))]);
    const second = await openTail(server, session, first.lastEventId);
    await send(server, tenant, entriesOf(numbered(25, 5)));
    expect(await second.haveMessages(25)).toEqual(numbered(5, 25));
    second.close();
    await server.close();
  });

  test("at any moment of a running ingest misses nothing", async () => {
    const server = await startTailServer(stores, { tails: { commentIntervalMs: 20 } });
    const tenant = await makeTenant(stores);
    const session = await makeSession(server, tenant);
    const opening = await openTail(server, session);
    await opening.next("");
    opening.close();
    let position = opening.lastEventId;
    let sent = 0;
    let isSending = true;
    const clients = Array.from({ length: 3 }, async () => {
      while (isSending) {
        const count = 1 + (sent % 7);
        sent += count;
        await send(server, tenant, entriesOf(numbered(sent - count, count)));
        await Bun.sleep(1);
      }
    });
    const seen: string[] = [];
    for (let round = 0; round < 40; round++) {
      const tail = await openTail(server, session, position);
      await Bun.sleep(Math.random() * 60);
      tail.close();
      await eventually("the reader has stopped", () => tail.isEnded);
      seen.push(...tail.messages);
      if (tail.lastEventId !== "") position = tail.lastEventId;
    }
    isSending = false;
    await Promise.all(clients);
    const last = await openTail(server, session, position);
    await eventually("everything is shown", () => seen.length + last.messages.length >= sent);
    seen.push(...last.messages);
    last.close();
    expect(seen.length).toBe(sent);
    expect(new Set(seen).size).toBe(sent);
    expect(sent).toBeGreaterThan(200);
    await server.close();
  });

  test("waits for entries that are acknowledged and not yet in the store", async () => {
    const store = gatedStore();
    const server = await startTailServer(stores, { ingest: { store } });
    const tenant = await makeTenant(stores);
    const session = await makeSession(server, tenant);
    const first = await openTail(server, session);
    await first.next("");
    first.close();
    store.isOpen = false;
    await send(server, tenant, entriesOf(numbered(0, 10)));
    const second = await openTail(server, session, first.lastEventId);
    await send(server, tenant, entriesOf(numbered(10, 10)));
    await Bun.sleep(100);
    expect(second.messages).toEqual([]);
    store.isOpen = true;
    expect(await second.haveMessages(20)).toEqual(numbered(0, 20));
    second.close();
    await server.close();
  });

  test("after a restart gets what the former server acknowledged and had not stored", async () => {
    using directory = temporaryDirectory();
    const store = gatedStore();
    const former = await startTailServer(stores, { directory, ingest: { store } });
    const tenant = await makeTenant(stores);
    const session = await makeSession(former, tenant);
    const first = await openTail(former, session);
    await send(former, tenant, entriesOf(numbered(0, 3)));
    await first.haveMessages(3);
    first.close();
    store.isOpen = false;
    await send(former, tenant, entriesOf(numbered(3, 10)));
    await former.close();
    store.isOpen = true;
    const next = await startTailServer(stores, { directory });
    const second = await openTail(next, session, first.lastEventId);
    await send(next, tenant, entriesOf(numbered(13, 4)));
    expect(await second.haveMessages(14)).toEqual(numbered(3, 14));
    second.close();
    await next.close();
  });

  test("to a store that does not answer is told to come again, and misses nothing when it does", async () => {
    const store = gatedStore();
    const server = await startTailServer(stores, {
      ingest: { store },
      tails: { gapStoreWaitMs: 50 },
    });
    const tenant = await makeTenant(stores);
    const session = await makeSession(server, tenant);
    const first = await openTail(server, session);
    await first.next("");
    first.close();
    store.isOpen = false;
    await send(server, tenant, entriesOf(numbered(0, 3)));
    const refused = await openTail(server, session, first.lastEventId);
    expect(JSON.parse((await refused.next("error")).data)).toMatchObject({ code: "UNAVAILABLE" });
    await eventually("the stream ends", () => refused.isEnded);
    expect(refused.messages).toEqual([]);
    store.isOpen = true;
    const last = await eventually("the store is back", async () => {
      const tail = await openTail(server, session, refused.lastEventId);
      await eventually("an answer", () => tail.isEnded || tail.messages.length > 0);
      return tail.isEnded ? null : tail;
    });
    expect(await last.haveMessages(3)).toEqual(numbered(0, 3));
    last.close();
    await server.close();
  });

  test("with something that is no position is refused", async () => {
    const server = await startTailServer(stores);
    const session = await makeSession(server, await makeTenant(stores));
    for (const id of ["-", "x y", "1-2-3-", "zzzzzzzzzzzzz", "1-400-400"])
      expect((await openTail(server, session, id)).status).toBe(400);
    await server.close();
  });
});

describe("a long break", () => {
  /** Puts so many entries into the store, past the pipeline, received now. */
  async function fill({ organizationId }: Tenant, count: number): Promise<void> {
    await stores.clickhouse.command({
      query: `INSERT INTO logs (organization_id, ts, id, received_at, message)
              SELECT {organization: UInt32}, now64(9), bitShiftLeft(toUInt64(toUnixTimestamp64Milli(now64(3)) - 1577836800000), 22) + number * 1024 + 1000,
                     now64(3), concat('entry ', toString(number)) FROM numbers({count: UInt32})`,
      query_params: { organization: organizationId, count },
    });
  }

  test("shows the newest entries and counts the others", async () => {
    const server = await startTailServer(stores);
    const tenant = await makeTenant(stores);
    const session = await makeSession(server, tenant);
    const first = await openTail(server, session);
    await first.next("");
    first.close();
    await fill(tenant, 12_345);
    const second = await openTail(server, session, first.lastEventId);
    await second.haveMessages(10_000);
    await send(server, tenant, [{ message: "live" }]);
    expect(await second.haveMessages(10_001)).toEqual([...numbered(2_345, 10_000), "live"]);
    expect(second.of("dropped").map(({ data }) => data)).toEqual(['{"count":2345,"reason":"break"}']);
    expect(second.events.findIndex(({ event }) => event === "dropped")).toBeLessThan(2);
    second.close();
    await server.close();
  });

  test("that is too large is said, and the stream goes on", async () => {
    const server = await startTailServer(stores);
    const tenant = await makeTenant(stores);
    const session = await makeSession(server, tenant);
    const first = await openTail(server, session);
    await first.next("");
    first.close();
    await fill(tenant, 100_001);
    const second = await openTail(server, session, first.lastEventId);
    expect(JSON.parse((await second.next("error")).data)).toMatchObject({ code: "TAIL_GAP_TOO_LARGE" });
    await send(server, tenant, [{ message: "live" }]);
    expect(await second.haveMessages(1)).toEqual(["live"]);
    second.close();
    await server.close();
  });

  test.each([
    { daysAgo: 40, isTold: true },
    { daysAgo: 20, isTold: false },
  ])("of which entries have moved to the archive says so, and of a later one not: %p", async (reader) => {
    const server = await startTailServer(stores);
    const tenant = await makeTenant(stores);
    const session = await makeSession(server, tenant);
    const daysAgo = (days: number): Date => new Date(Date.now() - days * 86_400_000);
    await stores.postgres`
      INSERT INTO log_archive_units
        (organization_id, day, state, attempt, file, rows, bytes, checksum, min_ts, max_ts, seq, retry_at, created_at, done_at)
      VALUES (${tenant.organizationId}, ${daysAgo(35)}, 'done', 1, 'a.parquet', 1, 1, '1', 1, 2, 1, now(), now(), now())`;
    const away = TailPosition.at(
      daysAgo(reader.daysAgo).getTime(),
      idBefore(daysAgo(reader.daysAgo).getTime()),
    );
    await fill(tenant, 1);
    const tail = await openTail(server, session, String(away));
    expect(await tail.haveMessages(1)).toEqual(["entry 0"]);
    const codes = tail.of("error").map(({ data }) => JSON.parse(data).code);
    expect(codes).toEqual(reader.isTold ? ["TAIL_GAP_ARCHIVED"] : []);
    tail.close();
    await server.close();
  });
});
