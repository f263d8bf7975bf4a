import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { Registry } from "prom-client";
import { BatchSender } from "../../../../src/domains/monitors/scheduling/batch-sender.ts";
import { monitorMetrics } from "../../../../src/domains/monitors/scheduling/monitor-metrics.ts";
import { createLogger } from "../../../../src/log.ts";
import { createPostgres } from "../../../../src/storage/postgres.ts";
import { eventually } from "../../../harness/eventually.ts";
import { waitAsUsual } from "../../../harness/patience.ts";
import { openTestStores, type TestStores } from "../../../harness/stores.ts";
import { openTcpProxy, type TcpProxy } from "../../../harness/tcp-proxy.ts";
import { faultsOfLedger } from "./ledger.ts";
import {
  insertMonitors,
  insertOrganization,
  openRunner,
  openSender,
  storedChecks,
} from "./monitor-fixture.ts";

waitAsUsual();

let stores: TestStores;
let target: ReturnType<typeof Bun.serve>;
let isDown: boolean;
let monitorId: number;
let proxy: TcpProxy | null;
beforeAll(() => {
  target = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response("", { status: isDown ? 500 : 200 }),
  });
});
afterAll(() => target.stop(true));
beforeEach(async () => {
  isDown = false;
  proxy = null;
  stores = await openTestStores();
  const organizationId = await insertOrganization(stores.postgres);
  [monitorId = 0] = await insertMonitors(stores.postgres, organizationId, [
    { url: `http://127.0.0.1:${target.port}/` },
  ]);
});
afterEach(async () => {
  await proxy?.close();
  await stores.close();
});

async function recordedSlots(): Promise<number> {
  const [row] = await stores.postgres<{ checks: string }[]>`SELECT sum(count) AS checks FROM check_batches`;
  return Number(row?.checks ?? 0);
}

async function told(): Promise<string | undefined> {
  const [row] = await stores.postgres<{ told: string }[]>`
    SELECT told FROM monitor_state WHERE monitor_id = ${monitorId}`;
  return row?.told;
}

test("while the log store is away alerting goes on, and every result arrives once when it is back", async () => {
  const { clickhouseEndpoint, postgres: sql } = stores;
  const { hostname, port } = new URL(clickhouseEndpoint.origin);
  proxy = await openTcpProxy({ host: hostname, port: Number(port) });
  proxy.cut();
  const sender = new BatchSender({
    sql,
    clickhouse: { ...clickhouseEndpoint, origin: `http://127.0.0.1:${proxy.port}` },
    metrics: monitorMetrics(new Registry()),
    log: createLogger("silent"),
  });
  const { scheduler } = openRunner({ sql });
  scheduler.start();
  sender.start();
  await eventually("it is up", async () => (await recordedSlots()) >= 2);
  isDown = true;
  await eventually("the outage is told", async () => (await told()) === "down");
  await scheduler.stop();
  const recorded = await recordedSlots();
  const [last] = await sql<{ slot: string }[]>`
    SELECT last_slot AS slot FROM monitor_state WHERE monitor_id = ${monitorId}`;
  proxy.restore();
  // What is put off for a while after failures is due at once.
  await sql`UPDATE check_batches SET next_attempt_at = now()`;
  await eventually("nothing waits", async () => (await recordedSlots()) === 0);
  await sender.stop();
  const checks = await storedChecks(stores);
  expect(checks.length).toBe(recorded);
  expect(faultsOfLedger(checks, monitorId, 1_000)).toEqual([]);
  // From the first check, which found it up, to the last of which Postgres knows.
  expect(checks[0]?.status).toBe("up");
  expect(checks.at(-1)?.slotMs).toBe(Number(last?.slot));
});

test("results that were stored by somebody who died before saying so are not stored again", async () => {
  const { postgres: sql } = stores;
  const { scheduler } = openRunner({ sql });
  scheduler.start();
  await eventually("some slots", async () => (await recordedSlots()) >= 3);
  await scheduler.stop();
  const sender = openSender(stores);
  const { signal } = new AbortController();
  await sql`UPDATE check_batches SET claim_id = ${crypto.randomUUID()}, next_attempt_at = now()`;
  await sql`CREATE TABLE kept AS SELECT * FROM check_batches`;
  await sender.workOnce(signal);
  const once = await storedChecks(stores);
  await sql`INSERT INTO check_batches OVERRIDING SYSTEM VALUE SELECT * FROM kept`;
  await sender.workOnce(signal);
  expect(await recordedSlots()).toBe(0);
  expect(await storedChecks(stores)).toEqual(once);
  expect(once.length).toBeGreaterThanOrEqual(3);
});

test("while Postgres is away for longer than a lease checks go on, and none of them is lost", async () => {
  const direct = new URL(stores.postgresUrl);
  proxy = await openTcpProxy({ host: direct.hostname, port: Number(direct.port) });
  direct.port = String(proxy.port);
  direct.hostname = "127.0.0.1";
  const sql = createPostgres(direct.href);
  const { scheduler, metrics } = openRunner({ sql });
  scheduler.start();
  await eventually("it is checked", async () => (await recordedSlots()) >= 2);
  const started = async (): Promise<number> => {
    const { values } = await metrics.startLateness.get();
    return values.find(({ metricName }) => metricName?.endsWith("_count"))?.value ?? 0;
  };
  proxy.cut();
  const before = await started();
  await eventually("checks go on beyond the lease", async () => (await started()) >= before + 8);
  proxy.restore();
  const recorded = await recordedSlots();
  await eventually("they are written", async () => (await recordedSlots()) >= recorded + 8);
  await scheduler.stop();
  await sql.end({ timeout: 1 });
  const checks = await storedChecks(stores);
  expect(faultsOfLedger(checks, monitorId, 1_000)).toEqual([]);
  expect(checks.filter(({ status }) => status === "missed")).toEqual([]);
});
