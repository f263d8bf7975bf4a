/** Stores that are away, and rules with very many groups: late is not lost, and nobody is told twice. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { DependencyError } from "../../../src/errors.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { openTcpProxy, type TcpProxy } from "../../harness/tcp-proxy.ts";
import { stretchesOf } from "../../rules/evaluation/brute-force.ts";
import { type AlertServer, alertServer, makeOrganization, NEVER, PATH } from "./alert-server.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;

let stores: TestStores;
let proxy: TcpProxy;
let server: AlertServer;
beforeAll(async () => {
  stores = await openTestStores();
  const { hostname: host, port } = new URL(stores.clickhouseEndpoint.origin);
  proxy = await openTcpProxy({ host, port: Number(port) });
  // Entries come into the store past the proxy, as they do from the log of a server when it is back.
  const origin = `http://127.0.0.1:${proxy.port}`;
  server = await alertServer({ ...stores, clickhouseEndpoint: { ...stores.clickhouseEndpoint, origin } });
});
afterAll(async () => {
  await proxy.close();
  await stores.close();
});

const told = async (own: number): Promise<string[]> =>
  (await server.toldOf(own)).map(({ kind, payload, key }) => `${kind} ${payload.source?.name ?? key}`);

test("while the log store is away in the middle of windows nothing changes, and afterwards all is found where it was, once", async () => {
  const own = await makeOrganization(stores);
  const make = async (name: string, windowSec: number, threshold: number): Promise<number> =>
    (await server.send(own, "POST", PATH, { name, query: name, windowSec, threshold })).body.id;
  const slow = await make("slow", 600, 5);
  const open = await make("open", 60, 1);
  await server.work();
  await server.store(own, { message: "open", atMs: server.clock.nowMs });
  await server.work();
  expect(await told(own)).toEqual(["raised open"]);
  const came: number[] = [];
  for (let round = 0; round < 20; round++) {
    server.clock.nowMs += 40 * SECOND_MS;
    came.push(server.clock.nowMs);
    await server.store(own, { message: "slow", atMs: server.clock.nowMs });
    // Now and then it is there for a moment, in which a seal may begin and not end.
    const sealing = round % 4 === 3 ? server.streamAt(0).die("counting") : null;
    await sealing;
    proxy.cut();
    await server.seal().catch(() => undefined);
    await server
      .evaluation()
      .workOnce(NEVER)
      .catch(() => undefined);
    expect(await told(own)).toEqual(["raised open"]);
    proxy.restore();
  }
  await server.work();
  await server.pass(30 * MINUTE_MS);
  const found = await server.sql<{ from: Date; to: Date; peak: number }[]>`
    SELECT started_at AS from, ended_at AS to, peak FROM detections
    WHERE organization_id = ${own} AND rule_id = ${slow} AND merged_into IS NULL ORDER BY started_at`;
  const wanted = stretchesOf({ threshold: 5, windowMs: 600 * SECOND_MS }, came, 10 * SECOND_MS);
  expect(found.map(({ from, to, peak }) => [from.getTime(), to.getTime(), peak])).toEqual(
    wanted.map(({ fromMs, toMs, peak }) => [fromMs, toMs, peak]),
  );
  const all = await server.toldOf(own);
  for (const id of [slow, open])
    expect(all.filter(({ key }) => key === `rule:log:${id}`).map(({ kind }) => kind)).toEqual([
      "raised",
      "cleared",
    ]);
});

test("a database that goes away at any write of an evaluation has it done again, and told once", async () => {
  const { postgres: sql } = stores;
  // As its owner, for what evaluates an organisation's rules may end no connection, not even its own.
  await sql`
    CREATE FUNCTION goes_away() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
      'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(1); RETURN NULL; END'`;
  const writes = [
    ["live_rules", "UPDATE"],
    ["counter_changes", "DELETE"],
    ["detections", "INSERT"],
    ["events", "INSERT"],
    ["rule_groups", "INSERT"],
  ];
  for (const [table = "", write = ""] of writes) {
    const own = await makeOrganization(stores);
    await server.send(own, "POST", PATH, { name: "fires", query: "fails", threshold: 1 });
    await server.send(own, "POST", PATH, { name: "quiet", query: "fails", threshold: 1_000 });
    await server.seal();
    await server.store(own, { message: "fails", atMs: server.clock.nowMs });
    await server.seal();
    await sql.unsafe(`CREATE TRIGGER away BEFORE ${write} ON ${table} EXECUTE FUNCTION goes_away()`);
    const failure = await server.evaluate().catch((error: unknown) => error);
    expect([table, failure]).toEqual([table, expect.any(DependencyError)]);
    await sql.unsafe(`DROP TRIGGER away ON ${table}`);
    expect([table, await told(own)]).toEqual([table, []]);
    // Nobody's rule is to blame, and none waits for anything but the database.
    const states = await sql`SELECT failures, last_error FROM live_rules WHERE organization_id = ${own}`;
    expect([...states]).toEqual([1, 2].map(() => ({ failures: 0, last_error: null })));
    await server.evaluate();
    expect(await told(own)).toEqual(["raised fires"]);
    await server.pass(10 * MINUTE_MS);
    await server.pass(10 * MINUTE_MS);
    expect((await told(own)).map((each) => each.split(" ")[0])).toEqual(["raised", "cleared"]);
  }
});

test("a rule of which more groups come at once than are told apart says how many and what to do, for as long as it is so", async () => {
  const own = await makeOrganization(stores);
  const { body } = await server.send(own, "POST", PATH, {
    ...{ name: "many", query: "scan", threshold: 50, windowSec: 300, groupBy: ["host"] },
  });
  const seen = async () => (await server.send(own, "GET", `${PATH}/${body.id}`)).body;
  const come = async (prefix: string, count: number) => {
    const atMs = server.clock.nowMs;
    const hosts = Array.from({ length: count }, (_, i) => `${prefix}-${i}`);
    await server.store(own, ...hosts.map((host) => ({ message: "scan", host, atMs })));
    await server.work();
  };
  await server.work();
  await come("a", 2_000);
  expect(await seen()).toMatchObject({ state: "ok", lastError: null });
  await come("b", 2_100);
  const said =
    'There were 2100 groups at once. The 2000 with most entries are told apart, the others are one, "(other)". ' +
    "Group by a field with fewer values, or let the rule count fewer entries.";
  expect(await seen()).toMatchObject({ state: "firing", lastError: said });
  expect(await told(own)).toEqual(["raised many"]);
  // What comes late to windows in which all were told apart says nothing of now.
  await server.pass(MINUTE_MS);
  await server.store(own, { message: "scan", host: "a-1", atMs: server.clock.nowMs - 60 * MINUTE_MS });
  await server.work();
  expect(await seen()).toMatchObject({ lastError: said });
  await server.pass(5 * MINUTE_MS);
  expect(await seen()).toMatchObject({ lastError: null });
});

test("of ten thousand groups that fire together each is told at most once, and the rest as one", async () => {
  const own = await makeOrganization(stores);
  const { body } = await server.send(own, "POST", PATH, {
    ...{ name: "many", query: "scan", threshold: 1, windowSec: 300, groupBy: ["host"] },
  });
  await server.work();
  const hosts = Array.from({ length: 10_000 }, (_, i) => `host-${i}`);
  const atMs = server.clock.nowMs;
  await server.store(own, ...hosts.map((host) => ({ message: "scan", host, atMs })));
  await server.work();
  await server.store(own, ...hosts.map((host) => ({ message: "scan", host, atMs: atMs + 1 })));
  await server.work();
  const keys = (await server.toldOf(own)).filter(({ kind }) => kind === "raised").map(({ key }) => key);
  expect(new Set(keys).size).toBe(keys.length);
  expect(keys).toContain(`rule:log:${body.id}:["(other)"]`);
  expect(keys).toHaveLength(2_001);
});
