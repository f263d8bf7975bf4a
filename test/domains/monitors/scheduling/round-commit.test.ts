import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { MaintenanceSettlement } from "../../../../src/domains/monitors/scheduling/maintenance-settlement.ts";
import type { Round } from "../../../../src/domains/monitors/scheduling/rounds.ts";
import { createLogger } from "../../../../src/log.ts";
import type { CheckStatus } from "../../../../src/probes/check.ts";
import { openTestStores, type TestStores } from "../../../harness/stores.ts";
import { insertMonitors, insertOrganization, openRunner, storedChecks } from "./monitor-fixture.ts";

let stores: TestStores;
let organizationId: number;
let runner: ReturnType<typeof openRunner>;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());
beforeEach(async () => {
  organizationId = await insertOrganization(stores.postgres);
  await stores.postgres`DELETE FROM monitor_runners`;
  runner = openRunner({ sql: stores.postgres });
  await stores.postgres`UPDATE monitor_shards SET leased_until = now() - interval '1 second'`;
  await runner.leases.renew();
});

async function insertOne(rest: { intervalSec?: number; alertThreshold?: number } = {}): Promise<number> {
  const [id = 0] = await insertMonitors(stores.postgres, organizationId, [
    { url: "http://shop.example/", intervalSec: 30, ...rest },
  ]);
  return id;
}

const START_MS = Math.floor(Date.now() / 1000) * 1000;

function round(monitorId: number, step: number, status: CheckStatus = "up"): Round {
  const slotMs = START_MS + step * 30_000;
  const outcome = {
    status,
    error: status === "down" ? ("timeout" as const) : null,
    durationMs: 12,
    phases: { dnsMs: 0, connectMs: 0, tlsMs: 0, firstByteMs: 0 },
    statusCode: 200,
    certificateNotAfter: null,
    failedStep: null,
  };
  return {
    monitorId,
    shard: monitorId % 64,
    slotMs,
    nextMs: slotMs + 30_000,
    checks: [{ region: "local", startedAtMs: slotMs + 5, lateMs: 5, outcome }],
  };
}

async function checksOf(monitorId: number) {
  return (await storedChecks(stores)).filter((check) => check.monitorId === monitorId);
}

async function eventsOf(monitorId: number): Promise<string[]> {
  const rows = await stores.postgres<{ kind: string }[]>`
    SELECT kind FROM events WHERE subject = ${`monitor:${monitorId}`} ORDER BY id`;
  return rows.map(({ kind }) => kind);
}

describe("a round", () => {
  test("is recorded once, however often it is handed in", async () => {
    const id = await insertOne();
    const rounds = [round(id, 0), round(id, 1)];
    expect((await runner.commit.commit(rounds)).recorded.length).toBe(2);
    expect((await runner.commit.commit(rounds)).recorded).toEqual([]);
    expect((await runner.commit.commit([round(id, 1), round(id, 2), round(id, 2)])).recorded.length).toBe(1);
    expect((await checksOf(id)).map(({ slotMs }) => slotMs)).toEqual(
      [0, 1, 2].map((step) => START_MS + step * 30_000),
    );
  });

  test("of a shard that another instance has taken meanwhile changes nothing", async () => {
    const id = await insertOne();
    const other = openRunner({ sql: stores.postgres });
    await stores.postgres`UPDATE monitor_shards SET leased_until = now() - interval '1 second'`;
    await stores.postgres`DELETE FROM monitor_runners`;
    await other.leases.renew();
    expect(await runner.commit.commit([round(id, 0, "down")])).toMatchObject({ recorded: [], gone: [] });
    expect((await other.commit.commit([round(id, 0)])).recorded.length).toBe(1);
    expect((await checksOf(id)).map(({ status }) => status)).toEqual(["up"]);
  });

  test("after a gap records what nobody looked at as missed, in one row with their number", async () => {
    const id = await insertOne();
    await runner.commit.commit([round(id, 0)]);
    const { recorded } = await runner.commit.commit([round(id, 10)]);
    expect(recorded.length).toBe(2);
    const [first, gap, last] = await checksOf(id);
    expect([first?.status, gap?.status, last?.status]).toEqual(["up", "missed", "up"]);
    expect(gap?.slotMs).toBe(START_MS + 30_000);
    // The nine of the grid, or ten: the first round of this test is on no grid.
    expect([9, 10]).toContain(gap?.slots ?? 0);
    expect(await eventsOf(id)).toEqual(["monitor.unobserved"]);
  });

  test("of a monitor that was paused or deleted is none, and says so", async () => {
    const [paused, deleted] = [await insertOne(), await insertOne()];
    await stores.postgres`UPDATE monitors SET paused = true WHERE id = ${paused}`;
    await stores.postgres`DELETE FROM monitors WHERE id = ${deleted}`;
    const { recorded, gone } = await runner.commit.commit([round(paused, 0), round(deleted, 0)]);
    expect(recorded).toEqual([]);
    expect(gone.toSorted((a, b) => a - b)).toEqual([paused, deleted].toSorted((a, b) => a - b));
  });

  test("without any report from its regions is missed", async () => {
    const id = await insertOne();
    await runner.commit.commit([{ ...round(id, 0), checks: [] }]);
    expect((await checksOf(id)).map(({ status, slots }) => ({ status, slots }))).toEqual([
      { status: "missed", slots: 1 },
    ]);
  });
});

