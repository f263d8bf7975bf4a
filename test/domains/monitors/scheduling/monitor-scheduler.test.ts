import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "../../../harness/eventually.ts";
import { openTestStores, type TestStores } from "../../../harness/stores.ts";
import { faultsOfLedger } from "./ledger.ts";
import { insertMonitors, insertOrganization, openRunner, storedChecks } from "./monitor-fixture.ts";

let stores: TestStores;
let target: ReturnType<typeof Bun.serve>;
let isDown = false;
beforeAll(async () => {
  stores = await openTestStores();
  target = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response("", { status: isDown ? 500 : 200 }),
  });
});
afterAll(async () => {
  await target.stop(true);
  await stores.close();
});

const url = (): string => `http://127.0.0.1:${target.port}/`;

async function stateOf(monitorId: number) {
  const [row] = await stores.postgres<
    {
      last_status: string | null;
      confirmed: string | null;
      told: string;
      last_slot: string;
      failures: number;
    }[]
  >`SELECT last_status, confirmed, told, last_slot, failures FROM monitor_state WHERE monitor_id = ${monitorId}`;
  return row;
}

test("a new monitor is checked at once, then at its slots, and an outage is raised once and cleared once", async () => {
  const sql = stores.postgres;
  const organizationId = await insertOrganization(sql);
  const [monitorId = 0] = await insertMonitors(sql, organizationId, [{ url: url() }]);
  const runner = openRunner({ sql });
  runner.scheduler.start();
  await eventually("up", async () => (await stateOf(monitorId))?.confirmed === "up");
  isDown = true;
  await eventually("down", async () => (await stateOf(monitorId))?.confirmed === "down");
  isDown = false;
  await eventually("up again", async () => (await stateOf(monitorId))?.told === "up");
  await runner.scheduler.stop();

  const events = await sql<{ kind: string; payload: { since?: string; at?: string } }[]>`
    SELECT kind, payload FROM events WHERE subject = ${`monitor:${monitorId}`} ORDER BY id`;
  expect(events.map(({ kind }) => kind)).toEqual(["problem.raised", "problem.cleared"]);
  const periods = await sql<{ status: string; started_at: Date; ended_at: Date | null }[]>`
    SELECT status, started_at, ended_at FROM monitor_periods WHERE monitor_id = ${monitorId} ORDER BY started_at`;
  expect(periods.map(({ status }) => status)).toEqual(["up", "down", "up"]);
  expect(periods.map(({ ended_at }) => ended_at?.getTime())).toEqual([
    periods[1]?.started_at.getTime(),
    periods[2]?.started_at.getTime(),
    undefined,
  ]);
  expect(events[0]?.payload.since).toBe(periods[1]?.started_at.toISOString());
  const checks = await storedChecks(stores);
  expect(faultsOfLedger(checks, monitorId, 1_000)).toEqual([]);
  expect(new Set(checks.map(({ status }) => status))).toEqual(new Set(["up", "down"]));
});
