/** Feeds as bad as they come: what never ends is given up, what is half wrong is half taken, what matches everything is not believed. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { FeedFetching } from "../../../src/domains/iocs/feed-fetching.ts";
import { FILE_MAX_ROWS } from "../../../src/entities/indicators/limits.ts";
import { createLogger } from "../../../src/log.ts";
import { createGuardedFetch } from "../../../src/outbound/guarded-fetch.ts";
import { OutboundPolicy } from "../../../src/outbound/outbound-policy.ts";
import { proofRounds } from "../../harness/proof.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { makeOrganization } from "../log-alerts/alert-server.ts";
import { type IocServer, iocServer, PATH } from "./ioc-server.ts";

let stores: TestStores;
let server: IocServer;
let feedServer: ReturnType<typeof Bun.serve>;
let own: number;
let served: () => Response = () => new Response("");
beforeAll(async () => {
  stores = await openTestStores();
  server = await iocServer(stores);
  feedServer = Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 0, fetch: () => served() });
});
afterAll(async () => {
  await feedServer.stop(true);
  await stores.close();
});

async function makeFeed(): Promise<number> {
  own = await makeOrganization(stores);
  const url = `http://127.0.0.1:${feedServer.port}/feed.csv`;
  const { body } = await server.send(own, "POST", `${PATH}/feeds`, { name: "Bad", url, format: "csv" });
  return body.id;
}

async function feed(id: number) {
  return (await server.send(own, "GET", `${PATH}/feeds/${id}`)).body;
}

async function stats() {
  return (await server.send(own, "GET", `${PATH}/feed-stats`)).body;
}

/** A body without an end, each piece when `next` says so; and whether its reader has gone. */
function endless(next: () => Promise<void>) {
  const state = { isGone: false, bytes: 0 };
  const piece = new TextEncoder().encode("1.2.3.4\n".repeat(8192));
  const body = new ReadableStream({
    async pull(controller) {
      await next();
      if (state.isGone) return;
      state.bytes += piece.byteLength;
      controller.enqueue(piece);
    },
    cancel() {
      state.isGone = true;
    },
  });
  served = () => new Response(body);
  return state;
}

test("a feed that never ends is given up at its size, and brings nothing", async () => {
  const id = await makeFeed();
  const state = endless(async () => undefined);
  await server.fetchFeeds();
  expect(await feed(id)).toMatchObject({ status: "failed", lastError: "The answer is too large." });
  expect(await stats()).toMatchObject({ total: 0 });
  while (!state.isGone) await Bun.sleep(1);
});

test("a feed that says nothing more and does not end is given up at its time, and asked again later", async () => {
  const id = await makeFeed();
  let pieces = 0;
  endless(() => (pieces++ === 0 ? Promise.resolve() : new Promise(() => undefined)));
  const policy = new OutboundPolicy({ allow: ["127.0.0.1"], allowPrivate: false });
  const { sql, changes } = server;
  const fetching = new FeedFetching({
    ...{ sql, changes, fetch: createGuardedFetch(policy), onBatch: () => undefined },
    ...{ log: createLogger("silent"), timeoutMs: 300 },
  });
  expect(await fetching.workOnce(new AbortController().signal)).toBe(true);
  expect(await feed(id)).toMatchObject({ status: "failed", lastError: expect.any(String) });
  expect(await stats()).toMatchObject({ total: 0 });
  const [row] = await sql<{ isLater: boolean; isFree: boolean }[]>`
    SELECT next_fetch_at > now() AS "isLater", claim_id IS NULL AS "isFree" FROM ioc_feeds WHERE id = ${id}`;
  expect(row).toEqual({ isLater: true, isFree: true });
});

test("of a feed of very many rows, half of them wrong, the other half is taken and the wrong ones are counted", async () => {
  const id = await makeFeed();
  const rows = proofRounds({ sample: 20_000, whole: FILE_MAX_ROWS });
  const wrong = ["no indicator", "999.1.2.3", "evil", "192.0.2.0/99", "d41d8cd98f00", "http://x.example/a"];
  const list = (all: number) =>
    Array.from({ length: all }, (_, i) =>
      i % 2 === 0 ? `host-${i}.example.com` : (wrong[(i >> 1) % wrong.length] ?? ""),
    ).join("\n");
  served = () => new Response(list(rows));
  await server.fetchFeeds();
  expect(await feed(id)).toMatchObject({ status: "ok", lastError: null });
  expect(await stats()).toMatchObject({
    ...{ total: rows / 2, active: rows / 2 },
    feeds: [{ added: rows / 2, updated: 0, expired: 0, rejected: rows / 2 }],
  });
});

test("what matches everything is refused; private ranges and one's own domain are let pass where the allow-list has them", async () => {
  await makeFeed();
  const ownHosts = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "our.example"];
  served = () => new Response(["0.0.0.0/0", "::/0", "com", "*", ".", ...ownHosts, "45.33.32.156"].join("\n"));
  await server.fetchFeeds();
  expect(await stats()).toMatchObject({ total: 5, feeds: [{ added: 5, rejected: 5 }] });
  for (const value of ownHosts) {
    const type = value.includes("/") ? "ip" : "domain";
    expect((await server.send(own, "POST", `${PATH}/allow-list`, { type, value })).status).toBe(201);
  }
  const message = "10.1.2.3 172.16.3.4 192.168.1.1 our.example www.our.example 45.33.32.156";
  await server.store(own, { host: "web-1", message });
  await server.seal();
  await server.huntAll();
  const { items } = (await server.send(own, "GET", `${PATH}?limit=100`)).body;
  expect(items.map(({ value, hits }: { value: string; hits: number }) => [value, hits]).toReversed()).toEqual(
    [...ownHosts.map((value) => [value, 0]), ["45.33.32.156", 1]],
  );
});
