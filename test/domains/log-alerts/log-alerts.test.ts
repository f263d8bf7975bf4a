/** Rules about entries: what they count, when they tell, and that nothing is missed or told twice. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { type AlertServer, alertServer, makeOrganization, NEVER, PATH, type Told } from "./alert-server.ts";
import type { Entry } from "./test-stream.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

let stores: TestStores;
let server: AlertServer;
let own: number;
beforeAll(async () => {
  stores = await openTestStores();
  server = await alertServer(stores);
});
afterAll(() => stores.close());

/** An organisation of its own for each test. */
async function newcomer(): Promise<number> {
  own = await makeOrganization(stores);
  return own;
}

async function make(fields: Record<string, unknown>): Promise<number> {
  const { status, body } = await server.send(own, "POST", PATH, { name: "rule", windowSec: 60, ...fields });
  expect({ status, body }).toMatchObject({ status: 201 });
  await server.seal();
  return body.id;
}

function failed(agoMs = 0, more: Partial<Entry> = {}): Entry {
  return { message: "payment failed", level: "error", atMs: server.clock.nowMs - agoMs, ...more };
}

/** What was told, as `raised rule:log:1` and so on. */
async function told(): Promise<string[]> {
  return (await server.toldOf(own)).map(({ kind, key }) => `${kind} ${key}`);
}

async function firstTold(): Promise<Told["payload"]> {
  const [first] = await server.toldOf(own);
  return first?.payload ?? {};
}

async function stateOf(id: number): Promise<string> {
  return (await server.send(own, "GET", `${PATH}/${id}`)).body.state;
}

describe("a rule of a saved search", () => {
  const save = async (organizationId: number, fields: object): Promise<number> => {
    const [row] = await stores.postgres<{ id: number }[]>`
      INSERT INTO saved_searches ${stores.postgres({ organization_id: organizationId, name: "s", created_at: new Date(), updated_at: new Date(), ...fields })}
      RETURNING id::integer`;
    return row?.id ?? 0;
  };

  test("looks for the same, says otherwise where it does, and keeps its text when the search is gone", async () => {
    await newcomer();
    const id = await save(own, { q: "payment", query: "status >= 500", service: "shop", level: "error" });
    const { body } = await server.send(own, "POST", PATH, {
      name: "r",
      fromSavedSearch: id,
      service: "other",
    });
    expect(body).toMatchObject({
      ...{ query: "payment", kql: "status >= 500", service: "other", level: "error", savedSearchId: id },
    });
    await stores.postgres`DELETE FROM saved_searches WHERE id = ${id}`;
    const after = await server.send(own, "GET", `${PATH}/${body.id}`);
    expect(after.body).toMatchObject({ query: "payment", savedSearchId: null });
  });

  test("is refused where nobody here has it, or no rule can look for that", async () => {
    await newcomer();
    const foreign = await save(await makeOrganization(stores), { q: "x" });
    const loud = await save(own, { level: "shouting" });
    const summed = await save(own, { query: "logs | summarize count()" });
    const refusal = async (fromSavedSearch: number) => {
      const { status, body } = await server.send(own, "POST", PATH, { name: "r", fromSavedSearch });
      return [status, body.fields[0].path];
    };
    expect(await refusal(foreign)).toEqual([400, "/fromSavedSearch"]);
    expect(await refusal(loud)).toEqual([400, "/fromSavedSearch"]);
    expect(await refusal(summed)).toEqual([400, "/kql"]);
    expect((await server.send(own, "GET", PATH)).body).toEqual([]);
  });
});

