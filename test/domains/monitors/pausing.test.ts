import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { subscribe } from "../../../src/changes/events/subscription.ts";
import { problemCleared } from "../../../src/problems/events.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { MONITORS, type MonitorApp, monitorApp } from "./monitor-app.ts";

let stores: TestStores;
let app: MonitorApp;
let nowMs = Date.parse("2026-03-01T12:00:00Z");

beforeAll(async () => {
  stores = await openTestStores();
  const subscriptions = [subscribe(problemCleared, "test", async () => undefined)];
  app = monitorApp(stores, { subscriptions, now: () => nowMs });
});
afterAll(() => stores.close());

interface Cleared {
  key: string;
  cause: string;
}

async function clearedIn(organizationId: number): Promise<Cleared[]> {
  const rows = await stores.postgres<{ payload: Cleared }[]>`
    SELECT payload FROM events WHERE organization_id = ${organizationId} ORDER BY id`;
  return rows.map(({ payload: { key, cause } }) => ({ key, cause }));
}

async function periodsOf(id: number): Promise<{ status: string; seconds: number | null }[]> {
  const rows = await stores.postgres<{ status: string; seconds: string | null }[]>`
    SELECT status, extract(epoch FROM ended_at - started_at) AS seconds FROM monitor_periods
    WHERE monitor_id = ${id} ORDER BY id`;
  return rows.map(({ status, seconds }) => ({ status, seconds: seconds === null ? null : Number(seconds) }));
}

/** What the first verdict leaves. */
async function confirmDown(organizationId: number, id: number): Promise<void> {
  await stores.postgres`
    UPDATE monitor_state SET confirmed = 'down', told = 'down', failures = 4, last_status = 'down', slo_breach_open = true
    WHERE monitor_id = ${id}`;
  await stores.postgres`
    INSERT INTO monitor_periods (organization_id, monitor_id, status, started_at)
    VALUES (${organizationId}, ${id}, 'down', ${new Date(nowMs)})`;
}

const keysOf = (id: number, cause: string): Cleared[] =>
  [`monitor:${id}`, `certificate:${id}`, `slo:${id}`].map((key) => ({ key, cause }));

describe("a pause", () => {
  test("ends what is open, forgets what was confirmed, and its time counts for nothing", async () => {
    const { id: organizationId, make, answer } = await app.organization();
    const { id } = await make();
    await confirmDown(organizationId, id);
    nowMs += 60_000;
    const paused = await answer("PATCH", `${MONITORS}/${id}`, { paused: true });
    expect(paused.body).toMatchObject({
      paused: true,
      confirmedStatus: null,
      consecutiveFailures: 0,
      lastStatus: "down",
      sloBreachOpen: false,
    });
    expect(await clearedIn(organizationId)).toEqual(keysOf(id, "paused"));
    expect(await periodsOf(id)).toEqual([
      { status: "down", seconds: 60 },
      { status: "paused", seconds: null },
    ]);
    nowMs += 30_000;
    // Said once more it changes nothing.
    await answer("PATCH", `${MONITORS}/${id}`, { paused: true, name: "still" });
    expect(await clearedIn(organizationId)).toHaveLength(3);
    await answer("PATCH", `${MONITORS}/${id}`, { paused: false });
    expect(await periodsOf(id)).toEqual([
      { status: "down", seconds: 60 },
      { status: "paused", seconds: 30 },
    ]);
    const [row] = await stores.postgres<
      { resumed_at: Date }[]
    >`SELECT resumed_at FROM monitors WHERE id = ${id}`;
    expect(row?.resumed_at.getTime()).toBe(nowMs);
  });

  test("may be there from the beginning, and nothing is told then", async () => {
    const { id: organizationId, make } = await app.organization();
    const { id } = await make({ paused: true });
    expect(await periodsOf(id)).toEqual([{ status: "paused", seconds: null }]);
    expect(await clearedIn(organizationId)).toEqual([]);
  });

  test("of several in one call is that of each; deleting ends what is open, too", async () => {
    const { id: organizationId, make, send } = await app.organization();
    const ids = [(await make()).id, (await make({ paused: true })).id];
    const [first = 0, second = 0] = ids;
    expect((await send("PATCH", `${MONITORS}/bulk`, { ids, patch: { paused: true } })).status).toBe(200);
    expect(await clearedIn(organizationId)).toEqual(keysOf(first, "paused"));
    await send("DELETE", `${MONITORS}/${second}`);
    expect((await clearedIn(organizationId)).slice(3)).toEqual(keysOf(second, "deleted"));
  });
});
