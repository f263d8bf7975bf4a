/** Rules about several entries: what they find, in whatever order it comes, and that nothing is told twice or of others. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { fairShare } from "../../../src/rules/live/read-hits.ts";
import { CORRELATIONS } from "../../../src/rules/packs/correlations.ts";
import type { SampleEntry } from "../../../src/rules/packs/pack.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { type AlertServer, alertServer, makeOrganization } from "../log-alerts/alert-server.ts";
import type { Entry } from "../log-alerts/test-stream.ts";

const PATH = "/api/v1/correlation-rules";
const SEQUENCE = {
  ...{ name: "Guessed, then in", kind: "sequence", joinField: "auth.sourceAddress", windowSec: 60 },
  steps: [{ kql: 'message startswith "Failed password"' }, { kql: 'message startswith "Accepted"' }],
};

let stores: TestStores;
let server: AlertServer;
let own: number;
beforeAll(async () => {
  stores = await openTestStores();
  server = await alertServer(stores);
});
afterAll(() => stores.close());

const send = (method: string, path: string, json?: unknown) => server.send(own, method, path, json);

async function make(fields: Record<string, unknown> = {}): Promise<number> {
  own = await makeOrganization(stores);
  const { status, body } = await send("POST", PATH, { ...SEQUENCE, ...fields });
  expect({ status, body }).toMatchObject({ status: 201 });
  await server.work();
  server.clock.nowMs += 1000;
  return body.id;
}

const sshd = (what: string, address: string, agoMs = 0, user = "ana"): Entry => ({
  ...{
    message: `${what} password for ${user} from ${address} port 4022 ssh2`,
    service: "sshd",
    host: "web-1",
  },
  atMs: server.clock.nowMs - agoMs,
});

const told = async () =>
  (await server.toldOf(own)).map(({ kind, payload }) => (kind === "raised" ? payload.title : kind));

describe("a correlation rule", () => {
  test("is made, changed, read and deleted, and what its kind needs and lacks is refused at its place", async () => {
    const id = await make({
      alertWebhookUrl: "https://hooks.example.com/secret",
      attackTechnique: "T1110.001",
    });
    const { body } = await send("GET", `${PATH}/${id}`);
    expect(body).toMatchObject({ kind: "sequence", severity: "medium", hasAlertWebhook: true, state: "ok" });
    expect(JSON.stringify(body)).not.toContain("hooks.example.com");
    const refused = async (json: object) => {
      const answer = await send("POST", PATH, json);
      return [answer.status, answer.body.code, answer.body.fields?.[0]?.path];
    };
    const { steps: _steps, ...stepless } = SEQUENCE;
    expect(await refused(stepless)).toEqual([400, "VALIDATION_FAILED", "/steps"]);
    const counting = { name: "x", kind: "cardinality", joinField: "host", matchKql: 'service == "a"' };
    expect(await refused(counting)).toEqual([400, "VALIDATION_FAILED", "/distinctField"]);
    const [first] = SEQUENCE.steps;
    expect(await refused({ ...SEQUENCE, steps: [first, { kql: "where (" }] })).toEqual([
      400,
      "KQL_INVALID",
      "/steps/1/kql",
    ]);
    expect(await refused({ ...counting, distinctField: "a", threshold: 2, matchKql: "count" })).toEqual([
      ...[400, "KQL_INVALID", "/matchKql"],
    ]);
    expect(await refused({ ...SEQUENCE, steps: [first] })).toEqual([400, "VALIDATION_FAILED", "/steps"]);
    expect((await send("PATCH", `${PATH}/${id}`, { kind: "sequence", name: "Renamed" })).body.name).toBe(
      "Renamed",
    );
    expect(await send("PATCH", `${PATH}/${id}`, { kind: "cardinality" })).toMatchObject({
      ...{ status: 400, body: { fields: [{ path: "/kind" }] } },
    });
    expect((await send("PATCH", `${PATH}/${id}`, { enabled: false })).body.state).toBe("off");
    expect((await send("DELETE", `${PATH}/${id}`)).status).toBe(204);
    expect((await send("GET", `${PATH}/${id}`)).status).toBe(404);
  });

  test("tells of steps in their order that have a value in common, once, and of nothing else", async () => {
    const id = await make();
    await server.store(own, sshd("Accepted", "203.0.113.7", 500), sshd("Failed", "203.0.113.8", 400));
    await server.store(own, sshd("Accepted", "203.0.113.9", 300), sshd("Failed", "203.0.113.7", 200));
    await server.work();
    expect(await told()).toEqual([]);
    await server.store(own, sshd("Accepted", "203.0.113.7", 100), sshd("Accepted", "203.0.113.7"));
    await server.work();
    expect(await told()).toEqual(["Guessed, then in (203.0.113.7)"]);
    const [{ payload } = { payload: {} }] = await server.toldOf(own);
    expect(payload).toMatchObject({
      summary: "All 2 steps came in their order within 0.1 s for auth.sourceAddress 203.0.113.7.",
      evidence: {
        ...{ ruleKind: "correlation", ruleId: id, condition: "sequence" },
        entries: [{ step: 1 }, { step: 2 }],
      },
    });
    // Each step names the entry that is it.
    const ids = JSON.stringify(payload).match(/(?<="entryId":")[0-9]+/g) ?? [];
    const messages = await stores.clickhouse.query({
      query: `SELECT message FROM logs WHERE organization_id = ${own} AND toString(id) IN ({ids: Array(String)}) ORDER BY id`,
      query_params: { ids: ids },
      format: "JSONEachRow",
    });
    expect((await messages.json<{ message: string }>()).map(({ message }) => message.slice(0, 8))).toEqual([
      "Failed p",
      "Accepted",
    ]);
    await server.pass(10 * 60_000);
    // A person says when it is over.
    expect(await told()).toHaveLength(1);
  });

  test("finds what comes late and in pieces, and nothing that is further apart than its window", async () => {
    await make();
    await server.store(own, sshd("Accepted", "203.0.113.7"));
    await server.pass(30_000);
    await server.store(own, sshd("Failed", "203.0.113.7", 31_000));
    await server.work();
    expect(await told()).toEqual(["Guessed, then in (203.0.113.7)"]);
    await make();
    await server.store(own, sshd("Failed", "203.0.113.7"));
    await server.pass(61_000);
    await server.store(own, sshd("Accepted", "203.0.113.7"));
    await server.work();
    expect(await told()).toEqual([]);
  });

  test("shows the entries of what goes on by what came late after it was over, as of what it told first", async () => {
    await make();
    await server.store(own, sshd("Failed", "203.0.113.7", 1000), sshd("Accepted", "203.0.113.7"));
    await server.work();
    await server.pass(130_000);
    await server.store(own, sshd("Failed", "203.0.113.7", 80_000), sshd("Accepted", "203.0.113.7", 75_000));
    await server.work();
    const all = await server.toldOf(own);
    expect(all.map(({ kind }) => kind)).toEqual(["raised", "raised"]);
    for (const { payload } of all)
      expect(payload).toMatchObject({
        summary: expect.stringContaining("All 2 steps came in their order"),
        evidence: { entries: [{ step: 1 }, { step: 2 }] },
      });
  });

  test("tells nobody of what was there before it, but counts it for what comes after", async () => {
    own = await makeOrganization(stores);
    await server.store(own, sshd("Failed", "203.0.113.7", 2000), sshd("Accepted", "203.0.113.7", 1000));
    await server.store(own, sshd("Failed", "203.0.113.8", 1000));
    expect((await send("POST", PATH, SEQUENCE)).status).toBe(201);
    await server.work();
    expect(await told()).toEqual([]);
    server.clock.nowMs += 1000;
    await server.store(own, sshd("Accepted", "203.0.113.8"));
    await server.work();
    expect(await told()).toEqual(["Guessed, then in (203.0.113.8)"]);
  });

  test("looks further back than its own counts go, which begin with it", async () => {
    own = await makeOrganization(stores);
    await server.store(own, sshd("Failed", "203.0.113.9", 300_000));
    await server.seal();
    expect((await send("POST", PATH, { ...SEQUENCE, windowSec: 600 })).status).toBe(201);
    await server.work();
    expect(await told()).toEqual([]);
    server.clock.nowMs += 1000;
    await server.store(own, sshd("Accepted", "203.0.113.9"));
    await server.work();
    expect(await told()).toEqual(["Guessed, then in (203.0.113.9)"]);
  });

  test("tells of what was there before it and says that it is from after it, as a clock that is ahead does, when nothing else comes", async () => {
    own = await makeOrganization(stores);
    await server.store(
      own,
      sshd("Failed", "203.0.113.7", -200_000),
      sshd("Accepted", "203.0.113.7", -210_000),
    );
    await server.store(own, sshd("Failed", "203.0.113.8", 20_000), sshd("Accepted", "203.0.113.8", 10_000));
    await server.seal();
    expect((await send("POST", PATH, SEQUENCE)).status).toBe(201);
    await server.work();
    expect(await told()).toEqual(["Guessed, then in (203.0.113.7)"]);
  });

  test("puts entries of sources whose clocks differ in order by their own times, whichever comes first, and makes nothing up", async () => {
    await make({ joinField: "sourceAddress" });
    server.clock.nowMs += 120_000;
    /** What the other source writes, by a clock that is so much behind; negative for one that is ahead. */
    const vpn = (address: string, agoMs: number, behindMs: number): Entry => ({
      ...{ message: "Accepted", service: "vpn", attrs: [["source.ip", address]] },
      atMs: server.clock.nowMs - agoMs - behindMs,
    });
    const near = ["203.0.113.1", "203.0.113.2", "203.0.113.3"];
    await server.store(own, vpn("203.0.113.1", 10_000, 20_000), vpn("203.0.113.2", 40_000, -30_000));
    // In one second by both clocks: in either order.
    await server.store(own, vpn("203.0.113.3", 30_000, 20_000));
    // Before what it follows, and further from it than the window.
    await server.store(own, vpn("203.0.113.4", 45_000, 20_000), vpn("203.0.113.5", 10_000, -30_000));
    await server.store(
      own,
      ...[...near, "203.0.113.4", "203.0.113.5"].map((each) => sshd("Failed", each, 50_000)),
    );
    await server.work();
    expect((await told()).toSorted()).toEqual(near.map((each) => `Guessed, then in (${each})`));
  });

  test("counts different values, and entries of others for neither", async () => {
    const counting = {
      ...{ name: "Many accounts", kind: "cardinality", steps: undefined, windowSec: 60 },
      ...{ matchKql: 'message startswith "Failed password"', distinctField: "auth.user", threshold: 3 },
    };
    await make(counting);
    const failed = (user: string) => sshd("Failed", "203.0.113.7", 0, user);
    await server.store(own, failed("a"), failed("a"), failed("b"), sshd("Failed", "203.0.113.8", 0, "c"));
    await server.store(await makeOrganization(stores), failed("c"), failed("d"));
    await server.work();
    expect(await told()).toEqual([]);
    await server.store(own, failed("c"));
    await server.work();
    expect(await told()).toEqual(["Many accounts (203.0.113.7)"]);
  });

  test("finds by a run what was there before it, once, and tells nobody", async () => {
    own = await makeOrganization(stores);
    await server.store(own, sshd("Failed", "203.0.113.7", 20_000), sshd("Accepted", "203.0.113.7", 10_000));
    await server.store(own, sshd("Accepted", "203.0.113.8", 20_000), sshd("Failed", "203.0.113.8", 10_000));
    const { id } = (await send("POST", PATH, SEQUENCE)).body;
    await server.work();
    await server.pass(10 * 60_000);
    const ago = (ms: number) => new Date(server.clock.nowMs - 10 * 60_000 - ms).toISOString();
    const detections = async () =>
      (await send("GET", `/api/v1/detections?ruleKind=correlation&ruleId=${id}`)).body.items;
    expect(await detections()).toEqual([]);
    for (const added of [1, 0])
      expect(await send("POST", `${PATH}/${id}/runs`, { from: ago(60_000), to: ago(0) })).toMatchObject({
        ...{ status: 201, body: { found: 1, added } },
      });
    expect(await detections()).toMatchObject([
      { group: ["203.0.113.7"], startedAt: ago(10_000), mode: "run", isTold: false },
    ]);
    expect(await told()).toEqual([]);
  });

  test("shows beforehand what it would have told, and to others nothing", async () => {
    await make();
    await server.store(own, sshd("Failed", "203.0.113.7", 20_000), sshd("Accepted", "203.0.113.7", 10_000));
    const { body } = await send("POST", `${PATH}/preview`, SEQUENCE);
    expect(body).toMatchObject({ matched: 1, episodesTotal: 1, truncated: false });
    expect(body.episodes).toMatchObject([{ group: { "auth.sourceAddress": "203.0.113.7" }, peak: 2 }]);
    own = await makeOrganization(stores);
    expect((await send("POST", `${PATH}/preview`, SEQUENCE)).body).toMatchObject({
      matched: 0,
      episodes: [],
    });
  });
});

