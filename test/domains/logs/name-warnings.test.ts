import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { QueryRunner } from "../../../src/storage/query-runner.ts";
import { eventually } from "../../harness/eventually.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { queryRunner } from "../../query/query-store.ts";
import { type LogApp, logApp } from "./log-app.ts";

const OWN = 7;
let stores: TestStores;
let app: LogApp;

beforeAll(async () => {
  stores = await openTestStores();
  app = logApp(stores);
  const entry = (id: number, level: string, attrs: Record<string, string>) => ({
    organization_id: OWN,
    ts: "2026-01-01 00:00:00",
    id: String(id),
    received_at: "2026-01-01 00:00:00",
    level,
    service: "api",
    message: "an error",
    attrs,
  });
  const values = [
    entry(1, "error", { status: "500", "http.method": "GET" }),
    entry(2, "info", { status: "200" }),
  ];
  await stores.clickhouse.insert({ table: "logs", values, format: "JSONEachRow" });
});
afterAll(() => stores.close());

async function warningsOf(query: string, more: object = {}, organization = OWN): Promise<unknown> {
  const answer = await app.query(organization, { query, ...more });
  return Reflect.get(Object(JSON.parse(await answer.text())), "warnings");
}

/** The same as soon as there are any: a machine that is busy may take longer than a decoration of an answer may. */
const toldOf = (query: string): Promise<unknown> =>
  eventually("it is told of", async () => {
    const warnings = await warningsOf(query);
    return Array.isArray(warnings) && warnings.length > 0 ? warnings : null;
  });

test("a table that a fuzzy union goes on without is told of, with its place", async () => {
  const query = "union isfuzzy=true (logs | take 1), SecurityEvent | count";
  const answer = await app.query(OWN, { query });
  const start = query.indexOf("SecurityEvent");
  expect(await answer.json()).toMatchObject({
    rows: [[1]],
    partial: false,
    warnings: [
      {
        code: "NO_SUCH_TABLE",
        day: null,
        message: expect.stringContaining("no table SecurityEvent"),
        name: "SecurityEvent",
        start,
        end: start + "SecurityEvent".length,
      },
    ],
  });
});

describe("a name that no entry has", () => {
  test.each([
    ['levle == "error"', "levle", "level", 0],
    ["logs | where statsu >= 500 | summarize count() by service", "statsu", "status", 13],
    ["logs | where level == error", "error", '"error"', 22],
    ["logs | where level != eror", "eror", '"eror"', 22],
    ["error", "error", '"error"', 0],
    ["logs | summarize count() by servce", "servce", "service", 28],
  ])(
    "in %s is told of, with its place and what was probably meant",
    async (query, name, suggestion, start) => {
      expect(await toldOf(query)).toEqual([
        {
          code: "NO_SUCH_ATTRIBUTE",
          day: null,
          message: expect.stringContaining(suggestion),
          name,
          start,
          end: start + name.length,
          suggestion,
        },
      ]);
    },
  );

  test.each([
    "status == 500",
    "logs | where http.method == 'GET'",
    "http == 'x'",
    "level == 'error'",
    "entirely_different == 1",
    "let levle = 5; print levle",
    "logs | extend levle = 1 | where levle == 1",
    "logs | where message has 'levle'",
  ])("is not in %s", async (query) => {
    expect(await warningsOf(query)).toEqual([]);
  });

  test("is not told of where nothing is known of names", async () => {
    expect(await warningsOf('levle == "error"', { from: "2030-01-01T00:00:00Z" })).toEqual([]);
    expect(await warningsOf('levle == "error"', {}, 8)).toEqual([]);
  });

  test("is told of in a search that finds nothing, which is whole all the same", async () => {
    const found = await eventually("it is told of", async () => {
      const answer = JSON.parse(await (await app.search(OWN, { query: "error" })).text());
      return answer.warnings.length > 0 ? answer : null;
    });
    expect(found).toMatchObject({
      entries: [],
      partial: false,
      warnings: [{ code: "NO_SUCH_ATTRIBUTE", name: "error", suggestion: '"error"' }],
    });
    expect(JSON.parse(await (await app.search(OWN, { query: "status" })).text())).toMatchObject({
      warnings: [],
    });
  });

  test("holds nothing up: without an answer in time nothing is told", async () => {
    const runner = queryRunner(stores);
    const never: Pick<QueryRunner, "run" | "read"> = {
      read: (...args) => runner.read(...args),
      run: (operation, ...args) =>
        operation === "attribute_names" ? new Promise(() => undefined) : runner.run(operation, ...args),
    };
    const slow = logApp(stores, {}, { runner: never });
    const answer = await slow.query(OWN, { query: 'levle == "error"' });
    expect(JSON.parse(await answer.text())).toMatchObject({ rows: [], warnings: [] });
  });
});
