import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { lockOrganization } from "../../../src/storage/organization-transaction.ts";
import { eventually } from "../../harness/eventually.ts";
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
let made = 0;
beforeAll(async () => {
  stores = await openTestStores();
  server = configurationServer(stores);
});
afterAll(() => stores.close());

const fresh = (): Promise<Organization> => server.organization(`config-${++made}`);

const kinds = (resources: Resources): string[] => Object.keys(resources).toSorted();

describe("files", () => {
  test("make an organisation of every kind in one change, and then change nothing", async () => {
    const own = await fresh();
    const wanted = whole(own);
    const count = Object.values(wanted).reduce((sum, records) => sum + Object.keys(records).length, 0);
    const planned = await own.plan(wanted);
    expect(planned).toMatchObject({ hasChanges: true, summary: { create: count, unchanged: 0 } });
    const applied = await own.apply(wanted, { planId: planned.planId });
    expect(applied.planId).toBe(planned.planId);
    expect(await own.plan(wanted)).toMatchObject({
      hasChanges: false,
      summary: { unchanged: count },
      changes: [],
    });
    expect(await own.apply(wanted)).toMatchObject({ hasChanges: false });

    const exported = await own.export();
    expect(kinds(exported)).toEqual(kinds(wanted));
    expect(exported.monitors).toMatchObject({
      "api-eu": {
        escalationPolicyId: { ref: "escalation-policies/primary" },
        alertWebhookUrl: { secret: "kept" },
      },
      "api-us": { headers: { secret: "kept" } },
    });
    expect(exported["escalation-policies"]?.primary?.steps).toEqual(
      wanted["escalation-policies"]?.primary?.steps,
    );
    expect(await own.plan(exported)).toMatchObject({ hasChanges: false });
    const drift = await own.send("GET", `${CONFIG}/drift`);
    expect(JSON.parse(await drift.text())).toEqual({ drift: [], checked: count, leftOut: [] });
  });

  test("leave a row of every record in the audit log, under the actions of its routes, and one of their own", async () => {
    const own = await fresh();
    const { applyId } = await own.apply({ ...search("a"), monitors: { web: { name: "Web", ...MONITOR } } });
    await own.apply({ ...search("b"), monitors: {} }, { prune: true });
    const rows = await own.audit();
    expect(rows.map(({ action }) => action)).toEqual([
      ...["CREATE_SAVED_SEARCH", "CREATE_MONITOR", "APPLY_CONFIGURATION"],
      ...["CREATE_SAVED_SEARCH", "DELETE_MONITOR", "DELETE_SAVED_SEARCH", "APPLY_CONFIGURATION"],
    ]);
    expect(rows.slice(0, 3).map(({ meta }) => meta.applyId)).toEqual([applyId, applyId, applyId]);
  });

  test("describe settings of which there is one, and set them back when they are described no more", async () => {
    const own = await fresh();
    const settings = (days: number): Resources => ({
      retention: { logs: { days, rules: [{ level: "debug", days: 7 }] } },
      "model-prices": { list: { prices: { small: { inputPerMillion: 1, outputPerMillion: 2 } } } },
      "alert-channels": { everyone: { alertEmail: "ops@example.org" } },
    });
    await own.apply(settings(90));
    const { changes } = await own.plan(settings(60));
    expect(changes).toMatchObject([{ key: "logs", fields: [{ field: "days", before: 90, after: 60 }] }]);
    await own.apply(settings(60));
    expect(await own.export()).toEqual(settings(60));
    await own.apply({}, { prune: true });
    expect(await own.export()).toEqual({});
    expect((await own.audit()).map(({ action }) => action)).toEqual([
      ...["UPDATE_ALERT_CHANNELS", "UPDATE_LOG_RETENTION", "SET_MODEL_PRICES", "APPLY_CONFIGURATION"],
      ...["UPDATE_LOG_RETENTION", "APPLY_CONFIGURATION"],
      ...["SET_MODEL_PRICES", "UPDATE_LOG_RETENTION", "UPDATE_ALERT_CHANNELS", "APPLY_CONFIGURATION"],
    ]);
  });

  test("keep what alert channels have of secrets, templates among them", async () => {
    const own = await fresh();
    const templates = [
      { name: "push", url: { secret: { value: "https://push.example.org/t0ken" } }, body: "x" },
    ];
    const said = (alertEmail: string, kept: unknown): Resources => ({
      "alert-channels": { everyone: { alertEmail, templates: kept } },
    });
    await own.apply(said("a@example.org", templates));
    const planned = await own.plan(said("b@example.org", { secret: "kept" }));
    expect(planned.changes).toMatchObject([{ action: "update", fields: [{ field: "alertEmail" }] }]);
    await own.apply(said("b@example.org", { secret: "kept" }));
    expect(await own.export()).toEqual(said("b@example.org", { secret: "kept" }));
    expect(await own.plan(said("b@example.org", templates))).toMatchObject({ hasChanges: false });
    expect(JSON.stringify(await own.audit())).not.toContain("t0ken");
  });

  test("change what they say otherwise, and no other field", async () => {
    const own = await fresh();
    await own.apply({ monitors: { web: { name: "Web", ...MONITOR, tags: ["a"], keyword: "up" } } });
    const next = { monitors: { web: { name: "Web", ...MONITOR, tags: ["b"] } } };
    expect((await own.plan(next)).changes).toEqual([
      {
        ...{ kind: "monitors", key: "web", action: "update", isAdopted: false, movedFrom: null },
        fields: [
          { field: "keyword", before: "up", after: null, isSecret: false, isDrifted: false },
          { field: "tags", before: ["a"], after: ["b"], isSecret: false, isDrifted: false },
        ],
      },
    ]);
    await own.apply(next);
    const [monitor] = await own.listed("/api/v1/monitors");
    expect(monitor).toMatchObject({ keyword: null, tags: ["b"], intervalSec: 60 });
  });

  test("make another record where a field never changes", async () => {
    const own = await fresh();
    const rule = (windowSec: number): Resources => ({
      "metric-alerts": { many: { name: "Many", metricName: "queue", threshold: 1, windowSec } },
    });
    await own.apply(rule(60));
    expect((await own.plan(rule(120))).changes).toMatchObject([{ action: "replace" }]);
    await own.apply(rule(120));
    expect(await own.plan(rule(120))).toMatchObject({ hasChanges: false, summary: { unchanged: 1 } });
  });

  test("forget of a schedule what has ended, and keep the turns that stay", async () => {
    let now = Date.parse("2030-01-01T00:00:00Z");
    const own = await configurationServer(stores, () => now).organization(`config-${++made}`);
    const turn = (day: number) => ({
      userId: own.email,
      startsAt: `2030-01-0${day}T09:00:00Z`,
      endsAt: `2030-01-0${day + 1}T09:00:00Z`,
    });
    const schedule = (...rotations: object[]): Resources => ({
      "on-call-schedules": { first: { name: "First", rotations } },
    });
    await own.apply(schedule(turn(1), turn(2), turn(3)));
    now += 2 * 86_400_000;
    expect(await own.plan(schedule(turn(1), turn(2), turn(3)))).toMatchObject({ hasChanges: false });
    expect(await own.read(`${CONFIG}/drift`)).toMatchObject({ drift: [] });
    await own.apply(schedule(turn(3), turn(4)));
    const kept = (await own.audit()).filter(({ action }) => action.endsWith("_ROTATION"));
    expect(kept.map(({ action }) => action)).toEqual([
      ...Array(3).fill("CREATE_ROTATION"),
      "DELETE_ROTATION",
      "CREATE_ROTATION",
    ]);
  });

  test("of turns that begin together say in their order which one decides", async () => {
    const own = await fresh();
    const turn = (day: number) => ({
      userId: own.email,
      startsAt: "2031-01-01T09:00:00Z",
      endsAt: `2031-01-0${day}T09:00:00Z`,
    });
    const schedule = (...rotations: object[]): Resources => ({
      "on-call-schedules": { first: { name: "First", rotations } },
    });
    await own.apply(schedule(turn(3), turn(2)));
    expect(await own.plan(schedule(turn(3), turn(2)))).toMatchObject({ hasChanges: false });
    await own.apply(schedule(turn(2), turn(3)));
    expect(await own.plan(schedule(turn(2), turn(3)))).toMatchObject({ hasChanges: false });
  });
});