describe("a log alert", () => {
  test("is made with what is usual, listed, changed and deleted, and never shows whom it tells", async () => {
    await newcomer();
    const made = await server.send(own, "POST", PATH, {
      ...{ name: "Payments fail", query: "payment", alertEmail: "ops@example.com" },
      ...{ alertWebhookUrl: "https://hooks.example.com/secret", alertChatDBotToken: "token" },
    });
    expect(made).toMatchObject({ status: 201, body: { kind: "threshold", threshold: 1, windowSec: 300 } });
    expect(made.body).toMatchObject({
      severity: "medium",
      baselineHours: 168,
      ratioThreshold: 3,
      enabled: true,
    });
    expect(made.body).toMatchObject({
      hasAlertWebhook: true,
      hasAlertChatD: false,
      alertEmail: "ops@example.com",
    });
    expect(JSON.stringify(made.body)).not.toContain("hooks.example.com");
    const { id } = made.body;
    const changed = await server.send(own, "PATCH", `${PATH}/${id}`, {
      ...{ query: null, kql: "level == 'error'", alertChatDChatId: "7", alertWebhookUrl: null, threshold: 4 },
    });
    expect(changed).toMatchObject({
      status: 200,
      body: { query: null, threshold: 4, hasAlertWebhook: false },
    });
    expect(changed.body).toMatchObject({
      hasAlertChatD: true,
      kql: "level == 'error'",
      name: "Payments fail",
    });
    expect((await server.send(own, "GET", PATH)).body).toMatchObject([{ id, threshold: 4 }]);
    expect((await server.send(await makeOrganization(stores), "GET", `${PATH}/${id}`)).status).toBe(404);
    expect((await server.send(own, "DELETE", `${PATH}/${id}`)).status).toBe(204);
    expect((await server.send(own, "GET", PATH)).body).toEqual([]);
    const rows = await server.sql`SELECT 1 FROM live_rules WHERE organization_id = ${own}`;
    expect(rows).toHaveLength(0);
  });

  test.each([
    [{}, "VALIDATION_FAILED", "/name"],
    [{ name: "x", windowSec: 29 }, "VALIDATION_FAILED", "/windowSec"],
    [{ name: "x", threshold: 0 }, "VALIDATION_FAILED", "/threshold"],
    [{ name: "x", ratioThreshold: 1 }, "VALIDATION_FAILED", "/ratioThreshold"],
    [{ name: "x", attackTechnique: "T11" }, "VALIDATION_FAILED", "/attackTechnique"],
    [{ name: "x", groupBy: ["a", "b", "c", "d"] }, "VALIDATION_FAILED", "/groupBy"],
    [{ name: "x", kind: "anomaly", groupBy: ["a"] }, "VALIDATION_FAILED", "/groupBy"],
    [
      { name: "x", kind: "anomaly", baselineHours: 720, windowSec: 30 },
      "VALIDATION_FAILED",
      "/baselineHours",
    ],
    [{ name: "x", escalationPolicyId: 999 }, "VALIDATION_FAILED", "/escalationPolicyId"],
    [{ name: "x", kql: "level ==" }, "KQL_INVALID", "/kql"],
    [{ name: "x", kql: "summarize count() by level" }, "KQL_INVALID", "/kql"],
    [{ name: "x", kql: "ts > ago(1h)" }, "KQL_INVALID", "/kql"],
  ])("%j is refused with its place", async (body, code, path) => {
    await newcomer();
    const refused = await server.send(own, "POST", PATH, body);
    expect(refused).toMatchObject({ status: 400, body: { code } });
    expect(refused.body.fields[0].path).toStartWith(path);
    expect((await server.send(own, "GET", PATH)).body).toEqual([]);
    expect((await server.send(own, "POST", `${PATH}/preview`, body)).status).toBe(
      path === "/escalationPolicyId" ? 200 : 400,
    );
  });

  test("sends to no machine that is this one", async () => {
    await newcomer();
    const refused = await server.send(own, "POST", PATH, {
      name: "x",
      alertWebhookUrl: "http://127.0.0.1/x",
    });
    expect(refused).toMatchObject({ status: 400, body: { code: "ALERT_URL_BLOCKED" } });
  });
});

