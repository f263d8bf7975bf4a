import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { logReadRoutes } from "../../../src/domains/logs/read-routes.ts";
import { type TestApp, testApp } from "../../harness/http-app.ts";
import { logRanges } from "../../harness/log-ranges.ts";
import { KEEPS_NOTHING } from "../../harness/nothing-kept.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { insertChecks } from "../monitors/stored-checks.ts";
import { idAt, insertRows } from "./stored-rows.ts";

const MINUTE_MS = 60_000;
/** A whole five minutes, long enough ago for nobody's clock to matter. */
const START_MS = Math.floor((Date.now() - 3_600_000) / (5 * MINUTE_MS)) * 5 * MINUTE_MS;
const OWN = 7;
const OTHER = 8;

let stores: TestStores;
let app: TestApp;

beforeAll(async () => {
  stores = await openTestStores();
  const budget = {
    maxExecutionMs: 15_000,
    maxReadBytes: 2 ** 33,
    maxMemoryBytes: 2 ** 30,
    maxResultBytes: 2 ** 27,
  };
  const options = {
    ranges: logRanges(stores),
    cursorKey: new Uint8Array(32).fill(7),
    budget,
    now: Date.now,
    ...KEEPS_NOTHING,
  };
  app = testApp(logReadRoutes(options));
  const check = { organizationId: OWN, monitorId: 17 };
  await insertChecks(stores, [
    { ...check, atMs: START_MS, status: "down", durationMs: 100, statusCode: 503, error: "status_code" },
    { ...check, atMs: START_MS + 1, status: "down", durationMs: 300 },
    { ...check, atMs: START_MS + 5 * MINUTE_MS, status: "down", inMaintenance: true },
    { ...check, atMs: START_MS + 5 * MINUTE_MS + 123, status: "up", durationMs: 12.5, statusCode: 200 },
    { ...check, monitorId: 18, atMs: START_MS, status: "up" },
    { organizationId: OTHER, monitorId: 17, atMs: START_MS, status: "down" },
  ]);
  const entry = (organizationId: number, ms: number, monitor: number) => ({
    ...{
      organizationId,
      ts: BigInt(ms) * 1_000_000n,
      id: idAt(ms),
      message: "deployed",
      attrs: [["monitor", String(monitor)]] as const,
    },
  });
  await insertRows(stores.clickhouse, [entry(OWN, START_MS, 17), entry(OWN, START_MS + 1, 99)]);
});
afterAll(() => stores.close());

interface Asked {
  readonly scopes?: string;
  readonly organization?: number;
  readonly from?: string;
  readonly to?: string;
}

async function ask(query: string, { scopes = "*", organization = OWN, ...range }: Asked = {}) {
  const response = await app.send("POST", "/api/v1/logs/query", {
    as: `viewer/${scopes}/1/${organization}`,
    json: { query, ...range },
  });
  const body: {
    rows?: unknown[][];
    columns?: { name: string; type: string }[];
    code?: string;
    error?: string;
  } = JSON.parse(await response.text());
  return { status: response.status, ...body };
}

describe("a query over checks", () => {
  test("counts what was down by monitor and time, of the organisation alone", async () => {
    const { rows } = await ask(
      'checks | where status == "down" | summarize count() by monitorId, bin(startedAt, 5m) | order by startedAt asc',
    );
    expect(rows).toEqual(
      [
        [17, new Date(START_MS).toISOString(), 2],
        [17, new Date(START_MS + 5 * MINUTE_MS).toISOString(), 1],
      ].map(([id, at, count]) => [id, expect.stringContaining(String(at).slice(0, 19)), count]),
    );
    expect((await ask("checks | count", { organization: OTHER })).rows).toEqual([[1]]);
  });

  test("is part of a search for those who may read monitors, and says which table a row is of", async () => {
    const both = "search * | summarize count() by $table | sort by $table asc";
    expect((await ask(both)).rows).toEqual([
      ["checks", 5],
      ["logs", 2],
    ]);
    expect((await ask(both, { scopes: "logs:read" })).rows).toEqual([["logs", 2]]);
    expect((await ask(both, { organization: OTHER })).rows).toEqual([["checks", 1]]);
    expect((await ask('search in (l*) "deployed" | project $table, message')).rows).toEqual([
      ["logs", "deployed"],
      ["logs", "deployed"],
    ]);
    expect(await ask("search in (checks) *", { scopes: "logs:read" })).toMatchObject({
      status: 403,
      code: "PAT_SCOPE_INSUFFICIENT",
    });
  });

  test("has every column with its type", async () => {
    const { rows, columns } = await ask(
      "checks | where statusCode == 503 | project monitorId, region, status, durationMs, statusCode, error, inMaintenance",
    );
    expect(columns?.map(({ type }) => type)).toEqual([
      "long",
      "string",
      "string",
      "real",
      "int",
      "string",
      "bool",
    ]);
    expect(rows).toEqual([[17, "local", "down", 100, 503, "status_code", false]]);
    const times = await ask(
      `checks | where durationMs < 13 and durationMs > 12 | project millisecond = datetime_part("millisecond", startedAt), late = slot - startedAt, sum = statusCode + 1`,
    );
    expect(times.rows).toEqual([[123, expect.anything(), 201]]);
  });

  test("keeps to the time that is asked for, by when a check began", async () => {
    const from = new Date(START_MS + 1).toISOString();
    const to = new Date(START_MS + 5 * MINUTE_MS).toISOString();
    expect((await ask("checks | count", { from, to })).rows).toEqual([[2]]);
  });

  test("goes together with logs, either way round", async () => {
    const joined = await ask(
      'checks | where status == "up" and monitorId == 17 | extend key = tostring(monitorId) | join kind=inner (logs | extend key = tostring(monitor)) on key | project message, status',
    );
    expect(joined.rows).toEqual([["deployed", "up"]]);
    const among = await ask("logs | where toint(monitor) in ((checks | project toint(monitorId))) | count");
    expect(among.rows).toEqual([[1]]);
    const united = await ask(
      "union (logs | project what = message), (checks | where monitorId == 18 | project what = status) | order by what asc",
    );
    expect(united.rows).toEqual([["deployed"], ["deployed"], ["up"]]);
  });

  test.each([
    "checks | count",
    "logs | join kind=leftsemi (checks) on $left.id == $right.monitorId",
    "logs | where toint(monitor) in ((checks | project toint(monitorId)))",
    "print toscalar(checks | count)",
    'table("checks") | count',
    "union logs, checks",
    "let c = checks; c | count",
  ])("needs the scope monitors:read wherever it stands: %s", async (query) => {
    const refused = await ask(query, { scopes: "logs:read" });
    expect(refused).toMatchObject({ status: 403, code: "PAT_SCOPE_INSUFFICIENT" });
    expect(refused.error).toContain("monitors:read");
    expect((await ask(query, { scopes: "logs:read,monitors:read" })).status).toBe(200);
    expect((await ask(query, { scopes: "monitors:read" })).status).toBe(403);
  });

  test("is no search of entries, and a wrong name in it is said as for every table", async () => {
    const search = await app.send(
      "GET",
      `/api/v1/logs/search?query=${encodeURIComponent("checks | take 1")}`,
      { as: `viewer/*/1/${OWN}` },
    );
    expect(JSON.parse(await search.text()).code).toBe("KQL_INVALID");
    expect(await ask("checks | where statuss == 1")).toMatchObject({ status: 400, code: "KQL_INVALID" });
    expect(await ask("check | count", { scopes: "logs:read" })).toMatchObject({
      status: 400,
      code: "KQL_INVALID",
    });
  });
});
