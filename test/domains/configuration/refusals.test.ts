import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { RECORDS_MAX } from "../../../src/domains/configuration/limits.ts";
import { inOrganization } from "../../../src/storage/organization-transaction.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import {
  CONFIG,
  type ConfigurationServer,
  configurationServer,
  type Organization,
  type Resources,
} from "./configuration-server.ts";
import { MONITOR, whole } from "./samples.ts";

let stores: TestStores;
let server: ConfigurationServer;
let own: Organization;
let foreign: Organization;
beforeAll(async () => {
  stores = await openTestStores();
  server = configurationServer(stores);
  own = await server.organization("own");
  foreign = await server.organization("foreign");
});
afterAll(() => stores.close());

const HOOK = "https://hooks.example.org/s3cr3t-value";
const SEARCH = { "saved-searches": { a: { name: "A", q: "words" } } };
const hooked = (secret: unknown): Resources => ({
  monitors: { web: { name: "Web", ...MONITOR, alertWebhookUrl: secret } },
});

describe("what files say wrongly", () => {
  const POLICY = { name: "P", steps: [{ type: "schedule", delaySec: 0, scheduleId: 1 }] };
  const cases: readonly [what: string, resources: Resources, path: string][] = [
    ["an unknown kind", { incidents: { a: {} } }, "/resources/incidents"],
    [
      "an unknown field",
      { "saved-searches": { a: { name: "A", colour: 1 } } },
      "/resources/saved-searches/a/colour",
    ],
    [
      "a second one of a setting of which there is one",
      { retention: { a: { days: 1 }, b: { days: 2 } } },
      "/resources/retention/b",
    ],
    ["a setting that says nothing", { "model-prices": { a: { prices: {} } } }, "/resources/model-prices/a"],
    ["a missing field", { "saved-searches": { a: {} } }, "/resources/saved-searches/a/name"],
    [
      "a value out of range",
      { "saved-searches": { a: { name: "A", rangeMinutes: 0 } } },
      "/resources/saved-searches/a/rangeMinutes",
    ],
    [
      "a key of other letters",
      { "saved-searches": { "a/b ~": { name: "A" } } },
      "/resources/saved-searches/a~1b ~0",
    ],
    [
      "a reference to nothing",
      { monitors: { a: { name: "A", ...MONITOR, escalationPolicyId: { ref: "escalation-policies/x" } } } },
      "/resources/monitors/a/escalationPolicyId",
    ],
    [
      "a reference to another kind",
      { monitors: { a: { name: "A", ...MONITOR, escalationPolicyId: { ref: "monitors/a" } } } },
      "/resources/monitors/a/escalationPolicyId",
    ],
    [
      "a reference where none can be",
      { "saved-searches": { a: { name: { ref: "monitors/a" } } } },
      "/resources/saved-searches/a/name",
    ],
    [
      "a stranger",
      {
        "escalation-policies": {
          a: { name: "A", steps: [{ type: "user", delaySec: 0, userId: "nobody@example.com" }] },
        },
      },
      "/resources/escalation-policies/a/steps/0/userId",
    ],
    [
      "a record of another organisation",
      {
        "escalation-policies": {
          a: { ...POLICY, steps: [{ type: "schedule", delaySec: 0, scheduleId: 999_999 }] },
        },
      },
      "/resources/escalation-policies/a/steps/0/scheduleId",
    ],
    [
      "a secret that is shown",
      { "saved-searches": { a: { name: { secret: { value: "x" } } } } },
      "/resources/saved-searches/a/name",
    ],
    [
      "a secret that is not there to be kept",
      hooked({ secret: "kept" }),
      "/resources/monitors/web/alertWebhookUrl",
    ],
    ["a secret in no form", hooked({ secret: "env:NAME" }), "/resources/monitors/web/alertWebhookUrl"],
    [
      "a move in no form",
      { "saved-searches": { a: { name: "A", moved: "b" } } },
      "/resources/saved-searches/a/moved",
    ],
  ];
  test.each(cases)("%s is refused at its place", async (_what, resources, path) => {
    const refused = await own.refusal(resources);
    expect(refused.status).toBe(400);
    expect(refused.fields.map((issue) => issue.path)).toContain(path);
    expect(refused.fields).toHaveLength(1);
    expect(await own.export()).toEqual({});
  });

  test("records that need each other in a circle are refused with its way", async () => {
    const functions = {
      a: { name: "A", body: "B() | take 1" },
      b: { name: "B", body: "C() | take 1" },
      c: { name: "C", body: "A() | take 1" },
    };
    const refused = await own.refusal({ "kql-functions": functions });
    expect(refused.fields.map(({ message }) => message)).toEqual([
      "needs itself: kql-functions/a -> kql-functions/b -> kql-functions/c -> kql-functions/a",
    ]);
  });

  test("ten thousand records are refused as they come", async () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`s${n}`, { name: `S ${n}` }]));
    const refused = await own.refusal({ "saved-searches": many });
    expect(refused).toMatchObject({
      status: 400,
      fields: [{ path: "/resources", message: expect.stringContaining(String(RECORDS_MAX)) }],
    });
  });

  test("more changes than one transaction takes are planned and not applied", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 1_001 }, (_, n) => [`a${n}`, { ip: `10.0.${n >> 8}.${n & 255}` }]),
    );
    expect(await own.plan({ assets: many })).toMatchObject({ summary: { create: 1_001 } });
    expect(await own.refusal({ assets: many }, {}, "apply")).toMatchObject({ status: 409, code: "CONFLICT" });
    expect(await own.export()).toEqual({});
  });
});

