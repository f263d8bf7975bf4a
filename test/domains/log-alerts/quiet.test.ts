/** Of most rules nothing follows from what came: they are looked at together, and each of which something follows is evaluated. */
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

/** How often rules were evaluated on their own, by their names, and whether they have something left to look at. */
async function evaluations(organizationId: number) {
  const rows = await server.sql<{ name: string; version: number; left: boolean; looked: boolean }[]>`
    SELECT definition ->> 'name' AS name, version::integer, evaluated_at IS NOT NULL AS looked,
      EXISTS (SELECT 1 FROM live_rule_counters rc JOIN counter_changes ch ON ch.counter_id = rc.counter_id
              WHERE rc.live_rule_id = r.id) AS left
    FROM live_rules r WHERE organization_id = ${organizationId} ORDER BY rule_id`;
  return Object.fromEntries(rows.map(({ name, ...row }) => [name, row]));
}

const entries = (message: string, atMs: number, n: number, host = "") =>
  Array.from({ length: n }, (_, i) => ({ message, host, atMs: atMs + i }));

test("rules whose windows hold too little are looked at together, and the one that has enough tells", async () => {
  const organizationId = await makeOrganization(stores);
  const make = (name: string, terms: object) =>
    server.send(organizationId, "POST", PATH, { name, threshold: 5, windowSec: 60, ...terms });
  await make("few", { query: "rare" });
  await make("apart", { query: "spread", groupBy: ["host"] });
  await make("enough", { query: "often" });
  await make("long", { query: "rare", windowSec: 7_200 });
  await server.work();
  const atMs = server.clock.nowMs;
  await server.store(organizationId, ...entries("rare", atMs, 3), ...entries("often", atMs, 5));
  for (let i = 0; i < 4; i++) await server.store(organizationId, ...entries("spread", atMs, 2, `web-${i}`));
  await server.work();
  expect(await evaluations(organizationId)).toEqual({
    few: { version: 0, left: false, looked: true },
    apart: { version: 0, left: false, looked: true },
    enough: { version: 1, left: false, looked: true },
    long: { version: 0, left: false, looked: true },
  });
  // What lies in the window of an hour and more ago counts, and what lies before that of a minute does not.
  server.clock.nowMs += 100 * MINUTE_MS;
  await server.store(organizationId, ...entries("rare", server.clock.nowMs, 2));
  await server.work();
  const after = await evaluations(organizationId);
  expect([after.few?.version, after.long?.version]).toEqual([0, 1]);
  const told = await server.toldOf(organizationId);
  expect(told.filter(({ kind }) => kind === "raised").map(({ payload }) => payload.source?.name)).toEqual([
    "enough",
    "long",
  ]);
});

test("what is late is looked at in the windows that it belongs to", async () => {
  const organizationId = await makeOrganization(stores);
  await server.send(organizationId, "POST", PATH, {
    name: "late",
    query: "late",
    threshold: 4,
    windowSec: 60,
  });
  await server.work();
  const atMs = server.clock.nowMs;
  await server.store(organizationId, ...entries("late", atMs, 3));
  await server.work();
  server.clock.nowMs += 90 * MINUTE_MS;
  await server.store(organizationId, ...entries("late", server.clock.nowMs, 3));
  await server.work();
  expect(await server.toldOf(organizationId)).toEqual([]);
  await server.store(organizationId, ...entries("late", atMs + 30_000, 1));
  await server.work();
  const [raised] = await server.toldOf(organizationId);
  expect(raised).toMatchObject({ kind: "raised", payload: { since: new Date(atMs + 30_000).toISOString() } });
});

