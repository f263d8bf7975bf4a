/** Rules that ask a whole query: of each window once, when it is over, whoever asks and whatever the query makes of entries. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { type AlertServer, alertServer, makeOrganization, NEVER, PATH } from "./alert-server.ts";

const MINUTE_MS = 60_000;
const KQL = "where status >= 500 | summarize n = count() by host | where n >= 3";
let stores: TestStores;
let server: AlertServer;
beforeAll(async () => {
  stores = await openTestStores();
  server = await alertServer(stores);
});
afterAll(() => stores.close());

const asked = (fields: object) => ({ name: "Slow", kind: "scheduled", kql: KQL, windowSec: 300, ...fields });

async function makeRule(own: number, fields: object = {}): Promise<number> {
  // From the beginning of a window on.
  server.clock.nowMs = Math.ceil((server.clock.nowMs + 1) / (5 * MINUTE_MS)) * 5 * MINUTE_MS + 1_000;
  const { status, body } = await server.send(own, "POST", PATH, asked(fields));
  expect({ status, body }).toMatchObject({ status: 201 });
  return body.id;
}

async function fail(own: number, host: string, times: number): Promise<void> {
  const entry = { message: "x", host, attrs: [["status", "503"]] as const, jsonKeys: ["status"] };
  await server.store(own, ...Array.from({ length: times }, () => ({ ...entry, atMs: server.clock.nowMs })));
}

async function toldOf(own: number): Promise<string[]> {
  return (await server.toldOf(own)).map(({ kind, key }) => `${kind} ${key.replace(/^rule:log:\d+:?/, "")}`);
}

/** A window ends, and everything of it is known. */
async function endWindow(): Promise<void> {
  await server.pass(5 * MINUTE_MS);
  await server.pass(1_000);
}

const stateOf = async (own: number, id: number) => (await server.send(own, "GET", `${PATH}/${id}`)).body;

test("what the query finds of a window is told when it is over, once, and over when it finds nothing more", async () => {
  const own = await makeOrganization(stores);
  const other = await makeOrganization(stores);
  const id = await makeRule(own);
  await fail(own, "a", 3);
  await fail(own, "b", 2);
  await fail(other, "c", 9);
  await server.pass(MINUTE_MS);
  expect(await toldOf(own)).toEqual([]);
  await server.pass(4 * MINUTE_MS);
  await server.pass(MINUTE_MS);
  expect(await toldOf(own)).toEqual(["raised "]);
  const [told] = await server.toldOf(own);
  expect(told?.payload).toMatchObject({
    summary: "1 row of 300 s; the rule tells of 1 or more. The first: host=a, n=3",
    evidence: { condition: "scheduled", peak: 1, ruleId: id },
  });
  expect((await stateOf(own, id)).state).toBe("firing");
  await server.pass(15 * MINUTE_MS);
  expect(await toldOf(own)).toEqual(["raised ", "cleared "]);
  expect(await toldOf(other)).toEqual([]);
});

test("rows are apart by the columns that the rule groups by, and of the threshold each group needs so many", async () => {
  const own = await makeOrganization(stores);
  await makeRule(own, { groupBy: ["host"] });
  await fail(own, "a", 3);
  await fail(own, "b", 4);
  await endWindow();
  expect((await toldOf(own)).toSorted()).toEqual(['raised ["a"]', 'raised ["b"]']);
  await makeRule(own, { name: "many", threshold: 3 });
  for (const host of ["a", "b", "c"]) await fail(own, host, 3);
  await endWindow();
  expect(await toldOf(own)).toContain("raised ");
});

test("an entry at the border of two windows is of the later one alone", async () => {
  const own = await makeOrganization(stores);
  await makeRule(own, { kql: "where status >= 500 | summarize n = count() | where n >= 3" });
  const border = Math.ceil(server.clock.nowMs / (5 * MINUTE_MS)) * 5 * MINUTE_MS;
  const entry = { message: "x", host: "a", attrs: [["status", "503"]] as const, jsonKeys: ["status"] };
  await server.store(own, { ...entry, atMs: border - 1 }, { ...entry, atMs: border - 1 });
  await server.store(own, { ...entry, atMs: border });
  await endWindow();
  await endWindow();
  expect(await toldOf(own)).toEqual([]);
});

