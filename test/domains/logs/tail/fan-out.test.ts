/** Live tails shared by several servers through a real Redis. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Redis } from "ioredis";
import { createLogger } from "../../../../src/log.ts";
import { createRedis } from "../../../../src/storage/redis.ts";
import { eventually } from "../../../harness/eventually.ts";
import { openTestRedis, type TestRedis } from "../../../harness/redis.ts";
import { openTestStores, type TestStores } from "../../../harness/stores.ts";
import { openTcpProxy, type TcpProxy } from "../../../harness/tcp-proxy.ts";
import { makeSession, makeTenant, openTail, send, startTailServer, type TailServer } from "./tail-server.ts";

const redisServer = await openTestRedis();

describe.skipIf(redisServer === null)("servers that share a Redis", () => {
  let stores: TestStores;
  let left: TailServer;
  let right: TailServer;
  let proxy: TcpProxy;
  const clients: Redis[] = [];

  const client = async (url: string): Promise<Redis> => {
    const redis = await createRedis(url, createLogger("silent"));
    clients.push(redis);
    return redis;
  };

  beforeAll(async () => {
    stores = await openTestStores();
    const { url } = required(redisServer);
    proxy = await openTcpProxy({ host: "127.0.0.1", port: Number(new URL(url).port) });
    left = await startTailServer(stores, { redis: await client(url), tails: { commentIntervalMs: 50 } });
    right = await startTailServer(stores, {
      redis: await client(`redis://127.0.0.1:${proxy.port}`),
      tails: { commentIntervalMs: 50 },
    });
  });

  afterAll(async () => {
    await Promise.all([left.close(), right.close()]);
    for (const redis of clients) redis.disconnect();
    await proxy.close();
    await stores.close();
    await redisServer?.close();
  });

  test("show on each what the other takes in, under a session that either made", async () => {
    const tenant = await makeTenant(stores);
    const session = await makeSession(left, tenant, { q: "yes" });
    const tails = [await openTail(left, session), await openTail(right, session)];
    await send(left, tenant, [{ message: "yes left" }, { message: "no" }]);
    await send(right, tenant, [{ message: "yes right" }, { message: "no" }]);
    for (const tail of tails) {
      expect((await tail.haveMessages(2)).toSorted()).toEqual(["yes left", "yes right"]);
      tail.close();
    }
  });

  test("send the entry exactly as the server that took it in shows it", async () => {
    const tenant = await makeTenant(stores);
    const session = await makeSession(left, tenant);
    const tails = [await openTail(left, session), await openTail(right, session)];
    await send(right, tenant, [
      { message: '\ufeff"quoted" 😀\n', attrs: { number: 1e21, nothing: null, text: "\u2028" } },
    ]);
    const [one, two] = await Promise.all(tails.map(async (tail) => (await tail.next("log")).data));
    expect(one).toBe(String(two));
    for (const tail of tails) tail.close();
  });

  test("publish nothing while nobody elsewhere listens to the organization", async () => {
    const tenant = await makeTenant(stores);
    const observer = new Redis(required(redisServer).url);
    const letters: string[] = [];
    observer.on("pmessage", (_pattern, _channel, text) => letters.push(text));
    await observer.psubscribe("obs:tail:to:*");
    const tail = await openTail(left, await makeSession(left, tenant));
    await eventually("the stream is joined", () => letters.some((text) => text.includes('"stored"')));
    await send(left, tenant, [{ message: "here only" }]);
    await send(right, await makeTenant(stores), [{ message: "another organization" }]);
    await tail.haveMessages(1);
    await send(right, tenant, [{ message: "wanted" }]);
    await tail.haveMessages(2);
    expect(letters.filter((text) => text.includes('"entries"'))).toHaveLength(1);
    tail.close();
    await eventually("the wish has ended", async () => {
      await send(right, tenant, [{ message: "not wanted" }]);
      const before = letters.length;
      await send(right, tenant, [{ message: "not wanted any more" }]);
      await Bun.sleep(50);
      return letters.length === before;
    });
    observer.disconnect();
  });

  test("let a reader go from one to the other at any moment without a loss or a repetition", async () => {
    const tenant = await makeTenant(stores);
    const session = await makeSession(left, tenant);
    let sent = 0;
    let isSending = true;
    const senders = [left, right, right].map(async (server) => {
      while (isSending) {
        const count = 1 + (sent % 5);
        const from = sent;
        sent += count;
        await send(
          server,
          tenant,
          Array.from({ length: count }, (_, i) => ({ message: `entry ${from + i}` })),
        );
        await Bun.sleep(5);
      }
    });
    const seen: string[] = [];
    const opening = await openTail(left, session);
    await opening.next("");
    const first = sent;
    opening.close();
    await eventually("the first has stopped", () => opening.isEnded);
    seen.push(...opening.messages);
    let position = opening.lastEventId;
    for (let round = 0; round < 24; round++) {
      const tail = await openTail(round % 2 === 0 ? right : left, session, position);
      await Bun.sleep(Math.random() * 400);
      tail.close();
      await eventually("the reader has stopped", () => tail.isEnded);
      seen.push(...tail.messages);
      if (tail.lastEventId !== "") position = tail.lastEventId;
    }
    isSending = false;
    await Promise.all(senders);
    const last = await openTail(right, session, position);
    const expected = Array.from({ length: sent - first }, (_, i) => `entry ${first + i}`);
    await eventually("everything is shown", () => {
      const shown = new Set([...seen, ...last.messages]);
      return expected.every((message) => shown.has(message));
    });
    seen.push(...last.messages);
    last.close();
    expect(new Set(seen).size).toBe(seen.length);
  });

  test("share tails with a query, also when one of them has to leave a value to the store", async () => {
    const tenant = await makeTenant(stores);
    const tail = await openTail(left, await makeSession(left, tenant, { query: "size > 10" }));
    const expected: string[] = [];
    for (let i = 0; i < 30; i++) {
      const size = i === 15 ? "0x20" : i % 2 === 0 ? 11 : 5;
      if (i % 2 === 0) expected.push(`entry ${i}`);
      await send(i % 3 === 0 ? left : right, tenant, [{ message: `entry ${i}`, attrs: { size } }]);
    }
    await eventually("everything is shown", () =>
      expected.every((message) => tail.messages.includes(message)),
    );
    await send(right, tenant, [{ message: "last", attrs: { size: 12 } }]);
    await eventually("the last entry", () => tail.messages.includes("last"));
    expect(new Set(tail.messages).size).toBe(tail.messages.length);
    expect(tail.messages.filter((message) => !expected.includes(message))).toEqual(
      tail.messages.includes("entry 15") ? ["entry 15", "last"] : ["last"],
    );
    tail.close();
  });

  test("go on alone when Redis is away, say so, and fill up when it is back", async () => {
    const tenant = await makeTenant(stores);
    const session = await makeSession(left, tenant);
    const tail = await openTail(right, session);
    await send(left, tenant, [{ message: "before" }]);
    await tail.haveMessages(1);
    proxy.cut();
    await eventually("the notice", () => tail.of("notice").some(({ data }) => data.includes("TAIL_PARTIAL")));
    await send(left, tenant, [{ message: "missed 1" }, { message: "missed 2" }]);
    await send(right, tenant, [{ message: "own" }]);
    expect(await tail.haveMessages(2)).toEqual(["before", "own"]);
    proxy.restore();
    expect((await tail.haveMessages(4)).slice(2)).toEqual(["missed 1", "missed 2"]);
    await eventually("the notice", () =>
      tail.of("notice").some(({ data }) => data.includes("TAIL_COMPLETE")),
    );
    await send(left, tenant, [{ message: "after" }]);
    expect((await tail.haveMessages(5)).at(-1)).toBe("after");
    tail.close();
  });

  test("hear of one that comes later", async () => {
    const tenant = await makeTenant(stores);
    const tail = await openTail(left, await makeSession(left, tenant));
    await send(left, tenant, [{ message: "first" }]);
    const third = await startTailServer(stores, { redis: await client(required(redisServer).url) });
    await send(third, tenant, [{ message: "second" }]);
    expect(await tail.haveMessages(2)).toEqual(["first", "second"]);
    await third.close();
    await send(right, tenant, [{ message: "third" }]);
    expect(await tail.haveMessages(3)).toEqual(["first", "second", "third"]);
    tail.close();
  });
});

function required(server: TestRedis | null): TestRedis {
  if (server === null) throw new Error("no Redis");
  return server;
}
