import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { NO_DAILY_CAPS } from "../../../src/access/principal.ts";
import { kqlRoutes } from "../../../src/domains/kql/routes.ts";
import { savedSearchRoutes } from "../../../src/domains/saved-searches/routes.ts";
import type { Authenticator } from "../../../src/http/authenticator.ts";
import { type TestApp, testApp } from "../../harness/http-app.ts";
import { testLedger } from "../../harness/ledger.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";

const PATH = "/api/v1/saved-searches";
const MISSING = 999_999_999;

let stores: TestStores;
let app: TestApp;
let own: number;
let foreign: number;

beforeAll(async () => {
  stores = await openTestStores();
  const authenticator: Authenticator = {
    authenticate: (request) => ({
      kind: "token",
      userId: 1,
      organizationId: Number(request.headers.get("x-organization")),
      email: "ana@example.com",
      role: request.headers.get("x-role") === "viewer" ? "viewer" : "member",
      scopes: ["*"],
      caps: NO_DAILY_CAPS,
      tokenId: 3,
      credentialKey: "token:3",
    }),
  };
  app = testApp([...savedSearchRoutes({ sql: stores.postgres }), ...kqlRoutes()], {
    authenticator,
    ledger: testLedger(stores.postgres),
  });
  own = await makeOrganization("own");
  foreign = await makeOrganization("foreign");
});
afterAll(() => stores.close());

async function makeOrganization(name: string): Promise<number> {
  const [row] = await stores.postgres<{ id: number }[]>`
    INSERT INTO organizations (name, created_at) VALUES (${name}, now()) RETURNING id`;
  return row?.id ?? 0;
}

function send(method: string, path: string, json?: unknown, organization = own, role = "member") {
  const headers = { "x-organization": String(organization), "x-role": role };
  return app.send(method, path, { headers, ...(json !== undefined && { json }) });
}

const FULL = {
  name: "Errors of api",
  description: "what failed",
  query: 'level == "error" and status >= 500',
  q: "timeout",
  service: "api",
  level: "error",
  rangeMinutes: 60,
};

describe("a saved search", () => {
  test("is made, listed, changed and deleted; null takes a field away and absence keeps it", async () => {
    const made = await send("POST", PATH, FULL);
    expect(made.status).toBe(201);
    const record = JSON.parse(await made.text());
    expect(record).toMatchObject(FULL);
    const least = JSON.parse(await (await send("POST", PATH, { name: "All" })).text());
    expect(least).toMatchObject({
      name: "All",
      description: null,
      query: null,
      q: null,
      service: null,
      level: null,
      rangeMinutes: null,
    });
    const listed: { id: number }[] = JSON.parse(await (await send("GET", PATH)).text());
    expect(listed.map(({ id }) => id)).toEqual([record.id, least.id]);

    const nothing = {
      description: null,
      query: null,
      q: null,
      service: null,
      level: null,
      rangeMinutes: null,
    };
    const renamed = await send("PATCH", `${PATH}/${record.id}`, { name: "Errors" });
    expect(JSON.parse(await renamed.text())).toMatchObject({ ...FULL, name: "Errors" });
    const emptied = await send("PATCH", `${PATH}/${record.id}`, nothing);
    expect(JSON.parse(await emptied.text())).toMatchObject({ name: "Errors", ...nothing });

    expect((await send("DELETE", `${PATH}/${record.id}`)).status).toBe(204);
    expect((await send("DELETE", `${PATH}/${record.id}`)).status).toBe(404);
  });

  test.each([
    [{}, "/name"],
    [{ name: "" }, "/name"],
    [{ name: null }, "/name"],
    [{ name: "a", rangeMinutes: 0 }, "/rangeMinutes"],
    [{ name: "a", rangeMinutes: 43_201 }, "/rangeMinutes"],
    [{ name: "a", q: "x".repeat(1025) }, "/q"],
    [{ name: "a", level: "x".repeat(65) }, "/level"],
    [{ name: "a", query: "x".repeat(2049) }, "/query"],
    [{ name: "a", service: null }, "/service"],
    [{ name: "a", owner: 1 }, "/owner"],
  ])("%j is refused", async (body, path) => {
    const refused = await send("POST", PATH, body);
    expect(refused.status).toBe(400);
    expect(JSON.parse(await refused.text())).toMatchObject({ code: "VALIDATION_FAILED", fields: [{ path }] });
  });

  test("takes only a query that compiles, made and changed", async () => {
    const wrong = { name: "a", query: "level ==\n  foo(" };
    const refused = await send("POST", PATH, wrong);
    expect(refused.status).toBe(400);
    const body = JSON.parse(await refused.text());
    expect(body).toMatchObject({ code: "KQL_INVALID", fields: [{ path: "/query" }] });
    expect(Object.keys(body.fields[0])).toEqual(
      expect.arrayContaining(["code", "message", "line", "column", "start", "end", "text", "suggestion"]),
    );
    const { id } = JSON.parse(
      await (await send("POST", PATH, { name: "b", query: "logs | summarize count()" })).text(),
    );
    expect((await send("PATCH", `${PATH}/${id}`, { query: "nope | where x" })).status).toBe(400);
    expect((await send("PATCH", `${PATH}/${id}`, { name: null })).status).toBe(400);
  });

  test("is its organisation's alone", async () => {
    const { id } = JSON.parse(await (await send("POST", PATH, FULL)).text());
    expect(JSON.parse(await (await send("GET", PATH, undefined, foreign)).text())).toEqual([]);
    for (const target of [id, MISSING]) {
      expect((await send("PATCH", `${PATH}/${target}`, { name: "mine" }, foreign)).status).toBe(404);
      expect((await send("DELETE", `${PATH}/${target}`, undefined, foreign)).status).toBe(404);
    }
    expect(JSON.parse(await (await send("PATCH", `${PATH}/${id}`, {})).text())).toMatchObject(FULL);
  });

  test("is read by viewers and changed by members", async () => {
    expect((await send("GET", PATH, undefined, own, "viewer")).status).toBe(200);
    expect((await send("POST", PATH, FULL, own, "viewer")).status).toBe(403);
  });
});

test("the capabilities of KQL name operators and functions with their support", async () => {
  const answer = JSON.parse(await (await send("GET", "/api/v1/kql/capabilities")).text());
  expect(answer.operators).toContainEqual(expect.objectContaining({ name: "summarize" }));
  expect(answer.functions).toContainEqual(expect.objectContaining({ name: "strlen", kind: "scalar" }));
});
