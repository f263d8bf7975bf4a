import { afterAll, beforeAll, expect, test } from "bun:test";
import { HeartbeatWatch } from "../../../../src/domains/monitors/scheduling/heartbeat-watch.ts";
import { createLogger } from "../../../../src/log.ts";
import { eventually } from "../../../harness/eventually.ts";
import { openTestStores, type TestStores } from "../../../harness/stores.ts";
import { insertMonitors, insertOrganization, openRunner, storedChecks } from "./monitor-fixture.ts";

let stores: TestStores;
let organizationId: number;
let runner: ReturnType<typeof openRunner>;
let watch: HeartbeatWatch;
beforeAll(async () => {
  stores = await openTestStores();
  const sql = stores.postgres;
  organizationId = await insertOrganization(sql);
  runner = openRunner({ sql });
  await runner.leases.renew();
  watch = new HeartbeatWatch({
    sql,
    shards: () => runner.leases.shards,
    commit: runner.commit,
    log: createLogger("silent"),
  });
});
afterAll(() => stores.close());

function insertHeartbeat(intervalSec: number): Promise<number[]> {
  return insertMonitors(stores.postgres, organizationId, [
    { url: "job", type: "heartbeat", intervalSec, alertThreshold: 1 },
  ]);
}

function beat(monitorId: number, { failed = false, secondsAgo = 0 } = {}) {
  return stores.postgres`
    UPDATE monitor_state SET heartbeat_received_at = now() - make_interval(secs => ${secondsAgo}), heartbeat_failed = ${failed}
    WHERE monitor_id = ${monitorId}`;
}

async function stateOf(monitorId: number) {
  const [row] = await stores.postgres<
    { last_status: string | null; last_error: string | null; told: string }[]
  >`
    SELECT last_status, last_error, told FROM monitor_state WHERE monitor_id = ${monitorId}`;
  return row;
}

test("nothing is known before the first heartbeat; each one is a round, and so is a deadline that is over", async () => {
  const [monitorId = 0] = await insertHeartbeat(1);
  await watch.workOnce();
  expect(await stateOf(monitorId)).toEqual({ last_status: null, last_error: null, told: "up" });
  await beat(monitorId);
  await watch.workOnce();
  expect(await stateOf(monitorId)).toMatchObject({ last_status: "up", told: "up" });
  await eventually("missed", async () => {
    await watch.workOnce();
    return (await stateOf(monitorId))?.last_error === "heartbeat_missed";
  });
  expect(await stateOf(monitorId)).toMatchObject({ last_status: "down", told: "down" });
  await beat(monitorId);
  await watch.workOnce();
  expect(await stateOf(monitorId)).toEqual({ last_status: "up", last_error: null, told: "up" });
  await beat(monitorId, { failed: true });
  await watch.workOnce();
  expect(await stateOf(monitorId)).toEqual({
    last_status: "down",
    last_error: "heartbeat_failed",
    told: "down",
  });
  const statuses = (await storedChecks(stores))
    .filter((check) => check.monitorId === monitorId)
    .map(({ status }) => status);
  expect(statuses.at(0)).toBe("up");
  expect(statuses.slice(-2)).toEqual(["up", "down"]);
  expect(statuses).not.toContain("missed");
});

test("a heartbeat that came is taken into account though its time lies before what was recorded", async () => {
  const [monitorId = 0] = await insertHeartbeat(60);
  await beat(monitorId);
  await watch.workOnce();
  await beat(monitorId, { failed: true, secondsAgo: 5 });
  await watch.workOnce();
  expect(await stateOf(monitorId)).toMatchObject({ last_status: "down" });
});

test("a deadline counts anew from when somebody listens again, and from when the monitor was resumed", async () => {
  const sql = stores.postgres;
  const [monitorId = 0] = await insertHeartbeat(60);
  await beat(monitorId, { secondsAgo: 3_600 });
  await watch.workOnce();
  // The server was away for the hour: this one has run the shard for some seconds only.
  await watch.workOnce();
  expect(await stateOf(monitorId)).toMatchObject({ last_status: "up", told: "up" });
  await sql`UPDATE monitor_shards SET run_since = now() - interval '1 hour'`;
  await sql`UPDATE monitors SET resumed_at = now() - interval '5 seconds' WHERE id = ${monitorId}`;
  await watch.workOnce();
  expect(await stateOf(monitorId)).toMatchObject({ told: "up" });
  await sql`UPDATE monitors SET resumed_at = now() - interval '70 seconds' WHERE id = ${monitorId}`;
  await watch.workOnce();
  expect(await stateOf(monitorId)).toMatchObject({ last_error: "heartbeat_missed", told: "down" });
});
