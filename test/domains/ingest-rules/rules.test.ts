import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { removeOldRuleCounts } from "../../../src/domains/ingest-rules/store.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { makeOrganization, openRuleInstance, type RuleInstance } from "./rule-server.ts";

const PATH = "/api/v1/ingest/rules";
const MASK = { name: "cards", action: "mask", patterns: ["card"] };

let stores: TestStores;
let app: RuleInstance;
let own: string;
let organizationId: number;

beforeAll(async () => {
  stores = await openTestStores();
  app = openRuleInstance(stores);
  organizationId = await makeOrganization(stores);
  own = `member/*/1/${organizationId}`;
});
afterAll(() => stores.close());

async function call(method: string, path: string, json?: unknown, as = own) {
  const response = await app.send(method, PATH + path, { as, ...(json !== undefined && { json }) });
  const text = await response.text();
  return { status: response.status, body: text === "" ? null : JSON.parse(text) };
}

describe("a rule", () => {
  test("is made with its defaults, changed, listed in the order of asking, and deleted", async () => {
    const late = await call("POST", "", { ...MASK, position: 5 });
    expect(late).toMatchObject({ status: 201, body: { ...MASK, enabled: true, position: 5, query: null } });
    const first = await call("POST", "", { name: "noise", action: "drop", query: 'level == "debug"' });
    const second = await call("POST", "", { name: "few", action: "sample", keepOneIn: 10 });
    expect(first.body).toMatchObject({ position: 0, keepOneIn: null, fields: null, patterns: null });
    const ids = async () => (await call("GET", "")).body.map(({ id }: { id: number }) => id);
    expect(await ids()).toEqual([first.body.id, second.body.id, late.body.id]);
    const changed = await call("PATCH", `/${first.body.id}`, { position: 9, enabled: false });
    expect(changed.body).toMatchObject({ position: 9, enabled: false, query: 'level == "debug"' });
    expect(await ids()).toEqual([second.body.id, late.body.id, first.body.id]);
    const asMask = { action: "mask", keepOneIn: null, fields: ["user.mail"] };
    expect((await call("PATCH", `/${second.body.id}`, asMask)).body).toMatchObject(asMask);
    for (const id of await ids()) expect((await call("DELETE", `/${id}`)).status).toBe(204);
    expect(await ids()).toEqual([]);
  });

  test.each([
    [{ name: "a", action: "sample" }, "/keepOneIn"],
    [{ name: "a", action: "sample", keepOneIn: 1 }, "/keepOneIn"],
    [{ name: "a", action: "drop", keepOneIn: 2 }, "/keepOneIn"],
    [{ name: "a", action: "mask" }, "/fields"],
    [{ name: "a", action: "mask", fields: [], patterns: [] }, "/fields"],
    [{ name: "a", action: "drop", fields: ["message"] }, "/fields"],
    [{ name: "a", action: "drop", patterns: ["card"] }, "/patterns"],
    [{ name: "a", action: "mask", patterns: ["cards"] }, "/patterns/0"],
    [{ name: "a", action: "mask", fields: ["message", "ts"] }, "/fields/1"],
    [{ name: "a", action: "mask", fields: ["level"] }, "/fields/0"],
    [{ name: "a", action: "mask", fields: ["id"] }, "/fields/0"],
    [{ name: "a", action: "mask", fields: ["attrs.password"] }, "/fields/0"],
    [{ name: "a", action: "hide" }, "/action"],
    [{ ...MASK, enabled: null }, "/enabled"],
    [{ ...MASK, position: -1 }, "/position"],
  ])("%j is refused", async (body, path) => {
    const refused = await call("POST", "", body);
    expect(refused).toMatchObject({ status: 400, body: { code: "VALIDATION_FAILED" } });
    expect(refused.body.fields.map((field: { path: string }) => field.path)).toContain(path);
  });

  test.each([
    "level ==",
    "logs | summarize count()",
    "ts > ago(1h)",
    "id == 7",
    "receivedAt > datetime(2026-01-01)",
    "message matches regex 'a.*b'",
  ])("whose predicate is %p is refused: it cannot be decided while entries are received", async (query) => {
    const refused = await call("POST", "", { ...MASK, query });
    expect(refused).toMatchObject({ status: 400, body: { code: "KQL_INVALID" } });
    expect(refused.body.fields[0]).toMatchObject({ path: "/query", line: 1 });
  });

  test("that would not fit after a change is refused, and stays as it was", async () => {
    const { body } = await call("POST", "", MASK);
    expect((await call("PATCH", `/${body.id}`, { patterns: null })).status).toBe(400);
    expect((await call("PATCH", `/${body.id}`, { action: "drop" })).status).toBe(400);
    expect((await call("GET", `/${body.id}`)).body).toEqual(body);
  });

  test("is seen by its organisation alone, and made by members with sources:write", async () => {
    const { body } = await call("POST", "", MASK);
    const foreign = `owner/*/2/${await makeOrganization(stores)}`;
    expect((await call("GET", `/${body.id}`, undefined, foreign)).status).toBe(404);
    expect((await call("GET", `/${body.id}/counts`, undefined, foreign)).status).toBe(404);
    expect((await call("POST", "", MASK, `viewer/*/1/${organizationId}`)).status).toBe(403);
    expect((await call("POST", "", MASK, `member/sources:read/1/${organizationId}`)).status).toBe(403);
  });
});

describe("counts", () => {
  test("add up by hour over instances, and those of a deleted rule or another organisation are passed over", async () => {
    const HOUR_MS = 3_600_000;
    const at = Date.UTC(2026, 2, 1, 12, 59, 59);
    const early = openRuleInstance(stores, () => at);
    const late = openRuleInstance(stores, () => at + 2_000);
    const { body: rule } = await call("POST", "", MASK);
    const { body: gone } = await call("POST", "", MASK);
    await call("DELETE", `/${gone.id}`);
    for (const { counter } of [early, early, late]) {
      counter.add({ organizationId, ruleId: rule.id, dropped: 2, masked: 3 });
      counter.add({ organizationId, ruleId: gone.id, dropped: 7, masked: 7 });
      counter.add({ organizationId: organizationId + 1000, ruleId: rule.id, dropped: 9, masked: 9 });
    }
    await Promise.all([early.counter.settled(180_000), late.counter.settled(180_000)]);
    const range = `?from=${new Date(at).toISOString()}&to=${new Date(at + HOUR_MS).toISOString()}`;
    expect((await call("GET", `/${rule.id}/counts${range}`)).body).toEqual({
      hours: [
        { hour: "2026-03-01T12:00:00.000Z", dropped: 4, masked: 6 },
        { hour: "2026-03-01T13:00:00.000Z", dropped: 2, masked: 3 },
      ],
      dropped: 6,
      masked: 9,
    });
    const days = 90 * 24 * HOUR_MS;
    await removeOldRuleCounts(stores.postgres, at + days, 1000);
    expect((await call("GET", `/${rule.id}/counts${range}`)).body).toMatchObject({ dropped: 2 });
  });
});
