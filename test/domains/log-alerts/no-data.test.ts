/** What is missing is told, by event times and not by a clock; what fired is over only below the threshold of recovery. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { type AlertServer, alertServer, makeOrganization, PATH } from "./alert-server.ts";

const MINUTE_MS = 60_000;
let stores: TestStores;
let server: AlertServer;
beforeAll(async () => {
  stores = await openTestStores();
  server = await alertServer(stores);
});
afterAll(() => stores.close());

async function makeRule(own: number, fields: object): Promise<number> {
  const { status, body } = await server.send(own, "POST", PATH, {
    name: "Backup",
    query: "backup",
    threshold: 100,
    ...fields,
  });
  expect(status).toBe(201);
  await server.work();
  return body.id;
}

async function toldOf(own: number): Promise<string[]> {
  return (await server.toldOf(own)).map(({ kind, key }) => `${kind} ${key.replace(/^rule:log:\d+:?/, "")}`);
}

async function say(own: number, message: string, host = "a", atMs = server.clock.nowMs): Promise<void> {
  await server.store(own, { message, host, atMs });
  await server.work();
}

async function stateOf(own: number, id: number): Promise<string> {
  return (await server.send(own, "GET", `${PATH}/${id}`)).body.state;
}

test("entries that are missing are told once, and that they come again; one that never came is missing, too", async () => {
  const own = await makeOrganization(stores);
  const id = await makeRule(own, { noDataSec: 600 });
  await server.pass(9 * MINUTE_MS);
  expect(await toldOf(own)).toEqual([]);
  await server.pass(2 * MINUTE_MS);
  await server.pass(20 * MINUTE_MS);
  expect(await toldOf(own)).toEqual(["raised no-data"]);
  expect(await stateOf(own, id)).toBe("no_data");
  const [told] = await server.toldOf(own);
  expect(told?.payload).toMatchObject({
    title: "Backup: no data",
    evidence: { ruleId: id, ruleKind: "log", condition: "no_data", peak: 0 },
  });
  await say(own, "other things");
  expect(await toldOf(own)).toEqual(["raised no-data"]);
  await say(own, "backup done");
  expect(await toldOf(own)).toEqual(["raised no-data", "cleared no-data"]);
  expect(await stateOf(own, id)).toBe("ok");
  await server.pass(9 * MINUTE_MS);
  await say(own, "backup done");
  await server.pass(9 * MINUTE_MS);
  expect(await toldOf(own)).toHaveLength(2);
  await server.pass(2 * MINUTE_MS);
  expect(await toldOf(own)).toEqual(["raised no-data", "cleared no-data", "raised no-data"]);
});

test("each group is missed by itself, and none that never was", async () => {
  const own = await makeOrganization(stores);
  const id = await makeRule(own, { noDataSec: 600, groupBy: ["host"] });
  await server.pass(30 * MINUTE_MS);
  expect(await toldOf(own)).toEqual([]);
  await say(own, "backup done", "a");
  await say(own, "backup done", "b");
  await server.pass(8 * MINUTE_MS);
  await say(own, "backup done", "b");
  await server.pass(4 * MINUTE_MS);
  expect(await toldOf(own)).toEqual(['raised ["a"]:no-data']);
  expect((await server.toldOf(own))[0]?.payload.title).toBe("Backup (a): no data");
  await server.send(own, "DELETE", `${PATH}/${id}`);
  expect(await toldOf(own)).toEqual(['raised ["a"]:no-data', 'cleared ["a"]:no-data']);
});

test("while nothing is sealed nothing is missing, however late it is, and what was late was not missing", async () => {
  const own = await makeOrganization(stores);
  await makeRule(own, { noDataSec: 600 });
  await say(own, "backup done");
  const saidMs = server.clock.nowMs;
  // A store that is away: time passes, and nothing is known of it.
  server.clock.nowMs += 60 * MINUTE_MS;
  await server.evaluate();
  expect(await toldOf(own)).toEqual([]);
  for (let minutes = 5; minutes <= 60; minutes += 5)
    await server.store(own, { message: "backup done", atMs: saidMs + minutes * MINUTE_MS });
  await server.work();
  expect(await toldOf(own)).toEqual([]);
});

test("what fired is over only below the threshold of recovery", async () => {
  const own = await makeOrganization(stores);
  const fields = { threshold: 4, windowSec: 60, keepFiringSec: 0 };
  const plain = await makeRule(own, fields);
  const lazy = await makeRule(own, { ...fields, recoverThreshold: 2 });
  const keys = async () => (await server.toldOf(own)).map(({ kind, key }) => `${kind} ${key}`);
  for (let i = 0; i < 4; i++) await server.store(own, { message: "backup", atMs: server.clock.nowMs });
  await server.work();
  // Two a minute: too few to fire, too many to be over.
  for (let i = 0; i < 6; i++) {
    await server.pass(30_000);
    await say(own, "backup");
  }
  expect(await keys()).toEqual([
    `raised rule:log:${plain}`,
    `raised rule:log:${lazy}`,
    `cleared rule:log:${plain}`,
  ]);
  expect(await stateOf(own, lazy)).toBe("firing");
  await server.pass(10 * MINUTE_MS);
  expect((await keys()).at(-1)).toBe(`cleared rule:log:${lazy}`);
  expect(await keys()).toHaveLength(4);
});

test.each([
  [{ recoverThreshold: 100 }, "/recoverThreshold"],
  [{ kind: "anomaly", recoverThreshold: 2 }, "/recoverThreshold"],
  [{ noDataSec: 59 }, "/noDataSec"],
  [{ noDataSec: 604_801 }, "/noDataSec"],
])("%j is refused with its place", async (fields, path) => {
  const own = await makeOrganization(stores);
  const { status, body } = await server.send(own, "POST", PATH, {
    name: "Backup",
    threshold: 100,
    ...fields,
  });
  expect([status, body.fields[0].path]).toEqual([400, path]);
});

test("a preview says when entries would have been missing", async () => {
  const own = await makeOrganization(stores);
  const startMs = Math.floor(server.clock.nowMs / MINUTE_MS) * MINUTE_MS;
  const at = (minutes: number) => startMs + minutes * MINUTE_MS;
  const iso = (minutes: number) => new Date(at(minutes)).toISOString();
  server.clock.nowMs = at(120);
  for (const minutes of [0, 5, 40, 45, 100])
    await server.store(own, { message: "backup", host: "a", atMs: at(minutes) });
  const { body } = await server.send(own, "POST", `${PATH}/preview`, {
    ...{ name: "Backup", query: "backup", noDataSec: 1200, from: iso(0), to: iso(110) },
  });
  expect(body.noData).toEqual([
    { group: {}, from: iso(25), to: iso(40) },
    { group: {}, from: iso(65), to: iso(100) },
  ]);
});