describe("a threshold", () => {
  test("is told of once, with what was found, and is over when its window and its patience are", async () => {
    await newcomer();
    const id = await make({ query: "payment", threshold: 3, severity: "high" });
    await server.store(own, failed(20 * SECOND_MS), failed(10 * SECOND_MS));
    await server.work();
    expect(await told()).toEqual([]);
    await server.store(own, failed());
    await server.work();
    expect(await told()).toEqual([`raised rule:log:${id}`]);
    const payload = await firstTold();
    expect(payload).toMatchObject({ severity: "high", since: new Date(server.clock.nowMs).toISOString() });
    expect(payload).toMatchObject({
      evidence: { ruleId: id, ruleKind: "log", peak: 3, attackTechnique: null },
    });
    expect(payload.summary).toBe("3 entries in 60 s; the rule tells of 3 or more.");
    expect(await stateOf(id)).toBe("firing");
    await server.store(own, failed(-5 * SECOND_MS));
    await server.pass(30 * SECOND_MS);
    expect(await told()).toHaveLength(1);
    await server.pass(2 * MINUTE_MS);
    expect(await told()).toEqual([`raised rule:log:${id}`, `cleared rule:log:${id}`]);
    expect(await stateOf(id)).toBe("ok");
  });

  test("counts each group apart, by fields and attributes", async () => {
    await newcomer();
    const id = await make({ threshold: 2, groupBy: ["service", "user.name"] });
    const of = (service: string, user: string): Entry => failed(0, { service, attrs: [["user.name", user]] });
    await server.store(own, of("shop", "ana"), of("shop", "bo"), of("shop", "ana"), of("pay", "bo"));
    await server.work();
    expect(await told()).toEqual([`raised rule:log:${id}:["shop","ana"]`]);
    const payload = await firstTold();
    expect(payload).toMatchObject({ title: "rule (shop, ana)" });
    expect(payload).toMatchObject({ evidence: { groupKey: { service: "shop", "user.name": "ana" } } });
    await server.store(own, of("pay", "bo"));
    await server.work();
    expect((await told()).slice(1)).toEqual([`raised rule:log:${id}:["pay","bo"]`]);
  });

  test("pages for nothing that came before the rule; what comes later counts with one window before", async () => {
    await newcomer();
    await server.store(own, failed(30 * SECOND_MS), failed(20 * SECOND_MS), failed(5 * MINUTE_MS));
    await server.seal();
    const id = await make({ query: "payment", threshold: 3 });
    await server.work();
    expect(await told()).toEqual([]);
    await server.store(own, failed());
    await server.work();
    expect(await told()).toEqual([`raised rule:log:${id}`]);
  });

  test("pages for what came before the rule and says that it is from after it, as a clock that is ahead does", async () => {
    await newcomer();
    await server.store(own, failed(-100 * SECOND_MS), failed(-110 * SECOND_MS), failed(-120 * SECOND_MS));
    await server.seal();
    const id = await make({ query: "payment", threshold: 3 });
    await server.work();
    expect(await told()).toEqual([`raised rule:log:${id}`]);
    expect((await firstTold()).since).toBe(new Date(server.clock.nowMs + 120 * SECOND_MS).toISOString());
  });

  test("is no reason to page where entries were old when they came, and no evaded by those from the future", async () => {
    await newcomer();
    const id = await make({ query: "payment", threshold: 2 });
    await server.store(own, failed(25 * HOUR_MS), failed(25 * HOUR_MS), failed(20 * 365 * 24 * HOUR_MS));
    await server.work();
    expect(await told()).toEqual([]);
    const future = server.clock.nowMs + 60 * 365 * 24 * HOUR_MS;
    await server.store(own, failed(0, { atMs: future }), failed(0, { atMs: future + 1 }));
    await server.work();
    expect(await told()).toEqual([`raised rule:log:${id}`]);
    const payload = await firstTold();
    expect(payload.since).toBe(new Date(server.clock.nowMs).toISOString());
  });

  test("waits for as long as the rule says", async () => {
    await newcomer();
    const id = await make({ query: "payment", threshold: 1, forSec: 120, keepFiringSec: 0 });
    await server.store(own, failed());
    await server.work();
    expect(await told()).toEqual([]);
    expect(await stateOf(id)).toBe("pending");
    await server.pass(50 * SECOND_MS);
    await server.store(own, failed());
    await server.pass(50 * SECOND_MS);
    await server.store(own, failed());
    await server.work();
    expect(await told()).toEqual([]);
    await server.pass(25 * SECOND_MS);
    expect(await told()).toEqual([`raised rule:log:${id}`]);
    await server.pass(2 * MINUTE_MS);
    expect((await told()).slice(1)).toEqual([`cleared rule:log:${id}`]);
  });

  test("of a technique of an attack does not end by itself", async () => {
    await newcomer();
    const id = await make({ query: "payment", threshold: 1, attackTechnique: "T1110.001" });
    await server.store(own, failed());
    await server.work();
    await server.pass(10 * MINUTE_MS);
    expect(await told()).toEqual([`raised rule:log:${id}`]);
  });

  test.each(["PATCH", "DELETE"])("ends with its rule: %s", async (method) => {
    await newcomer();
    const id = await make({ query: "payment", threshold: 1 });
    await server.store(own, failed());
    await server.work();
    await server.send(own, method, `${PATH}/${id}`, method === "PATCH" ? { enabled: false } : undefined);
    const [, cleared] = await server.toldOf(own);
    expect(cleared).toMatchObject({
      kind: "cleared",
      payload: { cause: method === "PATCH" ? "paused" : "deleted" },
    });
    await server.store(own, failed());
    await server.work();
    expect(await told()).toHaveLength(2);
  });

  test("that is changed holds for what comes from then on, and the incident stays", async () => {
    await newcomer();
    const id = await make({ query: "payment", threshold: 1 });
    await server.store(own, failed());
    await server.work();
    await server.send(own, "PATCH", `${PATH}/${id}`, { threshold: 5, severity: "critical" });
    await server.store(own, failed());
    await server.work();
    expect(await told()).toEqual([`raised rule:log:${id}`]);
    await server.send(own, "PATCH", `${PATH}/${id}`, { query: "refund" });
    expect((await told()).slice(1)).toEqual([`cleared rule:log:${id}`]);
  });
});

