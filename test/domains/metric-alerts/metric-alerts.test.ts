/** Rules about metrics: when they tell, that nothing is told twice, and that where there are no values nothing is said. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { metricBuckets, windowValues } from "../../../src/rules/evaluation/metric-windows.ts";
import { type Point, pointOf } from "../../../src/rules/metrics/point.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { type AlertServer, alertServer, makeOrganization } from "../log-alerts/alert-server.ts";
import type { Entry } from "../log-alerts/test-stream.ts";
import { insertChecks } from "../monitors/stored-checks.ts";

const MINUTE_MS = 60_000;
const PATH = "/api/v1/metric-alerts";

let stores: TestStores;
let server: AlertServer;
let own: number;
beforeAll(async () => {
  stores = await openTestStores();
  server = await alertServer(stores);
});
afterAll(() => stores.close());

async function make(fields: Record<string, unknown> = {}): Promise<number> {
  own = await makeOrganization(stores);
  const { status, body } = await server.send(own, "POST", PATH, {
    ...{ name: "The queue grows", metricName: "queue.length", threshold: 10, windowSec: 120 },
    ...fields,
  });
  expect({ status, body }).toMatchObject({ status: 201 });
  await server.work();
  return body.id;
}

function value(number: number, agoMs = 0, name = "queue.length"): Entry {
  const attrs = [
    ["metric.name", name],
    ["metric.value", String(number)],
  ] as const;
  return { message: "a point", atMs: server.clock.nowMs - agoMs, attrs, jsonKeys: ["metric.value"] };
}

const told = async () => (await server.toldOf(own)).map(({ kind }) => kind);
const stateOf = async (id: number) => (await server.send(own, "GET", `${PATH}/${id}`)).body;

async function pass(minutes: number): Promise<void> {
  for (let i = 0; i < minutes; i++) await server.pass(MINUTE_MS);
}

describe("a metric alert", () => {
  test("is made with what is usual, changed by its threshold and its being enabled alone, and deleted", async () => {
    const id = await make({ windowSec: undefined, name: "plain" });
    expect(await stateOf(id)).toMatchObject({
      ...{ aggregation: "avg", comparator: "gt", windowSec: 300, severity: "medium", enabled: true },
    });
    const patch = (json: object) => server.send(own, "PATCH", `${PATH}/${id}`, json);
    expect((await patch({ threshold: 3.5 })).body).toMatchObject({ threshold: 3.5 });
    expect(await patch({ name: "other" })).toMatchObject({
      status: 400,
      body: { fields: [{ path: "/name" }] },
    });
    expect((await patch({ enabled: false })).body).toMatchObject({ state: "off" });
    const refused = await server.send(own, "POST", PATH, { name: "x", metricName: "y" });
    expect(refused).toMatchObject({ status: 400, body: { fields: [{ path: "/threshold" }] } });
    expect((await server.send(own, "DELETE", `${PATH}/${id}`)).status).toBe(204);
    expect((await server.send(own, "GET", `${PATH}/${id}`)).status).toBe(404);
  });

  test("with `noDataSec` tells that there are no values any more, and that there are again", async () => {
    const id = await make({ noDataSec: 600 });
    await server.store(own, value(4));
    await pass(8);
    await server.store(own, value(4));
    await pass(10);
    expect(await told()).toEqual([]);
    await pass(4);
    expect(await told()).toEqual(["raised"]);
    expect(await stateOf(id)).toMatchObject({ state: "no_data", noDataSec: 600 });
    await pass(20);
    await server.store(own, value(4));
    await pass(3);
    expect(await told()).toEqual(["raised", "cleared"]);
    await pass(20);
    expect(await told()).toEqual(["raised", "cleared", "raised"]);
    await server.send(own, "PATCH", `${PATH}/${id}`, { noDataSec: null });
    expect(await told()).toEqual(["raised", "cleared", "raised", "cleared"]);
    await pass(20);
    expect(await told()).toHaveLength(4);
  });

  test("tells once that the values of a window are too large, and when they no longer are", async () => {
    const id = await make();
    await server.store(own, value(4), value(30));
    await pass(2);
    expect(await told()).toEqual(["raised"]);
    const [{ payload } = { payload: {} }] = await server.toldOf(own);
    expect(payload).toMatchObject({
      title: "The queue grows",
      summary: "avg of queue.length was 17 over 120 s; the rule tells of more than 10.",
      evidence: { ruleKind: "metric", ruleId: id, condition: "metric" },
    });
    expect(await stateOf(id)).toMatchObject({ state: "firing" });
    await server.store(own, value(1));
    await pass(6);
    expect(await told()).toEqual(["raised", "cleared"]);
    expect(await stateOf(id)).toMatchObject({ state: "ok", lastError: "The latest window has no values." });
  });

  test("says nothing where there are no values, whatever it asks for", async () => {
    await make({ comparator: "lt", threshold: 5 });
    await pass(4);
    expect(await told()).toEqual([]);
    await server.store(own, value(2));
    await pass(2);
    expect(await told()).toEqual(["raised"]);
  });

  test("takes back nothing and tells nobody twice when values come late, and leaves out what came before it", async () => {
    await make({ aggregation: "sum", threshold: 100 });
    await server.store(own, value(500, 10 * MINUTE_MS));
    await pass(3);
    expect(await told()).toEqual([]);
    await server.store(own, value(60, 2 * MINUTE_MS));
    await pass(1);
    await server.store(own, value(70, 3 * MINUTE_MS));
    await pass(2);
    expect(await told()).toContain("raised");
    const raised = (await told()).filter((kind) => kind === "raised");
    await server.store(own, value(1, 4 * MINUTE_MS));
    await pass(1);
    expect((await told()).filter((kind) => kind === "raised")).toEqual(raised);
  });

  test("counts entries minute by minute, none of them included, and ends with its rule", async () => {
    const id = await make({ metricName: "logs.entries", aggregation: "sum", comparator: "lt", threshold: 2 });
    await pass(3);
    expect(await told()).toEqual(["raised"]);
    await server.send(own, "DELETE", `${PATH}/${id}`);
    expect(await told()).toEqual(["raised", "cleared"]);
  });

  test("looks at what monitors found, which no entry tells of", async () => {
    await make({ metricName: "monitor.response_ms", aggregation: "max", threshold: 400 });
    const check = { organizationId: own, monitorId: 3 };
    await insertChecks(stores, [
      { ...check, atMs: server.clock.nowMs + 1000, status: "up", durationMs: 900 },
    ]);
    await pass(3);
    expect(await told()).toEqual(["raised"]);
  });

  test("shows beforehand what it would have told, and others' values are none of it", async () => {
    const terms = { name: "x", metricName: "queue.length", threshold: 10, windowSec: 60 };
    await make();
    await server.store(
      own,
      value(50, 9.5 * MINUTE_MS),
      value(60, 8.5 * MINUTE_MS),
      value(1, 4.5 * MINUTE_MS),
    );
    const preview = (organizationId: number) =>
      server.send(organizationId, "POST", `${PATH}/preview`, {
        ...terms,
        from: new Date(server.clock.nowMs - 30 * MINUTE_MS).toISOString(),
        to: new Date(server.clock.nowMs).toISOString(),
      });
    const { body } = await preview(own);
    expect(body).toMatchObject({ matched: 2, episodesTotal: 1, episodes: [{ group: {}, peak: 50 }] });
    expect(body.values.filter((each: { value: number | null }) => each.value !== null)).toHaveLength(3);
    expect((await preview(await makeOrganization(stores))).body).toMatchObject({ matched: 0, episodes: [] });
  });
});

test("a window has the values of the buckets before its end, whatever its width", () => {
  const numbers = fc.array(fc.option(fc.integer({ min: -50, max: 50 }), { nil: null }), { maxLength: 40 });
  fc.assert(
    fc.property(numbers, fc.integer({ min: 60, max: 4000 }), (sent, windowSec) => {
      const { bucketMs, windowMs } = metricBuckets(windowSec);
      expect(windowMs % bucketMs).toBe(0);
      expect(windowMs).toBeGreaterThanOrEqual(windowSec * 1000);
      const points = new Map<number, Point>(
        sent.flatMap((number, i) => (number === null ? [] : [[i, pointOf(number)]])),
      );
      const span = { fromMs: 0, toMs: sent.length * bucketMs };
      for (const { endMs, value: found } of windowValues(
        { aggregation: "sum", windowMs },
        points,
        span,
        bucketMs,
      )) {
        const inside = sent.filter(
          (number, i) => number !== null && i * bucketMs < endMs && i * bucketMs >= endMs - windowMs,
        );
        const expected =
          inside.length === 0 ? null : inside.reduce((total: number, number) => total + (number ?? 0), 0);
        expect(found).toBe(expected);
      }
    }),
  );
});
