/** When a rule was not evaluated is known, and can be made up for: by the same code, with the same result, telling nobody. */
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

interface Found {
  readonly group: string[];
  readonly startedAt: string;
  readonly endedAt: string;
  readonly peak: number;
  readonly mode: string;
  readonly isTold: boolean;
}

async function detectionsOf(own: number, id: number, more = ""): Promise<Found[]> {
  const { status, body } = await server.send(
    own,
    "GET",
    `/api/v1/detections?ruleKind=log&ruleId=${id}${more}`,
  );
  expect(status).toBe(200);
  return body.items;
}

test("a rule that was off lists its gap; a run over it finds what it would have found, once, and tells nobody", async () => {
  const own = await makeOrganization(stores);
  const [off, on] = [await rule(own), await rule(own)];
  const beganMs = server.clock.nowMs;
  await server.send(own, "PATCH", `${PATH}/${off}`, { enabled: false });
  await server.pass(MINUTE_MS);
  for (const host of ["web-1", "web-2"]) {
    const atMs = server.clock.nowMs;
    await server.store(own, { message: "disk full", host, atMs }, { message: "disk full", host, atMs });
  }
  await server.work();
  await server.pass(10 * MINUTE_MS);
  await server.send(own, "PATCH", `${PATH}/${off}`, { enabled: true });
  await server.work();
  const runs = await server.send(own, "GET", `${PATH}/${off}/runs`);
  expect(runs.body.runs).toEqual([]);
  expect(runs.body.gaps).toEqual([
    { from: new Date(beganMs).toISOString(), to: new Date(server.clock.nowMs).toISOString() },
  ]);
  expect(Date.parse(runs.body.evaluatedThrough)).toBeGreaterThan(beganMs);
  expect((await server.send(own, "GET", `${PATH}/${on}/runs`)).body.gaps).toEqual([]);

  const told = (await server.toldOf(own)).length;
  expect(await detectionsOf(own, off)).toEqual([]);
  const [gap] = runs.body.gaps;
  const run = await server.send(own, "POST", `${PATH}/${off}/runs`, gap);
  expect(run).toMatchObject({ status: 201, body: { found: 2, added: 2, truncated: false } });
  const again = await server.send(own, "POST", `${PATH}/${off}/runs`, gap);
  expect(again.body).toMatchObject({ found: 2, added: 0 });
  const shape = (found: Found[]) => found.map(({ group, startedAt, peak }) => ({ group, startedAt, peak }));
  const made = await detectionsOf(own, off);
  const byGroup = (left: { group: string[] }, right: { group: string[] }) =>
    String(left.group) < String(right.group) ? -1 : 1;
  expect(shape(made).toSorted(byGroup)).toEqual(shape(await detectionsOf(own, on)).toSorted(byGroup));
  expect(made.map(({ mode, isTold }) => [mode, isTold])).toEqual([
    ["run", false],
    ["run", false],
  ]);
  await server.pass(MINUTE_MS);
  expect((await server.toldOf(own)).slice(told).filter(({ key }) => key.includes(`log:${off}`))).toEqual([]);
  expect((await server.send(own, "GET", `${PATH}/${off}/runs`)).body.runs).toHaveLength(2);
});

test("an old file that is imported pages nobody; a run over its time finds what it says", async () => {
  const own = await makeOrganization(stores);
  const id = await rule(own);
  const fromMs = server.clock.nowMs - 400 * 24 * 60 * MINUTE_MS;
  const atMs = fromMs + 30 * MINUTE_MS;
  for (const host of ["web-1", "web-2"])
    await server.store(
      own,
      { message: "disk full", host, atMs },
      { message: "disk full", host, atMs: atMs + 1 },
    );
  await server.work();
  await server.pass(10 * MINUTE_MS);
  const range = { from: new Date(fromMs).toISOString(), to: new Date(fromMs + 60 * MINUTE_MS).toISOString() };
  const run = await server.send(own, "POST", `${PATH}/${id}/runs`, range);
  expect(run).toMatchObject({ status: 201, body: { found: 2, added: 2 } });
  const found = await detectionsOf(own, id);
  expect(found.map(({ startedAt, mode, isTold }) => [Date.parse(startedAt), mode, isTold])).toEqual([
    [atMs + 1, "run", false],
    [atMs + 1, "run", false],
  ]);
  await server.pass(10 * MINUTE_MS);
  expect(await server.toldOf(own)).toEqual([]);
});

test("a rule that is changed without a pause has no gap, and one that is deleted leaves nothing", async () => {
  const own = await makeOrganization(stores);
  const id = await rule(own);
  await server.send(own, "PATCH", `${PATH}/${id}`, { windowSec: 120, query: "other" });
  expect((await server.send(own, "GET", `${PATH}/${id}/runs`)).body.gaps).toEqual([]);
  await server.send(own, "PATCH", `${PATH}/${id}`, { enabled: false });
  expect((await server.send(own, "GET", `${PATH}/${id}/runs`)).body.gaps).toMatchObject([{ to: null }]);
  await server.send(own, "DELETE", `${PATH}/${id}`);
  expect((await server.send(own, "GET", `${PATH}/${id}/runs`)).status).toBe(404);
  expect(await stores.postgres`SELECT 1 FROM rule_gaps WHERE organization_id = ${own}`).toHaveLength(0);
});

test("what is not over, is no range or is another's cannot be run, and nobody sees another's detections", async () => {
  const own = await makeOrganization(stores);
  const id = await rule(own);
  const at = (agoMs: number) => new Date(server.clock.nowMs - agoMs).toISOString();
  for (const [from, to, path] of [
    [at(MINUTE_MS), at(-MINUTE_MS), "/to"],
    [at(0), at(MINUTE_MS), "/from"],
    ["1969-01-01T00:00:00Z", at(MINUTE_MS), "/from"],
  ]) {
    const refused = await server.send(own, "POST", `${PATH}/${id}/runs`, { from, to });
    expect(refused).toMatchObject({ status: 400, body: { fields: [{ path }] } });
  }
  const other = await makeOrganization(stores);
  const range = { from: at(2 * MINUTE_MS), to: at(MINUTE_MS) };
  expect((await server.send(other, "POST", `${PATH}/${id}/runs`, range)).status).toBe(404);
  expect(await detectionsOf(other, id)).toEqual([]);
});

async function rule(own: number): Promise<number> {
  const fields = { name: "Disk is full", query: "disk full", threshold: 2, windowSec: 60, groupBy: ["host"] };
  const { status, body } = await server.send(own, "POST", PATH, fields);
  expect(status).toBe(201);
  await server.seal();
  return body.id;
}
