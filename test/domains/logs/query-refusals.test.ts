import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { type LogApp, logApp } from "./log-app.ts";

const ORGANIZATION = 7;

let stores: TestStores;
let app: LogApp;

beforeAll(async () => {
  stores = await openTestStores();
  app = logApp(stores);
  const values = Array.from({ length: 50 }, (_, i) => ({
    organization_id: ORGANIZATION,
    ts: Date.now() * 1e6,
    id: String(i + 1),
    received_at: Date.now(),
    level: "info",
    message: `entry ${i}`,
  }));
  await stores.clickhouse.insert({ table: "logs", values, format: "JSONEachRow" });
});
afterAll(() => stores.close());

async function answerOf(query: string) {
  const response = await app.query(ORGANIZATION, { query });
  const body: unknown = await response.json();
  const code = typeof body === "object" && body !== null && "code" in body ? body.code : null;
  const fields = typeof body === "object" && body !== null && "fields" in body ? body.fields : null;
  return { status: response.status, code, fields };
}

const MENTIONS = Array(900).fill("T").join(",");

describe("a text that asks for what cannot be is told so, and is no failure of the server", () => {
  test.each([
    ["a bare name among aggregates", "logs | summarize count by service", "count"],
    [
      "ends of a series of another kind",
      "logs | make-series count() on ts from datetime(2020-01-01) to 5 step 1d",
      "5",
    ],
    ["tables beyond the limit", `let T = logs; union ${MENTIONS} | count`, "T"],
    [
      "a bracket too much in a pattern",
      `logs | parse kind=regex message with ".*(?P<a>'); --)" b | take 1`,
      `".*(?P<a>'); --)"`,
    ],
    [
      "a pattern in parts that fit no more",
      "logs | parse kind=regex message with 'a(' x 'b)' y | take 1",
      "'a('",
    ],
  ])("%s", async (_, query, text) => {
    expect(await answerOf(query)).toMatchObject({
      status: 400,
      code: "KQL_INVALID",
      fields: [{ path: "/query", text }],
    });
  });

  test.each([
    [
      "a text beyond what a text may hold",
      "print x = strrep(strrep(strrep('aaaaaaaaaaaaaaaa', 1024), 1024), 1024) | project strlen(x)",
    ],
  ])("%s", async (_, query) => {
    expect(await answerOf(query)).toMatchObject({ status: 400, code: "QUERY_TOO_EXPENSIVE" });
  });
});

test("a series of a hundred thousand points is answered, for each message as well", async () => {
  const series = "logs | make-series n = count() default=0 on ts from ago(100000s) to now() step 1s";
  const one = await app.query(ORGANIZATION, {
    query: `${series} | project points = array_length(ts), n = array_length(n)`,
  });
  expect(await one.json()).toMatchObject({ rows: [[100_000, 100_000]] });
  const several = await app.query(ORGANIZATION, {
    query: `${series} by message | summarize rows = count(), points = max(array_length(ts))`,
  });
  expect(await several.json()).toMatchObject({ rows: [[50, 100_000]] });
});
