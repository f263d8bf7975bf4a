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
let served: () => Response | Promise<Response> = () => new Response("");
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
  const rows = proofRounds({ sample: 60_000, whole: FILE_MAX_ROWS });
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

test("what very many names are gone of expires, some at a time, and nothing else", async () => {
  const id = await makeFeed();
  const { sql, changes } = server;
  const fetching = new FeedFetching({
    ...{ sql, changes, onBatch: () => undefined, log: createLogger("silent"), expireChunks: 1 },
    fetch: createGuardedFetch(new OutboundPolicy({ allow: ["127.0.0.1"], allowPrivate: false })),
  });
  const names = Array.from({ length: 20_000 }, (_, i) => `host-${i}.example.com`);
  // Of the first and the last as well as of those between.
  for (const listed of [
    names,
    names.filter((_, i) => i % 3 !== 0),
    names.filter((_, i) => i % 2 === 0),
    [],
  ]) {
    served = () => new Response(["host-x.example.com", ...listed].join("\n"));
    await sql`UPDATE ioc_feeds SET next_fetch_at = now() WHERE id = ${id}`;
    expect(await fetching.workOnce(new AbortController().signal)).toBe(true);
    expect(await feed(id)).toMatchObject({ status: "ok", lastError: null });
    const active = await sql<{ value: string }[]>`
      SELECT value FROM iocs WHERE organization_id = ${own} AND expires_at IS NULL`;
    expect(active.map(({ value }) => value).toSorted()).toEqual(["host-x.example.com", ...listed].toSorted());
  }
});

test("a feed that is deleted is gone at once, and what it alone listed expires, some at a time, also where the server ends between", async () => {
  const id = await makeFeed();
  const other = await server.send(own, "POST", `${PATH}/feeds`, {
    ...{ name: "Others", url: `http://127.0.0.1:${feedServer.port}/feed.csv`, format: "csv" },
  });
  const { sql, changes } = server;
  const begun = () =>
    new FeedFetching({
      ...{ sql, changes, onBatch: () => undefined, log: createLogger("silent"), expireChunks: 1 },
      fetch: createGuardedFetch(new OutboundPolicy({ allow: ["127.0.0.1"], allowPrivate: false })),
    });
  const ask = async (feedId: number, listed: readonly string[]) => {
    served = () => new Response(listed.join("\n"));
    await sql`UPDATE ioc_feeds SET next_fetch_at = CASE WHEN id = ${feedId} THEN now() ELSE 'infinity'::timestamptz END`;
    await begun().workOnce(new AbortController().signal);
    expect(await feed(feedId)).toMatchObject({ status: "ok", lastError: null });
  };
  const activeOf = async () => {
    const rows = await sql<{ value: string }[]>`
      SELECT value FROM iocs WHERE organization_id = ${own} AND expires_at IS NULL`;
    return rows.map(({ value }) => value).toSorted();
  };
  const names = Array.from({ length: 20_000 }, (_, i) => `host-${i}.example.com`);
  const kept = names.filter((_, i) => i % 5 === 0);
  await ask(id, names);
  await ask(other.body.id, kept);
  expect((await server.send(own, "DELETE", `${PATH}/feeds/${id}`)).status).toBe(204);
  expect((await server.send(own, "GET", `${PATH}/feeds/${id}`)).status).toBe(404);
  expect(await activeOf()).toHaveLength(names.length);
  // It keeps no other feed from being asked.
  await ask(other.body.id, kept);
  expect(await activeOf()).toHaveLength(names.length);
  // Each is another start of the server.
  let left = names.length;
  let steps = 0;
  while (await begun().workOnce(new AbortController().signal)) {
    const active = (await activeOf()).length;
    expect(active).toBeLessThan(left);
    left = active;
    steps++;
  }
  expect(steps).toBeGreaterThan(1);
  expect(await activeOf()).toEqual(kept.toSorted());
  const [row] = await sql<{ listings: number; named: number }[]>`
    SELECT (SELECT count(*)::integer FROM ioc_feed_listings WHERE feed_id = ${id}) AS listings,
           (SELECT count(*)::integer FROM iocs WHERE feed_id = ${id}) AS named`;
  expect(row).toEqual({ listings: 0, named: 0 });
});

