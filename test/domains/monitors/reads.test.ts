import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DependencyError } from "../../../src/errors.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { MONITORS, type MonitorApp, monitorApp } from "./monitor-app.ts";
import { insertChecks, insertPeriod } from "./stored-checks.ts";

const HOUR_MS = 3_600_000;
/** Noon of a day that is not over long enough for the log store to forget it. */
const NOW_MS = Math.floor(Date.now() / (24 * HOUR_MS)) * 24 * HOUR_MS - 12 * HOUR_MS;
const iso = (ms: number): string => new Date(ms).toISOString();

let stores: TestStores;
let app: MonitorApp;
/** The same server while the log store is away. */
let blind: MonitorApp;

beforeAll(async () => {
  stores = await openTestStores();
  app = monitorApp(stores, { now: () => NOW_MS });
  const away = new DependencyError("clickhouse", "away", { retryable: true });
  blind = monitorApp(stores, { now: () => NOW_MS, runner: { run: () => Promise.reject(away) } });
});
afterAll(() => stores.close());

describe("the checks of a monitor", () => {
  test("are paged newest first, without a repetition or a gap, though some came at the same moment", async () => {
    const { id: organizationId, make, answer } = await app.organization();
    const { id } = await make();
    const foreign = await app.organization();
    const checks = Array.from({ length: 7 }, (_, i) => NOW_MS - 60_000 * (1 + Math.floor(i / 2))).map(
      (atMs, i) => ({
        organizationId,
        monitorId: id,
        atMs,
        region: i % 2 === 0 ? "weur" : "local",
        durationMs: i,
      }),
    );
    await insertChecks(stores, [
      ...checks,
      { organizationId: foreign.id, monitorId: id, atMs: NOW_MS - 1000 },
      { organizationId, monitorId: id + 1, atMs: NOW_MS - 1000 },
    ]);
    const found: unknown[] = [];
    let cursor = "";
    for (let page = 0; page < 10; page += 1) {
      const { status, body } = await answer("GET", `${MONITORS}/${id}/checks?limit=2${cursor}`);
      expect(status).toBe(200);
      found.push(...Object.values(Object(body.items)).map((item) => Object(item).durationMs));
      if (body.nextCursor === null) break;
      cursor = `&cursor=${body.nextCursor}`;
    }
    expect(found).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  test("say what was found, and nothing where there was nothing", async () => {
    const { id: organizationId, make, answer } = await app.organization();
    const { id } = await make();
    const check = { organizationId, monitorId: id };
    await insertChecks(stores, [
      {
        ...check,
        atMs: NOW_MS - 2000,
        status: "down",
        durationMs: 12.5,
        statusCode: 503,
        error: "status_code",
        inMaintenance: true,
      },
      { ...check, atMs: NOW_MS - 1000, status: "unknown", durationMs: 0 },
    ]);
    const { body } = await answer("GET", `${MONITORS}/${id}/checks`);
    expect(body).toEqual({
      items: [
        {
          startedAt: iso(NOW_MS - 1000),
          region: "local",
          status: "unknown",
          durationMs: 0,
          statusCode: null,
          error: null,
          inMaintenance: false,
        },
        {
          startedAt: iso(NOW_MS - 2000),
          region: "local",
          status: "down",
          durationMs: 12.5,
          statusCode: 503,
          error: "status_code",
          inMaintenance: true,
        },
      ],
      nextCursor: null,
    });
    const from = await answer("GET", `${MONITORS}/${id}/checks?from=${iso(NOW_MS - 1500)}`);
    expect(Object(from.body.items)).toHaveLength(1);
  });

  test("are not gone through with a cursor of another list, or a forged one", async () => {
    const { id: organizationId, make, answer } = await app.organization();
    const [{ id }, { id: other }] = [await make(), await make()];
    await insertChecks(
      stores,
      [1, 2].map((n) => ({ organizationId, monitorId: id, atMs: NOW_MS - n * 1000 })),
    );
    const { nextCursor } = (await answer("GET", `${MONITORS}/${id}/checks?limit=1`)).body;
    for (const path of [
      `${other}/checks?cursor=${nextCursor}`,
      `${id}/checks?cursor=${"A".repeat(64)}`,
      `${id}/checks?limit=0`,
    ])
      expect((await answer("GET", `${MONITORS}/${path}`)).body.code).toBe("VALIDATION_FAILED");
  });
});

describe("the statistics of a monitor", () => {
  test("know nothing before the first check", async () => {
    const { make, answer } = await app.organization();
    const { id } = await make();
    const { status, body } = await answer("GET", `${MONITORS}/${id}/stats`);
    expect(status).toBe(200);
    expect(body).toEqual({
      monitorId: id,
      from: iso(NOW_MS - 30 * 24 * HOUR_MS),
      to: iso(NOW_MS),
      uptimePercent: null,
      downtimeSec: 0,
      checks: { total: 0, up: 0, degraded: 0, down: 0, unknown: 0, missed: 0 },
      responseTimeMs: null,
      slo: {
        targetBp: 9990,
        windowDays: 30,
        downtimeSec: 0,
        allowedDowntimeSec: 2592,
        budgetLeftSec: 2592,
        breached: false,
      },
      partial: false,
    });
  });

  test("are made of confirmed states outside of maintenance, and of the checks that were answered", async () => {
    const { id: organizationId, make, answer } = await app.organization();
    const { id } = await make();
    const hours = (n: number): number => NOW_MS - n * HOUR_MS;
    for (const period of [
      ["up", hours(10), hours(4)],
      ["down", hours(4), hours(2)],
      ["up", hours(2), null],
    ] as const)
      await insertPeriod(stores, organizationId, id, period);
    // Of everything, so of this one too.
    await stores.postgres`
      INSERT INTO maintenance_windows (organization_id, starts_at, ends_at, created_at, updated_at)
      VALUES (${organizationId}, ${new Date(hours(4))}, ${new Date(hours(3))}, now(), now())`;
    const check = { organizationId, monitorId: id };
    await insertChecks(stores, [
      ...Array.from({ length: 100 }, (_, i) => ({ ...check, atMs: hours(9) + i * 1000, durationMs: i + 1 })),
      { ...check, atMs: hours(3), status: "down", durationMs: 30_000 },
      { ...check, atMs: hours(1), status: "degraded", durationMs: 500 },
      { ...check, atMs: hours(5), status: "missed", durationMs: 0, slots: 40 },
      { ...check, atMs: hours(40 * 24), durationMs: 9999 },
    ]);
    const { body } = await answer("GET", `${MONITORS}/${id}/stats`);
    expect(body).toMatchObject({
      uptimePercent: 88.8888,
      downtimeSec: 3600,
      // Those that nobody looked at are one row with their number.
      checks: { total: 142, up: 100, degraded: 1, down: 1, unknown: 0, missed: 40 },
      responseTimeMs: { avg: 54.95, min: 1, p50: 51, max: 500 },
      slo: { downtimeSec: 3600, allowedDowntimeSec: 2592, budgetLeftSec: 0, breached: true },
      partial: false,
    });
    const some = await answer("GET", `${MONITORS}/${id}/stats?from=${iso(hours(3))}&to=${iso(hours(1))}`);
    expect(some.body).toMatchObject({ uptimePercent: 50, downtimeSec: 3600, checks: { total: 1 } });
    const future = await answer(
      "GET",
      `${MONITORS}/${id}/stats?from=${iso(hours(2))}&to=${iso(NOW_MS + HOUR_MS)}`,
    );
    expect(future.body).toMatchObject({ uptimePercent: 100, downtimeSec: 0 });
  });

  test("are answered while the log store is away, with what does not need it", async () => {
    const { id: organizationId, make, answer } = await blind.organization();
    const { id } = await make();
    await insertPeriod(stores, organizationId, id, ["up", NOW_MS - HOUR_MS, null]);
    expect(await answer("GET", `${MONITORS}/${id}/stats`)).toMatchObject({
      status: 200,
      body: { uptimePercent: 100, checks: null, responseTimeMs: null, partial: true },
    });
    const timeline = await answer("GET", `${MONITORS}/${id}/timeline?bucketSec=3600`);
    expect(timeline).toMatchObject({ status: 200, body: { partial: true, bucketSec: 3600 } });
    expect(Object(timeline.body.buckets).at(-1)).toMatchObject({
      status: "up",
      uptimePercent: 100,
      checks: null,
    });
    expect((await answer("GET", `${MONITORS}/${id}/checks`)).status).toBe(503);
  });

  test("of several are an array in the order of the ids, without those of others", async () => {
    const own = await app.organization();
    const other = await app.organization();
    const [first, second] = [await own.make(), await own.make()];
    const { id: foreign } = await other.make();
    const { status, body } = await own.answer(
      "GET",
      `${MONITORS}/stats/batch?ids=${second.id},${foreign},${first.id}`,
    );
    expect(status).toBe(200);
    expect(Object.values(body).map((one) => Object(one).monitorId)).toEqual([second.id, first.id]);
    for (const ids of ["", "1,", "1;2", Array(101).fill("1").join()])
      expect((await own.answer("GET", `${MONITORS}/stats/batch?ids=${ids}`)).status).toBe(400);
  });
});

describe("the timeline of a monitor", () => {
  test("is its worst state in equal lengths of time, without gaps, and how fast it answered", async () => {
    const { id: organizationId, make, answer } = await app.organization();
    const { id } = await make();
    const from = NOW_MS - 4 * HOUR_MS;
    await insertPeriod(stores, organizationId, id, ["up", from + HOUR_MS, from + 1.5 * HOUR_MS]);
    await insertPeriod(stores, organizationId, id, ["down", from + 1.5 * HOUR_MS, from + 2 * HOUR_MS]);
    await insertPeriod(stores, organizationId, id, ["degraded", from + 2 * HOUR_MS, null]);
    const check = { organizationId, monitorId: id };
    await insertChecks(stores, [
      { ...check, atMs: from + HOUR_MS, durationMs: 10 },
      { ...check, atMs: from + HOUR_MS + 1, durationMs: 20 },
      { ...check, atMs: from + 2 * HOUR_MS - 1, status: "down", durationMs: 9000 },
    ]);
    const { body } = await answer("GET", `${MONITORS}/${id}/timeline?from=${iso(from)}&bucketSec=3600`);
    const empty = { uptimePercent: null, downtimeSec: 0, checks: 0, avgResponseMs: null };
    expect(body).toEqual({
      bucketSec: 3600,
      partial: false,
      buckets: [
        { start: iso(from), status: null, ...empty },
        {
          start: iso(from + HOUR_MS),
          status: "down",
          uptimePercent: 50,
          downtimeSec: 1800,
          checks: 3,
          avgResponseMs: 15,
        },
        { start: iso(from + 2 * HOUR_MS), status: "degraded", ...empty, uptimePercent: 100 },
        { start: iso(from + 3 * HOUR_MS), status: "degraded", ...empty, uptimePercent: 100 },
      ],
    });
  });

  test("chooses its buckets for a day, and refuses more than a thousand of them", async () => {
    const { make, answer } = await app.organization();
    const { id } = await make();
    const day = await answer("GET", `${MONITORS}/${id}/timeline`);
    expect(day.body.bucketSec).toBe(900);
    expect(day.body.buckets).toHaveLength(96);
    const month = `from=${iso(NOW_MS - 30 * 24 * HOUR_MS)}`;
    expect((await answer("GET", `${MONITORS}/${id}/timeline?${month}`)).body.buckets).toHaveLength(96);
    expect((await answer("GET", `${MONITORS}/${id}/timeline?${month}&bucketSec=60`)).body).toMatchObject({
      fields: [{ path: "/bucketSec" }],
    });
    expect((await answer("GET", `${MONITORS}/${id}/timeline?to=${iso(0)}&from=${iso(1)}`)).status).toBe(400);
  });
});

describe("the badge of a monitor", () => {
  test("is anybody's to see, says its status and nothing else about it", async () => {
    const { make } = await app.organization();
    const { id } = await make({ name: "Secret project", url: "https://secret.example.com" });
    const path = `/api/v1/badge/monitors/${id}.svg`;
    for (const status of [null, "up", "degraded", "down"] as const) {
      await stores.postgres`UPDATE monitor_state SET confirmed = ${status} WHERE monitor_id = ${id}`;
      const response = await app.send("GET", path);
      expect(response.status).toBe(200);
      expect(response.headers.get("content-type")).toBe("image/svg+xml");
      expect(response.headers.get("cache-control")).toContain("public");
      const svg = await response.text();
      expect(svg).toStartWith("<svg");
      expect(svg).toContain(`>${status ?? "unknown"}<`);
      expect(svg).not.toMatch(/secret/i);
    }
    await stores.postgres`UPDATE monitors SET paused = true WHERE id = ${id}`;
    expect(await (await app.send("GET", path)).text()).toContain(">paused<");
  });

  test("is found with its extension only", async () => {
    const { make } = await app.organization();
    const { id } = await make();
    for (const file of [String(id), `${id}.png`, ".svg", `${id}.svg.svg`, "x.svg", "999999999.svg"])
      expect([file, (await app.send("GET", `/api/v1/badge/monitors/${file}`)).status]).toEqual([file, 404]);
    expect((await app.send("GET", `/api/v1/badge/monitors/${id}.svg/`)).status).toBe(200);
    const refused = await app.send("POST", `/api/v1/badge/monitors/${id}.svg`);
    expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });
});

describe("the table of monitors", () => {
  test("has a line for each, in the columns of its head, and no secret", async () => {
    const { make, send } = await app.organization();
    const { id } = await make({
      name: 'The "shop", old',
      tags: ["shop", "eu"],
      alertWebhookUrl: "https://hooks.example.com/secret",
    });
    const response = await send("GET", "/api/v1/export/monitors.csv", undefined, "viewer/monitors:read");
    expect(response.headers.get("content-type")).toStartWith("text/csv");
    const [head, line, end] = (await response.text()).split("\r\n");
    expect(head).toStartWith("id,name,type,url,");
    expect(line).toStartWith(
      `${id},"The ""shop"", old",https,https://shop.example.com/health,60,10000,,,,false,shop eu,`,
    );
    expect(line).not.toContain("secret");
    expect(end).toBe("");
    expect((await send("GET", "/api/v1/export/monitors.csv", undefined, "owner/account:read")).status).toBe(
      403,
    );
  });
});

describe("a test alert", () => {
  test("without channels tells nobody, and with them waits for what became of it", async () => {
    const sent: unknown[] = [];
    const delivery = {
      id: 1,
      channel: "webhook",
      state: "delivered",
      attempts: 1,
      lastCode: 200,
      lastError: null,
    } as const;
    const telling = monitorApp(stores, {
      testAlerts: {
        send: async (target) => {
          sent.push(target);
          return [delivery];
        },
      },
    });
    const { id: organizationId, make, answer } = await telling.organization();
    const silent = await make();
    expect(await answer("POST", `${MONITORS}/${silent.id}/test-alert`)).toEqual({
      status: 200,
      body: { deliveries: [] },
    });
    expect(sent).toEqual([]);
    const loud = await make({ alertWebhookUrl: "https://hooks.example.com/x" });
    expect(await answer("POST", `${MONITORS}/${loud.id}/test-alert`)).toEqual({
      status: 200,
      body: { deliveries: [delivery] },
    });
    expect(sent).toMatchObject([
      {
        organizationId,
        monitor: { id: loud.id },
        alertEmail: null,
        channels: { alertWebhookUrl: "https://hooks.example.com/x" },
      },
    ]);
  });
});