test("an incident that goes on with fewer than it began with does", async () => {
  const organizationId = await makeOrganization(stores);
  const terms = { name: "held", query: "held", threshold: 5, recoverThreshold: 2, windowSec: 60 };
  await server.send(organizationId, "POST", PATH, terms);
  await server.work();
  await server.store(organizationId, ...entries("held", server.clock.nowMs, 5));
  await server.work();
  for (let i = 0; i < 4; i++) {
    server.clock.nowMs += MINUTE_MS - 20_000;
    await server.store(organizationId, ...entries("held", server.clock.nowMs, 2));
    await server.work();
  }
  expect((await server.toldOf(organizationId)).map(({ kind }) => kind)).toEqual(["raised"]);
  await server.pass(10 * MINUTE_MS);
  expect((await server.toldOf(organizationId)).map(({ kind }) => kind)).toEqual(["raised", "cleared"]);
});

test("a window that is judged when it is over is not looked at each time that something comes to it", async () => {
  const organizationId = await makeOrganization(stores);
  const terms = { name: "unusual", kind: "anomaly", query: "beat", windowSec: 300, baselineHours: 1 };
  const made = await server.send(organizationId, "POST", PATH, { ...terms, minBaselineEvents: 1 });
  expect(made.status).toBe(201);
  await server.work();
  await server.store(organizationId, ...entries("beat", server.clock.nowMs, 3));
  await server.work();
  await server.pass(5 * MINUTE_MS);
  const before = (await evaluations(organizationId)).unusual?.version ?? 0;
  expect(before).toBeGreaterThan(0);
  for (let i = 0; i < 3; i++) {
    await server.store(organizationId, ...entries("beat", server.clock.nowMs, 3));
    await server.work();
  }
  expect((await evaluations(organizationId)).unusual).toEqual({ version: before, left: false, looked: true });
  // What is late for a window that was judged has it judged again, whatever else came.
  const late = entries("beat", server.clock.nowMs - 10 * MINUTE_MS, 3);
  await server.store(organizationId, ...late, ...entries("beat", server.clock.nowMs, 1));
  await server.work();
  expect((await evaluations(organizationId)).unusual?.version).toBeGreaterThan(before);
});

test("an incident is over when its window is, though a few entries still come", async () => {
  const organizationId = await makeOrganization(stores);
  await server.send(organizationId, "POST", PATH, {
    ...{ name: "over", query: "over", threshold: 5, windowSec: 60 },
  });
  await server.work();
  await server.store(organizationId, ...entries("over", server.clock.nowMs, 5));
  await server.work();
  for (let i = 0; i < 8; i++) {
    server.clock.nowMs += MINUTE_MS / 2;
    await server.store(organizationId, ...entries("over", server.clock.nowMs, 1));
    await server.work();
  }
  expect((await server.toldOf(organizationId)).map(({ kind }) => kind)).toEqual(["raised", "cleared"]);
});

test("an incident goes on with few entries that come before anybody has to look whether it is over", async () => {
  const organizationId = await makeOrganization(stores);
  const terms = { name: "low", query: "low", threshold: 5, recoverThreshold: 2, windowSec: 60 };
  await server.send(organizationId, "POST", PATH, terms);
  await server.work();
  await server.store(organizationId, ...entries("low", server.clock.nowMs, 5));
  await server.work();
  for (let i = 0; i < 15; i++) {
    server.clock.nowMs += MINUTE_MS / 4;
    await server.store(organizationId, ...entries("low", server.clock.nowMs, 1));
    await server.work();
  }
  expect((await server.toldOf(organizationId)).map(({ kind }) => kind)).toEqual(["raised"]);
});

test("a few late entries keep an incident from being over when it would have been", async () => {
  const organizationId = await makeOrganization(stores);
  const terms = { name: "back", query: "back", threshold: 5, recoverThreshold: 2, windowSec: 60 };
  await server.send(organizationId, "POST", PATH, { ...terms, keepFiringSec: 600 });
  const kinds = async () => (await server.toldOf(organizationId)).map(({ kind }) => kind);
  await server.work();
  const atMs = server.clock.nowMs;
  await server.store(organizationId, ...entries("back", atMs, 5));
  await server.work();
  server.clock.nowMs = atMs + 40_000;
  await server.store(organizationId, ...entries("back", atMs + 40_000, 2));
  await server.work();
  // Its last window is over, and it has ten minutes to come back.
  await server.pass(80_000);
  await server.store(organizationId, ...entries("back", atMs + 95_000, 2));
  await server.work();
  await server.pass(610_000);
  expect(await kinds()).toEqual(["raised"]);
  await server.pass(100_000);
  expect(await kinds()).toEqual(["raised", "cleared"]);
});