describe("secrets", () => {
  test("stand in no answer and in no row, are kept where files say so, and changed where they say another", async () => {
    const org = await server.organization("secrets");
    const texts: string[] = [];
    const told = async <T>(answer: Promise<T>): Promise<T> => {
      texts.push(JSON.stringify(await answer));
      return answer;
    };
    await told(org.plan(hooked({ secret: { value: HOOK } })));
    await told(org.apply(hooked({ secret: { value: HOOK } })));
    expect(await told(org.plan(hooked({ secret: { value: HOOK } })))).toMatchObject({ hasChanges: false });
    expect(await told(org.plan(hooked({ secret: "kept" })))).toMatchObject({ hasChanges: false });
    const changed = { field: "alertWebhookUrl", isSecret: true, isDrifted: false };
    const [change] = (await told(org.plan(hooked({ secret: { value: `${HOOK}2` } })))).changes;
    expect(change?.fields).toEqual([changed]);
    await told(org.apply(hooked({ secret: { value: `${HOOK}2` } })));
    await told(org.export());
    await told(org.audit());
    const bindings = await told(Promise.resolve(await stores.postgres`SELECT * FROM config_bindings`));
    expect(bindings.length).toBeGreaterThan(0);
    const [monitor] = await org.listed("/api/v1/monitors");
    await org.send("PATCH", `/api/v1/monitors/${monitor?.id}`, { alertWebhookUrl: `${HOOK}3` });
    expect(await told(org.read(`${CONFIG}/drift`))).toMatchObject({
      drift: [{ fields: [{ field: "alertWebhookUrl", isDrifted: true }] }],
    });
    expect(texts.join("\n")).not.toContain("s3cr3t");

    // Renamed and kept: the secret is the one that there is.
    await org.apply({
      monitors: { web: { name: "Other", ...MONITOR, alertWebhookUrl: { secret: "kept" } } },
    });
    const secrets = await org.read(`/api/v1/monitors/${monitor?.id}/secrets`);
    expect(secrets).toMatchObject({ alertWebhookUrl: `${HOOK}3` });
  });

  test("of a record that is made anew are kept, too", async () => {
    const org = await server.organization("replaced");
    const rule = (fields: object): Resources => ({
      "correlation-rules": {
        a: { name: "A", joinField: "host", alertChatAUrl: { secret: "kept" }, ...fields },
      },
    });
    const cardinality = {
      kind: "cardinality",
      matchKql: "level == 'error'",
      distinctField: "service",
      threshold: 3,
    };
    const sequence = { kind: "sequence", steps: [{ kql: "message has 'a'" }, { kql: "message has 'b'" }] };
    await org.apply(rule({ ...sequence, alertChatAUrl: { secret: { value: HOOK } } }));
    expect(await org.apply(rule(cardinality))).toMatchObject({ summary: { replace: 1 } });
    expect(
      await org.plan(rule({ ...cardinality, alertChatAUrl: { secret: { value: HOOK } } })),
    ).toMatchObject({ hasChanges: false });
  });
});

