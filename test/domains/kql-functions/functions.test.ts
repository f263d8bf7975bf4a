import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { keptApp, makeOrganization } from "../../kql/kept/kept-app.ts";

const PATH = "/kql/functions";

let stores: TestStores;
let app: ReturnType<typeof keptApp>;
let own: number;
let foreign: number;

beforeAll(async () => {
  stores = await openTestStores();
  app = keptApp(stores);
  own = await makeOrganization(stores, "own");
  foreign = await makeOrganization(stores, "foreign");
  const entry = (organization: number, id: number, level: string, status: number) => ({
    organization_id: organization,
    ts: "2026-01-01 00:00:00",
    id: String(id),
    received_at: "2026-01-01 00:00:00",
    level,
    service: "api",
    message: `entry ${id}`,
    attrs: { status: String(status) },
  });
  const values = [entry(own, 1, "error", 500), entry(own, 2, "info", 200), entry(foreign, 3, "error", 503)];
  await stores.clickhouse.insert({ table: "logs", values, format: "JSONEachRow" });
});
afterAll(() => stores.close());

async function keep(name: string, parameters: string, body: string, organization = own): Promise<number> {
  const made = await app.send(organization, "POST", PATH, { name, parameters, body });
  expect(made).toMatchObject({ status: 201, body: { name, parameters, body, version: 1 } });
  return idOf(made.body);
}

function idOf(body: unknown): number {
  return Number(Reflect.get(Object(body), "id"));
}

/** The rows of a query that is answered, else what is said of it. */
async function rowsOf(query: string, organization = own): Promise<unknown> {
  const { body } = await app.query(organization, query);
  return Reflect.get(Object(body), "rows") ?? messageOf(body);
}

function messageOf(body: unknown): string {
  const [issue] = Object(Reflect.get(Object(body), "fields"));
  return String(Reflect.get(Object(issue), "message"));
}