describe("more entries than are looked at together", () => {
  const LOUD = 100_010;

  test("of one value hide nothing of another, and who has the rule is told of which value", async () => {
    const id = await make({ windowSec: 600 });
    await server.store(own, sshd("Failed", "203.0.113.7", 400_000), sshd("Accepted", "203.0.113.7", 399_000));
    await server.store(
      own,
      ...Array.from({ length: LOUD }, (_, i) => sshd("Failed", "198.51.100.1", 398_000 - 3 * i)),
      sshd("Accepted", "198.51.100.1"),
    );
    // What came before the rule is told nobody; the clock is where the last of them are.
    await server.work();
    const preview = async () => (await send("POST", `${PATH}/preview`, { ...SEQUENCE, windowSec: 600 })).body;
    expect(await preview()).toMatchObject({
      truncated: true,
      episodes: [
        { group: { "auth.sourceAddress": "203.0.113.7" } },
        { group: { "auth.sourceAddress": "198.51.100.1" } },
      ],
    });
    const later = 500_000;
    server.clock.nowMs += later;
    await server.store(own, sshd("Accepted", "203.0.113.7", later - 150_000));
    await server.store(own, sshd("Accepted", "198.51.100.1", later - 151_000));
    await server.work();
    expect((await told()).toSorted()).toEqual([
      "Guessed, then in (198.51.100.1)",
      "Guessed, then in (203.0.113.7)",
    ]);
    const { body } = await send("GET", `${PATH}/${id}`);
    expect(body.lastError).toMatch(/^Only the latest \d+ entries of 198\.51\.100\.1 were looked at together/);
  });

  test("are shared so that who has few has all of them", () => {
    const of = (...counts: number[]) => counts.map((n, i) => [`${i}`, n] as const);
    expect(fairShare(of(3, 50, 4), 20)).toBe(13);
    expect(fairShare(of(9, 9, 9), 20)).toBe(6);
    expect(fairShare(of(1, 2, 3), 20)).toBe(20);
    expect(fairShare(of(...Array.from({ length: 30 }, () => 1)), 20)).toBeNull();
  });
});

