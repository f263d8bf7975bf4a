import { afterAll, beforeAll, expect, test } from "bun:test";
import { NO_DAILY_CAPS } from "../../../../src/access/principal.ts";
import { RETENTION_MAX_RULES } from "../../../../src/archive/retention/types.ts";
import { logRetentionRoutes } from "../../../../src/domains/logs/retention/routes.ts";
import type { Authenticator } from "../../../../src/http/authenticator.ts";
import { makeOrganization } from "../../../archive/archive-setup.ts";
import { type TestApp, testApp } from "../../../harness/http-app.ts";
import { testLedger } from "../../../harness/ledger.ts";
import { openTestStores, type TestStores } from "../../../harness/stores.ts";

let stores: TestStores;
let app: TestApp;

beforeAll(async () => {
  stores = await openTestStores();
  const authenticator: Authenticator = {
    authenticate: ({ headers }) => ({
      kind: "token",
      userId: 1,
      organizationId: Number(headers.get("x-organization")),
      email: "ana@example.com",
      role: headers.get("x-role") === "member" ? "member" : "admin",
      scopes: (headers.get("x-scopes") ?? "*").split(","),
      caps: NO_DAILY_CAPS,
      tokenId: 3,
      credentialKey: `token:${headers.get("x-organization")}`,
    }),
  };
  app = testApp(logRetentionRoutes({ sql: stores.postgres, defaultDays: 30 }), {
    authenticator,
    ledger: testLedger(stores.postgres),
  });
});
afterAll(() => stores.close());

function send(
  method: "GET" | "PUT",
  organization: number,
  json?: unknown,
  headers: Record<string, string> = {},
) {
  return app.send(method, "/api/v1/logs/retention", {
    headers: { "x-organization": String(organization), ...headers },
    ...(json !== undefined && { json }),
  });
}

test("without settings the server's default holds; what is set is read again and replaces what was", async () => {
  const organization = await makeOrganization(stores);
  const first = await send("GET", organization);
  expect([first.status, await first.json()]).toEqual([200, { days: null, defaultDays: 30, rules: [] }]);
  const rules = [
    { service: "api", level: "error", days: 365 },
    { service: "größe ☃", level: null, days: 0 },
    { service: null, level: "debug", days: 3 },
  ];
  const put = await send("PUT", organization, {
    days: 14,
    rules: [
      { service: "api", level: "error", days: 365 },
      { service: "größe ☃", days: 0 },
      { level: "debug", days: 3 },
    ],
  });
  expect([put.status, await put.json()]).toEqual([200, { days: 14, defaultDays: 30, rules }]);
  expect(await (await send("GET", organization)).json()).toEqual({ days: 14, defaultDays: 30, rules });
  const back = await send("PUT", organization, { days: null });
  expect([back.status, await back.json()]).toEqual([200, { days: null, defaultDays: 30, rules: [] }]);
});

test("a change is in the audit log with what was before", async () => {
  const organization = await makeOrganization(stores);
  await send("PUT", organization, { days: 14 });
  await send("PUT", organization, { days: 7, rules: [{ level: "debug", days: 1 }] });
  const rows = await stores.postgres<{ action: string; resource: string; meta: unknown }[]>`
    SELECT action, resource, meta FROM audit_log WHERE organization_id = ${organization} ORDER BY seq`;
  expect(rows.map(({ action, resource }) => [action, resource])).toEqual([
    ["UPDATE_LOG_RETENTION", "log-retention"],
    ["UPDATE_LOG_RETENTION", "log-retention"],
  ]);
  expect(JSON.stringify(rows[1]?.meta)).toContain('"days"');
});

test("settings are an organisation's own", async () => {
  const [own, other] = [await makeOrganization(stores), await makeOrganization(stores)];
  await send("PUT", own, { days: 5 });
  expect(await (await send("GET", other)).json()).toEqual({ days: null, defaultDays: 30, rules: [] });
});

test("who may not change them is refused", async () => {
  const organization = await makeOrganization(stores);
  expect((await send("PUT", organization, { days: 5 }, { "x-role": "member" })).status).toBe(403);
  expect((await send("PUT", organization, { days: 5 }, { "x-scopes": "logs:read,logs:write" })).status).toBe(
    403,
  );
  expect((await send("GET", organization, undefined, { "x-scopes": "account:write" })).status).toBe(403);
  expect((await send("GET", organization, undefined, { "x-role": "member" })).status).toBe(200);
});

test("what is no setting is refused with its place", async () => {
  const organization = await makeOrganization(stores);
  const rules = Array.from({ length: RETENTION_MAX_RULES + 1 }, () => ({ days: 1 }));
  const bodies: [body: unknown, path: string][] = [
    [{}, "/days"],
    [{ days: -1 }, "/days"],
    [{ days: 1.5 }, "/days"],
    [{ days: 36_501 }, "/days"],
    [{ days: 5, rules: [{ level: "loud", days: 1 }] }, "/rules/0/level"],
    [{ days: 5, rules: [{ service: "", days: 1 }] }, "/rules/0/service"],
    [{ days: 5, rules: [{ service: "api" }] }, "/rules/0/days"],
    [{ days: 5, rules: [{ service: "api", days: 1, host: "x" }] }, "/rules/0/host"],
    [{ days: 5, rules }, "/rules"],
    [{ days: 5, hours: 3 }, "/hours"],
  ];
  for (const [body, path] of bodies) {
    const response = await send("PUT", organization, body);
    const text = await response.text();
    expect([response.status, text.includes(`"path":"${path}"`), text]).toEqual([400, true, text]);
  }
});