describe("the plan", () => {
  test("lets checks beyond the month's limit find nothing out, tells the owners once, and counts no heartbeat", async () => {
    const told: number[] = [];
    const capped = openRunner({
      sql: stores.postgres,
      monthlyChecks: 3,
      onUsedUp: (id) => told.push(id),
    });
    await stores.postgres`UPDATE monitor_shards SET leased_until = now() - interval '1 second'`;
    await stores.postgres`DELETE FROM monitor_runners`;
    await capped.leases.renew();
    const id = await insertOne({ alertThreshold: 1 });
    const [heartbeat = 0] = await insertMonitors(stores.postgres, organizationId, [
      { url: "job", type: "heartbeat" },
    ]);
    expect((await capped.commit.commit([round(id, 0), round(heartbeat, 0)])).usedUp).toEqual([]);
    const { usedUp } = await capped.commit.commit([round(id, 1), round(id, 2), round(id, 3, "down")]);
    expect(usedUp).toEqual([organizationId]);
    await capped.commit.commit([round(id, 4, "down"), round(heartbeat, 1)]);
    expect(told).toEqual([organizationId]);
    expect((await checksOf(id)).map(({ status }) => status)).toEqual([
      "up",
      "up",
      "up",
      "unknown",
      "unknown",
    ]);
    expect((await checksOf(heartbeat)).map(({ status }) => status)).toEqual(["up", "up"]);
    expect(await eventsOf(id)).toEqual([]);
    const [usage] = await stores.postgres<{ checks: string }[]>`
      SELECT checks FROM organization_usage WHERE organization_id = ${organizationId}`;
    expect(usage?.checks).toBe("3");
  });
});

describe("in maintenance", () => {
  async function announce(monitorId: number | null): Promise<number> {
    const [row] = await stores.postgres<{ id: string }[]>`
      INSERT INTO maintenance_windows (organization_id, monitor_id, starts_at, ends_at, created_at, updated_at)
      VALUES (${organizationId}, ${monitorId}, now() - interval '1 hour', now() + interval '1 hour', now(), now())
      RETURNING id`;
    return Number(row?.id);
  }

  async function end(windowId: number): Promise<void> {
    const { postgres: sql } = stores;
    await sql`UPDATE maintenance_windows SET ends_at = now() - interval '2 milliseconds' WHERE id = ${windowId}`;
    const settlement = new MaintenanceSettlement({
      sql,
      changes: runner.changes,
      log: createLogger("silent"),
    });
    while (await settlement.workOnce());
  }

  test("checks go on and nobody is told; at the end what is wrong still is said once, and what is over never", async () => {
    const [still, over] = [await insertOne(), await insertOne()];
    await runner.commit.commit([round(still, 0), round(over, 0)]);
    const window = await announce(null);
    await runner.commit.commit(
      [1, 2].flatMap((step) => [round(still, step, "down"), round(over, step, "down")]),
    );
    await runner.commit.commit([round(over, 3)]);
    expect([await eventsOf(still), await eventsOf(over)]).toEqual([[], []]);
    const [state] = await stores.postgres`SELECT confirmed FROM monitor_state WHERE monitor_id = ${still}`;
    expect(state).toEqual({ confirmed: "down" });
    await end(window);
    await end(window);
    await runner.commit.commit([round(still, 3, "down")]);
    expect([await eventsOf(still), await eventsOf(over)]).toEqual([["problem.raised"], []]);
  });

  test("one that ends while another goes on says nothing yet", async () => {
    const id = await insertOne();
    await runner.commit.commit([round(id, 0)]);
    const [first, second] = [await announce(id), await announce(null)];
    await runner.commit.commit([round(id, 1, "down"), round(id, 2, "down")]);
    await end(first);
    expect(await eventsOf(id)).toEqual([]);
    await end(second);
    expect(await eventsOf(id)).toEqual(["problem.raised"]);
  });
});