describe("two at once", () => {
  test("make one record, and the second finds it as it wants it", async () => {
    const own = await fresh();
    const both = await Promise.all([own.apply(search("a")), own.apply(search("a"))]);
    expect(both.map(({ summary }) => summary.create).toSorted()).toEqual([0, 1]);
    expect(await own.listed("/api/v1/saved-searches")).toHaveLength(1);
  });

  test("wait for each other before they look at what there is", async () => {
    const own = await fresh();
    const { promise: hasLock, resolve: lock } = Promise.withResolvers<void>();
    const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
    // Another instance makes the same record in the meantime, as an apply of its own does.
    const elsewhere = stores.postgres.begin(async (tx) => {
      await lockOrganization(tx, own.id);
      lock();
      await mayEnd;
      await tx`
        INSERT INTO saved_searches (organization_id, name, q, created_at, updated_at)
        VALUES (${own.id}, 'Search a', 'words', now(), now())`;
    });
    await hasLock;
    const applied = own.refusal(search("a"), {}, "apply");
    await eventually("the apply waits for the lock", async () => {
      const waiting = await stores.postgres`
        SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      return waiting.length > 0;
    });
    end();
    await elsewhere;
    expect((await applied).fields).toMatchObject([{ path: "/resources/saved-searches/a" }]);
    expect(await own.listed("/api/v1/saved-searches")).toHaveLength(1);
  });
});

describe("a plan", () => {
  test("changes nothing, and tells every refusal of what it would do", async () => {
    const own = await fresh();
    const wrong: Resources = {
      "saved-searches": { bad: { name: "Bad", query: "nonsense(" }, fine: { name: "Fine", q: "x" } },
      "log-alerts": { bad: { name: "Bad", kql: "level ===" } },
      monitors: { here: { name: "Here", ...MONITOR, url: "http://127.0.0.1/" } },
    };
    const refused = await own.refusal(wrong);
    expect(refused).toMatchObject({ status: 400, code: "VALIDATION_FAILED" });
    expect(new Set(refused.fields.map(({ path }) => path))).toEqual(
      new Set([
        "/resources/saved-searches/bad/query",
        "/resources/log-alerts/bad/kql",
        "/resources/monitors/here",
      ]),
    );
    expect(await own.export()).toEqual({});
    expect(await own.audit()).toEqual([]);
  });

  test("is not applied once a record that it is about has changed", async () => {
    const own = await fresh();
    await own.apply(search("a", "first"));
    const { planId } = await own.plan(search("a", "second"));
    const [found] = await own.listed("/api/v1/saved-searches");
    await own.send("PATCH", `/api/v1/saved-searches/${found?.id}`, { q: "third" });
    expect(await own.refusal(search("a", "second"), { planId }, "apply")).toMatchObject({
      status: 409,
      code: "PLAN_STALE",
    });
    expect(await own.refusal(search("a", "fourth"), { planId }, "apply")).toMatchObject({
      code: "PLAN_STALE",
    });
    const again = await own.plan(search("a", "second"));
    await own.apply(search("a", "second"), { planId: again.planId });
    expect(await own.read("/api/v1/saved-searches")).toMatchObject([{ q: "second" }]);
  });

  test("stands while something else changes", async () => {
    const own = await fresh();
    const { planId } = await own.plan(search("a"));
    await own.send("POST", "/api/v1/saved-searches", { name: "Another" });
    expect(await own.apply(search("a"), { planId })).toMatchObject({ summary: { create: 1 } });
  });
});

describe("what was changed by other means", () => {
  test("is drift, and set back by applying the same files again", async () => {
    const own = await fresh();
    await own.apply(search("a", "first"));
    const [found] = await own.listed("/api/v1/saved-searches");
    await own.send("PATCH", `/api/v1/saved-searches/${found?.id}`, { q: "by hand" });
    const fields = [{ field: "q", before: "first", after: "by hand", isSecret: false, isDrifted: true }];
    expect(await own.read(`${CONFIG}/drift`)).toEqual({
      drift: [{ kind: "saved-searches", key: "a", change: "changed", fields }],
      ...{ checked: 1, leftOut: [] },
    });
    expect((await own.plan(search("a", "first"))).changes).toMatchObject([
      { action: "drift", fields: [{ before: "by hand", after: "first" }] },
    ]);
    expect((await own.plan(search("a", "other"))).changes).toMatchObject([
      { action: "update", fields: [{ isDrifted: true }] },
    ]);
    // Files that say what somebody did by hand agree with it.
    expect(await own.plan(search("a", "by hand"))).toMatchObject({ hasChanges: false });
    await own.apply(search("a", "by hand"));
    expect(await own.read(`${CONFIG}/drift`)).toMatchObject({ drift: [] });
  });

  test("is made again where it was deleted", async () => {
    const own = await fresh();
    await own.apply(search("a"));
    const [found] = await own.listed("/api/v1/saved-searches");
    await own.send("DELETE", `/api/v1/saved-searches/${found?.id}`);
    expect(await own.read(`${CONFIG}/drift`)).toMatchObject({ drift: [{ key: "a", change: "deleted" }] });
    expect(await own.apply(search("a"))).toMatchObject({ summary: { create: 1 } });
    expect(await own.read(`${CONFIG}/drift`)).toMatchObject({ drift: [], checked: 1 });
  });
});

describe("keys", () => {
  test("take over a record of the same name only where that is asked for", async () => {
    const own = await fresh();
    await own.send("POST", "/api/v1/saved-searches", { name: "Search a", q: "by hand" });
    const refused = await own.refusal(search("a", "file"));
    expect(refused).toMatchObject({ status: 400, fields: [{ path: "/resources/saved-searches/a" }] });
    expect((await own.plan(search("a", "file"), { adopt: true })).changes).toMatchObject([
      { action: "update", isAdopted: true, fields: [{ field: "q", before: "by hand", after: "file" }] },
    ]);
    await own.apply(search("a", "file"), { adopt: true });
    expect(await own.read("/api/v1/saved-searches")).toMatchObject([{ q: "file" }]);
    expect(await own.plan(search("a", "file"))).toMatchObject({
      hasChanges: false,
      summary: { unchanged: 1 },
    });
  });

  test("of several records of one name take the one that is alike, and else none", async () => {
    const own = await fresh();
    for (const q of ["one", "two"]) await own.send("POST", "/api/v1/saved-searches", { name: "Search a", q });
    const exported = await own.export();
    expect(Object.keys(exported["saved-searches"] ?? {})).toEqual(["search-a", "search-a-2"]);
    expect(await own.plan(exported, { adopt: true })).toMatchObject({
      summary: { adopt: 2, update: 0, unchanged: 2 },
    });
    expect((await own.refusal(search("a", "three"), { adopt: true })).fields).toHaveLength(1);
  });

  test("of one name are two records, and none takes over what the other one stands for", async () => {
    const own = await fresh();
    await own.apply(search("a"));
    const record = { name: "Search a", q: "words" };
    const planned = await own.plan({ "saved-searches": { a: record, b: record } }, { adopt: true });
    expect(planned.summary).toMatchObject({ create: 1, adopt: 0, unchanged: 1 });
  });

  test("that nothing describes any more are orphans, and go with prune alone", async () => {
    const own = await fresh();
    await own.apply({
      "saved-searches": { ...search("a")["saved-searches"], ...search("b")["saved-searches"] },
    });
    expect(await own.plan(search("a"))).toMatchObject({
      hasChanges: false,
      changes: [{ key: "b", action: "orphan" }],
    });
    await own.apply(search("a"));
    expect(await own.read("/api/v1/saved-searches")).toHaveLength(2);
    expect(await own.plan({}, { prune: true })).toMatchObject({ summary: { delete: 2 } });
    await own.apply(search("a"), { prune: true });
    expect(await own.read("/api/v1/saved-searches")).toMatchObject([{ name: "Search a" }]);
    expect(await own.read(`${CONFIG}/drift`)).toMatchObject({ checked: 1 });
  });

  test("go with what refers to them, in the right order", async () => {
    const own = await fresh();
    await own.apply(whole(own));
    expect(await own.apply({}, { prune: true })).toMatchObject({ summary: { create: 0, orphan: 0 } });
    expect(await own.export()).toEqual({});
  });

  test("are renamed without another record", async () => {
    const own = await fresh();
    await own.apply(search("a"));
    const [before] = await own.listed("/api/v1/saved-searches");
    const moved = { "saved-searches": { z: { ...search("a")["saved-searches"]?.a, moved: { from: "a" } } } };
    expect(await own.plan(moved)).toMatchObject({
      hasChanges: true,
      summary: { move: 1, create: 0, orphan: 0 },
    });
    await own.apply(moved, { prune: true });
    expect(await own.read("/api/v1/saved-searches")).toEqual([before]);
    expect(await own.plan(moved, { prune: true })).toMatchObject({ hasChanges: false });
    const both = {
      "saved-searches": { ...moved["saved-searches"], ...search("a", "again")["saved-searches"] },
    };
    expect((await own.refusal(both)).fields[0]?.path).toBe("/resources/saved-searches/z/moved/from");
  });
});

describe("an apply that fails", () => {
  test("leaves nothing, wherever it fails", async () => {
    const own = await fresh();
    // The last kind of all: everything else is made by then.
    await stores.postgres`
      CREATE FUNCTION fail_here() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''injected''; END'`;
    await stores.postgres`
      CREATE TRIGGER fail_here BEFORE INSERT ON iocs FOR EACH ROW EXECUTE FUNCTION fail_here()`;
    try {
      expect((await own.send("POST", `${CONFIG}/apply`, { resources: whole(own) })).status).toBe(500);
    } finally {
      await stores.postgres`DROP FUNCTION fail_here CASCADE`;
    }
    expect(await own.export()).toEqual({});
    expect(await own.audit()).toEqual([]);
    expect(await own.read(`${CONFIG}/drift`)).toMatchObject({ checked: 0 });
    await own.apply(whole(own));
  });

  test("says of which record and which field the refusal is", async () => {
    const own = await fresh();
    const wrong = { ...search("a"), "log-alerts": { bad: { name: "Bad", kql: "level ===" } } };
    const refused = await own.refusal(wrong, {}, "apply");
    expect(refused).toMatchObject({ code: "KQL_INVALID", error: expect.stringContaining("log-alerts/bad") });
    expect(refused.fields[0]?.path).toBe("/resources/log-alerts/bad/kql");
    expect(await own.export()).toEqual({});
  });
});

function search(key: string, q = "words"): Resources {
  return { "saved-searches": { [key]: { name: `Search ${key}`, q } } };
}
