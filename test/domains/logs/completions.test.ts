/** What a person is offered while writing a query is what the query could name, and names of nothing are told before it runs. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "../../harness/eventually.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { type LogApp, logApp } from "./log-app.ts";

const OWN = 7;
const OTHER = 8;
const PATH = "/api/v1/kql/completions";
let stores: TestStores;
let app: LogApp;

beforeAll(async () => {
  stores = await openTestStores();
  app = logApp(stores);
  const entry = (organization: number, id: number, attrs: object, json: string[] = []) => ({
    ...{ organization_id: organization, id: String(id), level: "info", service: "api", message: "m" },
    ...{ ts: "2026-01-01 00:00:00", received_at: "2026-01-01 00:00:00", attrs, attr_json_keys: json },
  });
  await stores.clickhouse.insert({
    table: "logs",
    values: [
      entry(OWN, 1, { status: "500", "http.method": "GET" }, ["status"]),
      entry(OTHER, 2, { stowaway: "x" }),
    ],
    format: "JSONEachRow",
  });
});
afterAll(() => stores.close());

interface Answer {
  readonly items: readonly {
    readonly label: string;
    readonly insert: string;
    readonly detail: string | null;
  }[];
  readonly replace: { readonly start: number; readonly end: number };
  readonly names: readonly { readonly name: string; readonly suggestion: string }[];
}

async function complete(json: object): Promise<Answer> {
  const response = await app.send("POST", PATH, { headers: { "x-organization": String(OWN) }, json });
  expect(response.status).toBe(200);
  return JSON.parse(await response.text());
}

test("columns, attributes of own entries with their types, and functions are offered where they can stand", async () => {
  const { items, replace } = await complete({ query: "logs | where sta" });
  expect(items[0]).toMatchObject({ label: "status", detail: "real" });
  expect(replace).toEqual({ start: 13, end: 16 });
  const labels = (await complete({ query: "logs | where " })).items.map(({ label }) => label);
  expect(labels).toContain("level");
  expect(labels).not.toContain("stowaway");
  const operators = (await complete({ query: "logs | summ | take 1", position: 11 })).items;
  expect(operators[0]?.insert).toStartWith("summarize");
});

test("names that no entry has are told with what was probably meant, as soon as the query is right so far", async () => {
  const told = await eventually("the names are known", async () => {
    const { names } = await complete({ query: "logs | where statsu == 500" });
    return names.length > 0 ? names : null;
  });
  expect(told).toMatchObject([{ name: "statsu", suggestion: "status" }]);
  expect((await complete({ query: "logs | where statsu ==" })).names).toEqual([]);
});

test("a place outside the text is its end, and what is no place is refused", async () => {
  expect(await complete({ query: "lo", position: 99 })).toEqual(await complete({ query: "lo" }));
  const refused = await app.send("POST", PATH, {
    headers: { "x-organization": String(OWN) },
    json: { query: "logs", position: -1 },
  });
  expect(refused.status).toBe(400);
});