test("a feed that is deleted while it is asked brings nothing", async () => {
  const id = await makeFeed();
  served = async () => {
    expect((await server.send(own, "DELETE", `${PATH}/feeds/${id}`)).status).toBe(204);
    return new Response("1.2.3.4\n");
  };
  await server.fetchFeeds();
  expect(await stats()).toMatchObject({ total: 0, feeds: [] });
});

test("what matches everything is refused, private networks, what anybody registers under and one's own domain included", async () => {
  await makeFeed();
  await stores.postgres`
    INSERT INTO status_pages (organization_id, slug, name, custom_domain, custom_domain_proven_at, created_at, updated_at)
    VALUES (${own}, ${`page-${own}`}, 'Status', 'status.our.example', now(), now(), now())`;
  const wide = ["0.0.0.0/0", "0.0.0.0/1", "44.0.0.0/7", "::/0", "2000::/3", "com", "*", "."];
  const everybodys = [
    "10.0.0.0/8",
    "10.1.2.3",
    "192.168.0.0/16",
    "127.0.0.1",
    "::1",
    "fd00::/16",
    "co.uk",
    "github.io",
  ];
  const ours = ["our.example", "status.our.example"];
  const taken = ["45.33.32.156", "11.0.0.0/8", "evil.github.io", "phish.our.example"];
  const rows = [...wide, ...everybodys, ...ours, ...taken].join("\n");
  served = () => new Response(rows);
  await server.fetchFeeds();
  expect(await stats()).toMatchObject({
    total: taken.length,
    feeds: [{ added: taken.length, rejected: wide.length + everybodys.length + ours.length }],
  });
  // A file says of each row why, and is believed where somebody says that it is meant.
  const send = (query: string) => server.upload(own, `${PATH}/import?format=csv${query}`, rows, "text/csv");
  const refused = (await send("")).body;
  const reasonOf = (value: string) =>
    refused.errors.find((each: { value: string }) => each.value === value)?.reason;
  expect(refused).toMatchObject({ added: 0, updated: taken.length });
  expect(reasonOf("0.0.0.0/1")).toBe("is a range wider than /8, a part of the internet and nobody's");
  expect(reasonOf("10.1.2.3")).toBe("lies in 10.0.0.0/8, whose addresses are used everywhere");
  expect(reasonOf("co.uk")).toBe("is a domain under which anybody registers names");
  expect(reasonOf("our.example")).toBe("holds status.our.example, a domain of this organization");
  expect((await send("&force=true")).body).toMatchObject({
    ...{ added: everybodys.length + ours.length, rejected: wide.length },
  });
});

test("what is about too much is taken of a person who means it, and let pass where the allow-list has it", async () => {
  await makeFeed();
  const meant = ["10.0.0.0/8", "172.16.0.0/12", "192.168.1.5", "co.uk"];
  const typeOf = (value: string) => (value.includes(".u") ? "domain" : "ip");
  for (const value of meant) {
    const body = { type: typeOf(value), value };
    expect(await server.send(own, "POST", PATH, body)).toMatchObject({
      ...{ status: 400, body: { fields: [{ path: "/value" }] } },
    });
    expect((await server.send(own, "POST", PATH, { ...body, force: true })).status).toBe(201);
    if (value !== "192.168.1.5")
      expect((await server.send(own, "POST", `${PATH}/allow-list`, body)).status).toBe(201);
  }
  await server.store(own, { host: "web-1", message: "10.1.2.3 172.16.3.4 192.168.1.5 www.our.co.uk" });
  await server.seal();
  await server.huntAll();
  const { items } = (await server.send(own, "GET", `${PATH}?limit=100`)).body;
  expect(items.map(({ value, hits }: { value: string; hits: number }) => [value, hits]).toReversed()).toEqual(
    meant.map((value) => [value, value === "192.168.1.5" ? 1 : 0]),
  );
});