describe("whatever happens", () => {
  test("of more groups than one seal tells apart is told, and so is that the entries of a window are gone by now", async () => {
    await newcomer();
    const fields = { query: "payment", threshold: 3, windowSec: 60, groupBy: ["host"] };
    const id = await make(fields);
    const hosts = Array.from({ length: 2_100 }, (_, i) => `host-${i}`);
    await server.pass(50 * SECOND_MS);
    const halfMs = server.clock.nowMs - 35 * SECOND_MS;
    await server.store(own, ...hosts.map((host) => failed(0, { host, atMs: halfMs })));
    await server.work();
    await server.store(own, ...["host-1", "host-1", "host-2"].map((host) => failed(0, { host })));
    await server.work();
    expect(await told()).toContain(`raised rule:log:${id}:["host-1"]`);
    expect(await told()).toContain(`raised rule:log:${id}:["(other)"]`);
    const { status, body } = await server.send(own, "POST", `${PATH}/preview`, { name: "rule", ...fields });
    expect([status, body.matched]).toEqual([200, 2_103]);
    // Retention takes what was counted, and the window goes on.
    await stores.clickhouse.command({
      query: "DELETE FROM logs WHERE organization_id = {own: UInt32}",
      query_params: { own },
    });
    await server.pass(20 * SECOND_MS);
    await server.store(own, failed(0, { host: "host-2" }), failed(0, { host: "host-2" }));
    await server.work();
    expect(await told()).toContain(`raised rule:log:${id}:["host-2"]`);
    expect(await stateOf(id)).toBe("firing");
  });

  test("two instances that evaluate at once tell once", async () => {
    for (let round = 0; round < 5; round += 1) {
      await newcomer();
      const id = await make({ query: "payment", threshold: 1 });
      await server.store(own, failed());
      await server.seal();
      await Promise.all([1, 2, 3].map(() => server.evaluation().workOnce(NEVER)));
      expect(await told()).toEqual([`raised rule:log:${id}`]);
      const [row] = await server.sql<{ n: number }[]>`
        SELECT count(*)::integer AS n FROM detections WHERE organization_id = ${own}`;
      expect(row?.n).toBe(1);
    }
  });

  test("a seal whose server died before it said what changed is looked at all the same", async () => {
    await newcomer();
    const id = await make({ query: "payment", threshold: 1 });
    const [before] = await server.sql<{ sealed_id: string }[]>`
      SELECT sealed_id::text FROM ingest_streams WHERE NOT ended ORDER BY id DESC LIMIT 1`;
    await server.store(own, failed());
    await server.seal();
    await server.sql`
      UPDATE ingest_streams SET intent_to = sealed_id, sealed_id = ${before?.sealed_id ?? "0"},
        intent_revision = (SELECT revision FROM counter_revisions)
      WHERE NOT ended`;
    await server.sql`DELETE FROM counter_changes`;
    await server.work();
    expect(await told()).toEqual([`raised rule:log:${id}`]);
  });

  test("a rule that cannot be evaluated says so and stops nobody else", async () => {
    await newcomer();
    const broken = await make({ query: "payment", threshold: 2, name: "broken" });
    const whole = await make({ query: "payment", threshold: 1 });
    // As a newer server may have written it.
    await server.sql`UPDATE live_rules SET definition = '{"form": 2}' WHERE rule_id = ${broken}`;
    await server.store(own, failed());
    await server.seal();
    for (let i = 0; i < 3; i += 1) {
      await server.evaluate();
      await server.sql`UPDATE live_rules SET retry_at = now() - interval '1 second'`;
    }
    expect(await told()).toEqual([`raised rule:log:${whole}`]);
    expect((await server.send(own, "GET", `${PATH}/${broken}`)).body).toMatchObject({ state: "error" });
  });
});