describe("the catalogue", () => {
  test("becomes rules once, which stay as people made them", async () => {
    own = await makeOrganization(stores);
    const both = await Promise.all([send("POST", `${PATH}/seed`, {}), send("POST", `${PATH}/seed`, {})]);
    expect(both.map(({ body }) => body.created).toSorted((a, b) => a - b)).toEqual([0, CORRELATIONS.length]);
    const { body } = await send("GET", PATH);
    expect(body).toHaveLength(CORRELATIONS.length);
    await send("PATCH", `${PATH}/${body[0].id}`, { windowSec: 77 });
    expect((await send("POST", `${PATH}/seed`, { enable: true })).body).toEqual({
      created: 0,
      existing: CORRELATIONS.length,
    });
    expect((await send("GET", `${PATH}/${body[0].id}`)).body).toMatchObject({
      windowSec: 77,
      enabled: false,
    });
    expect((await send("GET", `${PATH}/catalog`)).body).toHaveLength(CORRELATIONS.length);
  });

  test("finds the chain that each of its rules shows, each by its own rule, and nothing in a part of it", async () => {
    own = await makeOrganization(stores);
    const titles = new Map<string, string[]>();
    const entryOf = ({ attrs = {}, ...entry }: SampleEntry, i: number, of: number): Entry => ({
      ...entry,
      attrs: Object.entries(attrs).map(([key, value]) => [
        key,
        typeof value === "string" ? value : JSON.stringify(value),
      ]),
      jsonKeys: Object.keys(attrs).filter((key) => typeof attrs[key] !== "string"),
      atMs: server.clock.nowMs - (of - i) * 100,
    });
    for (const { name, chain, condition, id: _id, ...rule } of CORRELATIONS) {
      own = await makeOrganization(stores);
      const asked =
        condition.kind === "sequence"
          ? { kind: condition.kind, steps: condition.steps.map((kql) => ({ kql })) }
          : condition;
      const preview = async () => (await send("POST", `${PATH}/preview`, { name, ...rule, ...asked })).body;
      await server.store(own, ...chain.slice(0, -1).map((entry, i) => entryOf(entry, i, chain.length)));
      const before = (await preview()).matched;
      await server.store(
        own,
        ...chain.slice(-1).map((entry) => entryOf(entry, chain.length - 1, chain.length)),
      );
      titles.set(name, [String(before), String((await preview()).matched > 0)]);
    }
    expect([...titles].filter(([, [before, after]]) => before !== "0" || after !== "true")).toEqual([]);
  });
});
