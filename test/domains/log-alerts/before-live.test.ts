/** What is said of a rule before it goes live: what it costs, what of imported files it would have found, and who would hear. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { EXPENSIVE_MAX } from "../../../src/domains/log-alerts/limits.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { type AlertServer, alertServer, makeOrganization, PATH } from "./alert-server.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

let stores: TestStores;
let server: AlertServer;
beforeAll(async () => {
  stores = await openTestStores();
  server = await alertServer(stores);
});
afterAll(() => stores.close());

test.each([
  [{}, true],
  [{ query: "-ok" }, true],
  [{ kql: "strlen(message) > 100" }, true],
  [{ kql: "status >= 500" }, false],
  [{ query: "payment" }, false],
  [{ level: "error" }, false],
  [{ service: "shop" }, false],
  [{ query: "-ok", level: "error" }, false],
  [{ kind: "scheduled", kql: "summarize n = count() by host" }, false],
])("a rule says whether every entry is looked at for it: %j", async (fields, expensive) => {
  const own = await makeOrganization(stores);
  const rule = { name: "r", ...fields };
  const { body } = await server.send(own, "POST", PATH, rule);
  expect(body.expensive).toBe(expensive);
  expect((await server.send(own, "POST", `${PATH}/preview`, rule)).body.expensive).toBe(expensive);
});

test("an organisation has a bounded number of expensive rules that are enabled, and any number of others", async () => {
  const own = await makeOrganization(stores);
  const other = await makeOrganization(stores);
  const make = (fields: object) => server.send(own, "POST", PATH, { name: "r", query: "-ok", ...fields });
  for (let i = 0; i < EXPENSIVE_MAX; i++) expect((await make({})).status).toBe(201);
  expect(await make({})).toMatchObject({ status: 409, body: { code: "CONFLICT" } });
  const resting = await make({ enabled: false });
  const cheap = await make({ level: "error" });
  expect([resting.status, cheap.status]).toEqual([201, 201]);
  for (const [id, change] of [
    [resting.body.id, { enabled: true }],
    [cheap.body.id, { level: null }],
  ] as const)
    expect((await server.send(own, "PATCH", `${PATH}/${id}`, change)).status).toBe(409);
  const [first] = (await server.send(own, "GET", PATH)).body;
  expect((await server.send(own, "PATCH", `${PATH}/${first.id}`, { query: "bad" })).body.expensive).toBe(
    false,
  );
  expect((await server.send(own, "PATCH", `${PATH}/${resting.body.id}`, { enabled: true })).status).toBe(200);
  expect((await server.send(other, "POST", PATH, { name: "r", query: "-ok" })).status).toBe(201);
});

test("what was old when it came pages nobody, and is found by a preview and by a run", async () => {
  const own = await makeOrganization(stores);
  const rule = { name: "r", query: "failed", threshold: 2, windowSec: 60, groupBy: ["host"] };
  const { body: made } = await server.send(own, "POST", PATH, rule);
  await server.seal();
  const nowMs = server.clock.nowMs;
  const oldMs = nowMs - 9 * DAY_MS;
  const entry = (host: string, atMs: number) => ({ message: "failed", host, atMs });
  await server.store(own, entry("a", oldMs), entry("a", oldMs + 1000), entry("b", oldMs));
  await server.store(own, entry("b", nowMs), entry("b", nowMs - 1000));
  await server.work();
  expect((await server.toldOf(own)).map(({ payload }) => payload.key)).toEqual([`rule:log:${made.id}:["b"]`]);
  const range = { from: new Date(oldMs - DAY_MS).toISOString(), to: new Date(nowMs + 1).toISOString() };
  const { body: preview } = await server.send(own, "POST", `${PATH}/preview`, { ...rule, ...range });
  expect(preview.matched).toBe(5);
  expect(preview.episodes).toMatchObject([
    { group: { host: "a" }, startedAt: new Date(oldMs + 1000).toISOString(), peak: 2, isHistoric: true },
    { group: { host: "b" }, peak: 2, isHistoric: false },
  ]);
  await server.pass(10 * MINUTE_MS);
  const run = await server.send(own, "POST", `${PATH}/${made.id}/runs`, {
    ...range,
    to: new Date(oldMs + DAY_MS).toISOString(),
  });
  expect(run.status).toBe(201);
  const { body: found } = await server.send(own, "GET", `/api/v1/detections?ruleKind=log&ruleId=${made.id}`);
  expect(found.items).toMatchObject([
    { group: ["a"], mode: "run", isTold: false },
    { group: ["b"], mode: "live", isTold: true },
  ]);
});

test("a preview names the channels that would be told, and whom the policy would page", async () => {
  const own = await makeOrganization(stores);
  const { sql } = server;
  const preview = async (fields: object) => {
    const { body } = await server.send(own, "POST", `${PATH}/preview`, { name: "r", query: "x", ...fields });
    return { channels: body.channels, pages: body.pages };
  };
  expect(await preview({})).toEqual({ channels: [], pages: [] });
  const [user] = await sql<{ id: number }[]>`
    INSERT INTO users (email, password_hash, created_at)
    VALUES (${`${own}@example.com`}, 'none', now()) RETURNING id::integer`;
  const userId = user?.id ?? 0;
  await sql`INSERT INTO memberships (organization_id, user_id, role, created_at) VALUES (${own}, ${userId}, 'member', now())`;
  const steps = [
    { type: "user", delaySec: 60, userId },
    { type: "user", delaySec: 300, userId },
  ];
  const [policy] = await sql<{ id: number }[]>`
    INSERT INTO escalation_policies (organization_id, name, steps, repeat, created_at, updated_at)
    VALUES (${own}, 'p', ${sql.json(steps)}, 0, now(), now()) RETURNING id::integer`;
  await sql`
    INSERT INTO alert_defaults (organization_id, alert_email, channels, escalation_policy_id, updated_at)
    VALUES (${own}, 'ops@example.com', '{alertChatAUrl}', ${policy?.id ?? 0}, now())`;
  expect(await preview({})).toEqual({
    channels: ["alertEmail", "alertChatAUrl"],
    pages: [
      { offsetSec: 60, userId },
      { offsetSec: 360, userId },
    ],
  });
  expect((await preview({ alertWebhookUrl: "https://hooks.example.com/x" })).channels).toEqual([
    "alertWebhookUrl",
  ]);
});