test("two that look at once tell once, and a window that nobody could look at is looked at later", async () => {
  const own = await makeOrganization(stores);
  await makeRule(own);
  await fail(own, "a", 3);
  server.clock.nowMs += 60 * MINUTE_MS;
  await server.seal();
  await server.seal();
  await Promise.all([1, 2, 3].map(() => server.evaluation().workOnce(NEVER)));
  await server.evaluate();
  expect((await toldOf(own)).filter((each) => each.startsWith("raised"))).toHaveLength(1);
});

test("functions and tables that are kept are those of the moment", async () => {
  const own = await makeOrganization(stores);
  await stores.postgres`
    INSERT INTO kql_functions (organization_id, name, parameters, body, version, created_at, updated_at)
    VALUES (${own}, 'Failures', '', 'logs | where status >= 500', 1, now(), now())`;
  await makeRule(own, { kql: "Failures() | summarize n = count() by host" });
  await fail(own, "a", 1);
  await endWindow();
  expect(await toldOf(own)).toEqual(["raised "]);
});

test("a query that fails stops its own rule alone, which says why", async () => {
  const own = await makeOrganization(stores);
  const wrong = await makeRule(own, { groupBy: ["nobody"] });
  const right = await makeRule(own);
  await fail(own, "a", 3);
  for (let i = 0; i < 4; i++) {
    await stores.postgres`UPDATE live_rules SET retry_at = now() WHERE organization_id = ${own}`;
    await endWindow();
  }
  expect(await stateOf(own, wrong)).toMatchObject({
    state: "error",
    lastError: "The answer has no column nobody, by which the rule groups.",
  });
  expect((await server.toldOf(own)).map(({ key }) => key)).toContain(`rule:log:${right}`);
});

test("a preview asks the same of windows that are over", async () => {
  const own = await makeOrganization(stores);
  server.clock.nowMs = Math.ceil((server.clock.nowMs + 1) / (5 * MINUTE_MS)) * 5 * MINUTE_MS + 1_000;
  const fromMs = server.clock.nowMs;
  await fail(own, "a", 3);
  await server.pass(20 * MINUTE_MS);
  const [from, to] = [fromMs - 5 * MINUTE_MS, server.clock.nowMs].map((ms) => new Date(ms).toISOString());
  const { body } = await server.send(own, "POST", `${PATH}/preview`, {
    ...asked({ groupBy: ["host"] }),
    from,
    to,
  });
  expect(body).toMatchObject({ matched: 1, episodesTotal: 1, truncated: false });
  expect(body.episodes[0]).toMatchObject({ group: { host: "a" }, peak: 1 });
});

test.each([
  [{ kql: null }, "/kql"],
  [{ kql: "summarize by" }, "/kql"],
  [{ query: "x" }, "/query"],
  [{ service: "x" }, "/service"],
  [{ noDataSec: 60 }, "/noDataSec"],
  [{ kind: "threshold", kql: "status >= 500", everySec: 60 }, "/everySec"],
  [{ everySec: 30 }, "/everySec"],
])("%j is refused with its place", async (fields, path) => {
  const own = await makeOrganization(stores);
  const { kql, ...rest } = { ...asked({}), ...fields };
  const { status, body } = await server.send(own, "POST", PATH, { ...rest, ...(kql !== null && { kql }) });
  expect([status, body.fields[0].path]).toEqual([400, path]);
});

test("an organisation has a bounded number of them", async () => {
  const own = await makeOrganization(stores);
  for (let i = 0; i < 20; i++) await server.send(own, "POST", PATH, asked({ enabled: false }));
  expect((await server.send(own, "POST", PATH, asked({}))).status).toBe(409);
  expect((await server.send(own, "POST", PATH, { name: "other" })).status).toBe(201);
});