describe("an anomaly", () => {
  test("is a window with unusually many, told when it is over with what was usual, and not what a backlog brings", async () => {
    await newcomer();
    const usual = Array.from({ length: 60 }, (_, i) => i).flatMap((minute) =>
      Array.from({ length: 4 + (minute % 3) }, () => failed((minute + 1) * MINUTE_MS)),
    );
    await server.store(own, ...usual);
    await server.seal();
    const id = await make({ kind: "anomaly", query: "payment", baselineHours: 1 });
    await server.pass(MINUTE_MS);
    expect(await told()).toEqual([]);
    await server.store(own, ...Array.from({ length: 60 }, () => failed()));
    await server.work();
    expect(await told()).toEqual([]);
    await server.pass(2 * MINUTE_MS);
    expect(await told()).toContain(`raised rule:log:${id}`);
    const payload = await firstTold();
    expect(payload.summary).toContain("60 entries in the minute from");
    expect(payload.summary).toContain("are usual");
  });
});

const recorded = () =>
  server.sql`SELECT id FROM detections WHERE organization_id = ${own} AND merged_into IS NULL`;

test("what was unusual for a while, and is over for long, is nothing once what was only late has come", async () => {
  await newcomer();
  const perMinute = 18;
  const minutes = (from: number, count: number) =>
    Array.from({ length: count * perMinute }, (_, i) =>
      failed((from - Math.floor(i / perMinute)) * MINUTE_MS),
    );
  await server.store(own, ...minutes(60, 60));
  await server.seal();
  await make({ kind: "anomaly", query: "payment", baselineHours: 1, direction: "drop" });
  await server.work();
  const silentFromMs = server.clock.nowMs;
  await server.pass(20 * MINUTE_MS);
  // It comes again as usual, for far longer than a window and what it keeps firing.
  for (let i = 0; i < 30; i++) {
    server.clock.nowMs += MINUTE_MS;
    await server.store(own, ...minutes(0, 1));
    await server.work();
  }
  expect(await recorded()).toHaveLength(1);
  const ago = Math.ceil((server.clock.nowMs - silentFromMs) / MINUTE_MS);
  await server.store(own, ...minutes(ago + 1, 23));
  await server.work();
  expect(await recorded()).toHaveLength(0);
});