describe("whose it is", () => {
  test("an organisation sees, plans and deletes nothing of another's", async () => {
    const [one, other] = [await server.organization("one"), await server.organization("other")];
    await one.apply(whole(one));
    expect(await other.export()).toEqual({});
    expect(await other.plan({}, { prune: true })).toMatchObject({ hasChanges: false, changes: [] });
    expect(await other.read(`${CONFIG}/drift`)).toEqual({ drift: [], checked: 0, leftOut: [] });
    const reaching = {
      monitors: { m: { name: "M", ...MONITOR, escalationPolicyId: { ref: "escalation-policies/primary" } } },
    };
    expect((await other.refusal(reaching)).fields[0]?.message).toContain("is not there");
    await other.apply({ ...whole(other), "status-pages": {} });
    await other.apply({}, { prune: true });
    expect(await one.plan(whole(one))).toMatchObject({ hasChanges: false });
    // Also where a statement forgets to ask for it.
    const seen = await inOrganization(stores.postgres, other.id, (tx) => tx`SELECT 1 FROM config_bindings`);
    expect(seen).toHaveLength(0);
  });

  test("members may not, and tokens need the scope of each kind that changes", async () => {
    const as = (role: string, scopes: string, path: string, resources: Resources) =>
      server.app.send("POST", `${CONFIG}/${path}`, {
        as: `${role}/${scopes}/${foreign.userId}/${foreign.id}`,
        json: { resources },
      });
    expect((await as("member", "*", "plan", SEARCH)).status).toBe(403);
    expect((await as("admin", "logs:write,logs:read", "plan", SEARCH)).status).toBe(403);
    expect((await as("admin", "account:write", "plan", SEARCH)).status).toBe(403);
    expect((await as("admin", "account:write,logs:read", "plan", SEARCH)).status).toBe(200);
    const refused = await as("admin", "account:write,logs:read", "apply", SEARCH);
    expect(JSON.parse(await refused.text())).toMatchObject({
      code: "PAT_SCOPE_INSUFFICIENT",
      error: expect.stringContaining("logs:write"),
    });
    expect(await foreign.audit()).toEqual([]);
    expect((await as("admin", "account:write,logs:*", "apply", SEARCH)).status).toBe(200);
    // What changes nothing needs no scope to change it.
    expect((await as("admin", "account:write,logs:read", "apply", SEARCH)).status).toBe(200);
  });

  test("a token is shown the kinds that it may read, and prunes no others", async () => {
    const org = await server.organization("narrow");
    await org.apply({ ...SEARCH, monitors: { web: { name: "Web", ...MONITOR } } });
    const scopes = "account:read,account:write,logs:*";
    const shown = JSON.parse(await (await org.send("GET", CONFIG, undefined, scopes)).text());
    expect(Object.keys(shown.resources)).toEqual(["saved-searches"]);
    expect(shown.leftOut).toContain("monitors");
    const pruned = await org.send("POST", `${CONFIG}/apply`, { resources: {}, prune: true }, scopes);
    expect(JSON.parse(await pruned.text())).toMatchObject({ summary: { delete: 1 } });
    expect(Object.keys(await org.export())).toEqual(["monitors"]);
    const some = JSON.parse(
      await (await org.send("GET", `${CONFIG}?kinds=saved-searches&kinds=iocs`)).text(),
    );
    expect(some).toEqual({ resources: {}, leftOut: [] });
    expect((await org.send("GET", `${CONFIG}?kinds=people`)).status).toBe(400);
  });
});