test("what is late counts in the windows behind it", async () => {
  const organizationId = await makeOrganization(stores);
  await server.send(organizationId, "POST", PATH, {
    ...{ name: "behind", query: "behind", threshold: 4, windowSec: 60 },
  });
  await server.work();
  const atMs = server.clock.nowMs;
  await server.store(organizationId, ...entries("behind", atMs + 50_000, 3));
  server.clock.nowMs += MINUTE_MS;
  await server.work();
  expect(await server.toldOf(organizationId)).toEqual([]);
  await server.store(organizationId, ...entries("behind", atMs + 1_000, 1));
  await server.work();
  expect((await server.toldOf(organizationId)).map(({ kind }) => kind)).toEqual(["raised"]);
});

test.each([
  ["of its last look", { query: "noted", threshold: 5, windowSec: 60 }, 0],
  [
    "of a failure",
    { kind: "anomaly", query: "noted", windowSec: 300, baselineHours: 1, minBaselineEvents: 1 },
    2,
  ],
])("what a rule had to say %s is over when it is looked at again", async (name, terms, failures) => {
  const organizationId = await makeOrganization(stores);
  await server.send(organizationId, "POST", PATH, { name, ...terms });
  await server.work();
  await server.store(organizationId, ...entries("noted", server.clock.nowMs, 1));
  await server.work();
  await server.pass(5 * MINUTE_MS);
  await server.sql`
    UPDATE live_rules SET last_error = 'something', failures = ${failures}, retry_at = now()
    WHERE organization_id = ${organizationId}`;
  await server.store(organizationId, ...entries("noted", server.clock.nowMs, 1));
  await server.work();
  const rows = await server.sql`
    SELECT last_error, failures FROM live_rules WHERE organization_id = ${organizationId}`;
  expect([...rows]).toEqual([{ last_error: null, failures: 0 }]);
});

test("a rule that misses what does not come is not written of each time that something comes, and misses it all the same", async () => {
  const organizationId = await makeOrganization(stores);
  const terms = { name: "beat", query: "heart", threshold: 100, windowSec: 60, noDataSec: 600 };
  const { body } = await server.send(organizationId, "POST", PATH, terms);
  await server.work();
  const come = async () => {
    await server.store(organizationId, ...entries("heart", server.clock.nowMs, 1));
    await server.work();
  };
  await come();
  const before = (await evaluations(organizationId)).beat?.version ?? -1;
  for (let i = 0; i < 8; i++) {
    server.clock.nowMs += MINUTE_MS;
    await come();
  }
  expect((await evaluations(organizationId)).beat).toEqual({ version: before, left: false, looked: true });
  const lastMs = server.clock.nowMs;
  await server.pass(9 * MINUTE_MS);
  expect(await server.toldOf(organizationId)).toEqual([]);
  await server.pass(2 * MINUTE_MS);
  const [missed, ...others] = await server.toldOf(organizationId);
  expect(others).toEqual([]);
  expect(missed).toMatchObject({ kind: "raised", payload: { since: new Date(lastMs).toISOString() } });
  // Of a shorter time it is looked at whether it is over.
  await come();
  server.clock.nowMs += MINUTE_MS;
  await come();
  await server.send(organizationId, "PATCH", `${PATH}/${body.id}`, { noDataSec: 60 });
  await server.pass(2 * MINUTE_MS);
  expect((await server.toldOf(organizationId)).map(({ kind }) => kind)).toEqual([
    "raised",
    "cleared",
    "raised",
  ]);
});