test("what falls silent before its rule is made, and says nothing more, is missed", async () => {
  await newcomer();
  const usual = Array.from({ length: 60 * 18 }, (_, i) => failed((5 + Math.floor(i / 18)) * MINUTE_MS));
  await server.store(own, ...usual);
  await server.seal();
  const id = await make({ kind: "anomaly", query: "payment", baselineHours: 1, direction: "drop" });
  await server.work();
  await server.pass(10 * MINUTE_MS);
  await server.pass(SECOND_MS);
  expect(await told()).toEqual([`raised rule:log:${id}`]);
});

test("a window with too few entries that are only late is none in the end, however long ago it was", async () => {
  await newcomer();
  const perMinute = 18;
  const usual = Array.from({ length: 60 * perMinute }, (_, i) =>
    failed((1 + Math.floor(i / perMinute)) * MINUTE_MS),
  );
  await server.store(own, ...usual);
  await server.seal();
  const madeMs = server.clock.nowMs;
  const id = await make({ kind: "anomaly", query: "payment", baselineHours: 1, direction: "drop" });
  await server.store(own, failed());
  await server.work();
  await server.pass(10 * MINUTE_MS);
  await server.pass(SECOND_MS);
  expect(await told()).toEqual([`raised rule:log:${id}`]);
  const minutes = Math.ceil((server.clock.nowMs - madeMs) / MINUTE_MS) + 1;
  const late = Array.from({ length: minutes * perMinute }, (_, i) =>
    failed(server.clock.nowMs - madeMs - Math.floor(i / perMinute) * MINUTE_MS),
  );
  await server.store(own, ...late);
  await server.work();
  expect(await recorded()).toHaveLength(0);
});

describe("a preview", () => {
  test("tells what a live rule told, and counts what a search shows", async () => {
    await newcomer();
    const fields = { query: "payment", threshold: 2, groupBy: ["service"] };
    const id = await make(fields);
    const fromMs = server.clock.nowMs;
    for (const [service, seconds] of [
      ["a", 0],
      ["a", 20],
      ["b", 30],
      ["a", 70],
      ["b", 80],
      ["b", 300],
    ] as const) {
      server.clock.nowMs = fromMs + seconds * SECOND_MS;
      await server.store(own, failed(0, { service }));
      await server.work();
    }
    const { body } = await server.send(own, "POST", `${PATH}/preview`, {
      ...{ name: "rule", windowSec: 60, ...fields },
      ...{ from: new Date(fromMs).toISOString(), to: new Date(server.clock.nowMs + 1).toISOString() },
    });
    expect(body.matched).toBe(6);
    const live = await server.sql<{ group_key: string; at: Date; peak: number }[]>`
      SELECT group_key, started_at AS at, peak FROM detections
      WHERE organization_id = ${own} AND rule_id = ${id} AND merged_into IS NULL ORDER BY started_at`;
    expect(live.length).toBeGreaterThan(1);
    expect(body.episodes).toMatchObject(
      live.map(({ group_key, at, peak }) => {
        return { group: { service: JSON.parse(group_key)[0] }, startedAt: at.toISOString(), peak };
      }),
    );
    expect(body.samples).toHaveLength(6);
  });
});