describe("a function that is kept", () => {
  test("is called like a built-in one: a table, a value, by invoke and with a table as its argument", async () => {
    await keep(
      "ErrorsOf",
      "name: string, most: long = 100",
      'logs | where service == name and level == "error" | take most',
    );
    await keep("Half", "x: real", "let two = 2.0; x / two");
    await keep(
      "Failed",
      "T: (status: dynamic), least: long = 500",
      "T | where tolong(status) >= least | project status",
    );
    await keep("Counted", "T: (*)", "T | summarize n = count()");
    expect(await rowsOf('ErrorsOf("api") | project message')).toEqual([["entry 1"]]);
    expect(await rowsOf('ErrorsOf("api", 0) | count')).toEqual([[0]]);
    expect(await rowsOf('ErrorsOf(most = 1, name = "api") | count')).toEqual([[1]]);
    expect(await rowsOf("print Half(3)")).toEqual([[1.5]]);
    expect(await rowsOf("logs | extend status = attrs.status | invoke Failed(200) | count")).toEqual([[2]]);
    expect(await rowsOf("logs | invoke Counted()")).toEqual([[2]]);
    expect(await rowsOf("Counted((logs | where level == 'info'))")).toEqual([[1]]);
    // What the query itself calls by the name comes first.
    expect(await rowsOf("let Half = (x: long) { x + 1 }; print Half(3)")).toEqual([[4]]);
  });

  test("stands in a search and in a saved search", async () => {
    await keep("IsBad", "level: string", 'level == "error"');
    const found = await app.send(own, "GET", `/logs/search?query=${encodeURIComponent("IsBad(level)")}`);
    expect(found).toMatchObject({ status: 200, body: { total: 1 } });
    const saved = await app.send(own, "POST", "/saved-searches", { name: "bad", query: "IsBad(level)" });
    expect(saved.status).toBe(201);
    expect(
      (await app.send(foreign, "POST", "/saved-searches", { name: "bad", query: "IsBad(level)" })).status,
    ).toBe(400);
  });

  test("is its organisation's alone", async () => {
    const id = await keep("Mine", "", "print x = 1");
    expect(await rowsOf("Mine()", foreign)).toContain("Mine");
    for (const [method, json] of [
      ["GET", undefined],
      ["PATCH", { body: "print 2" }],
      ["DELETE", undefined],
    ] as const)
      expect((await app.send(foreign, method, `${PATH}/${id}`, json)).status).toBe(404);
    expect((await app.send(foreign, "GET", `${PATH}/${id}/versions`)).status).toBe(404);
    expect(await app.send(foreign, "GET", PATH)).toMatchObject({ body: [] });
    // Nor does it see more than whoever calls it.
    await keep("AllLogs", "", "logs | project message", foreign);
    expect(await rowsOf("AllLogs()", foreign)).toEqual([["entry 3"]]);
  });

  test("is compiled when it is kept: what is wrong has its field and place", async () => {
    const cases: [object, object][] = [
      [
        { name: "W", body: "logs | wher x" },
        { path: "/body", line: 1, column: 8, suggestion: "where" },
      ],
      [
        { name: "W", parameters: "a: lng", body: "a" },
        { path: "/parameters", column: 4, text: "lng" },
      ],
      [
        { name: "W", parameters: "a: long", body: "let c = 1;\nb + c" },
        { path: "/body", line: 2, column: 1, text: "b" },
      ],
      [{ name: "W", parameters: "a: string = 5 +", body: "a" }, { path: "/parameters" }],
      [{ name: "W", parameters: ") { 1 }; let f = (", body: "1" }, { path: "/parameters" }],
      [{ name: "W", body: "1 }; let f = () { 2" }, { path: "/body" }],
      [
        { name: "W", body: "W()" },
        { path: "/body", message: "A function cannot call itself: W > W." },
      ],
      [{ name: "W", body: "strlen(1, 2)" }, { path: "/body" }],
    ];
    for (const [sent, issue] of cases)
      expect(await app.send(own, "POST", PATH, sent)).toMatchObject({
        status: 400,
        body: { code: "KQL_INVALID", fields: [issue] },
      });
  });

  test("has a name that nothing else has", async () => {
    await keep("Once", "", "1");
    expect((await app.send(own, "POST", PATH, { name: "Once", body: "2" })).status).toBe(409);
    for (const name of ["strlen", "count", "logs", "checks", "now", "row_number"])
      expect(await app.send(own, "POST", PATH, { name, body: "1" })).toMatchObject({
        status: 400,
        body: { fields: [{ path: "/name" }] },
      });
    expect((await app.send(own, "POST", PATH, { name: "a b", body: "1" })).status).toBe(400);
    expect((await app.upload(own, "Once", "a\n1\n")).status).toBe(409);
  });

  test("cannot come to call itself by others, whichever is changed", async () => {
    const first = await keep("First", "", "print 1");
    await keep("Second", "", "First()");
    await keep("Third", "", "Second()");
    expect(await app.send(own, "PATCH", `${PATH}/${first}`, { body: "Third()" })).toMatchObject({
      status: 400,
      body: { fields: [{ message: expect.stringContaining("First > Third > Second > First") }] },
    });
  });

  test("that is in a circle all the same is refused, and ends", async () => {
    await keep("Ring", "", "print 1");
    await keep("Around", "", "Ring()");
    await stores.postgres`UPDATE kql_functions SET body = 'Around()' WHERE name = 'Ring'`;
    const other = keptApp(stores);
    expect(messageOf((await other.query(own, "Ring()")).body)).toContain("cannot call itself");
    expect(messageOf((await other.query(own, "Ring() | count")).body)).toContain("cannot call itself");
  });

  test("is a new version when its text changes, at once for queries; earlier ones can be read", async () => {
    const id = await keep("Grows", "", "print 1");
    expect(await rowsOf("Grows()")).toEqual([[1]]);
    expect(await app.send(own, "PATCH", `${PATH}/${id}`, { description: "x" })).toMatchObject({
      body: { version: 1 },
    });
    expect(await app.send(own, "PATCH", `${PATH}/${id}`, { body: "print x" })).toMatchObject({ status: 400 });
    expect(
      await app.send(own, "PATCH", `${PATH}/${id}`, { parameters: "x: long = 7", body: "print x" }),
    ).toMatchObject({
      body: { version: 2, description: "x" },
    });
    expect(await rowsOf("Grows()")).toEqual([[7]]);
    expect(await app.send(own, "GET", `${PATH}/${id}/versions`)).toMatchObject({
      body: [
        { version: 2, parameters: "x: long = 7", body: "print x" },
        { version: 1, parameters: "", body: "print 1" },
      ],
    });
    expect((await app.send(own, "DELETE", `${PATH}/${id}`)).status).toBe(204);
    expect(await rowsOf("Grows()")).toContain("Grows");
  });

  test("holds on another instance within a second of its clock", async () => {
    let nowMs = Date.now();
    const other = keptApp(stores, { now: () => nowMs });
    const id = await keep("Moves", "", "print 1");
    expect(await other.query(own, "Moves()")).toMatchObject({ body: { rows: [[1]] } });
    await app.send(own, "PATCH", `${PATH}/${id}`, { body: "print 2" });
    nowMs += 1_000;
    expect(await other.query(own, "Moves()")).toMatchObject({ body: { rows: [[2]] } });
  });

  test("that goes wrong where it is called is named, at the place of the call", async () => {
    await keep("Narrow", "T: (message: string)", "T | project message");
    expect(await app.query(own, "print x = 1\n| invoke Narrow()")).toMatchObject({
      status: 400,
      body: {
        fields: [{ line: 2, column: 10, text: "Narrow", message: expect.stringContaining("In Narrow(): ") }],
      },
    });
  });

  test("takes no attribute of its name away from those who do not call it", async () => {
    await keep("status", "x: long", "x");
    expect(await rowsOf("logs | where status == 500 | count")).toEqual([[1]]);
  });
});
