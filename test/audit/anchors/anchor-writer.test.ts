import { afterAll, beforeAll, expect, test } from "bun:test";
import { AnchorWriter, type AnchorWriterOptions } from "../../../src/audit/anchors/anchor-writer.ts";
import { Changes } from "../../../src/changes/changes.ts";
import { PostgresLedger } from "../../../src/http/ledger/request-ledger.ts";
import { createLogger } from "../../../src/log.ts";
import { createMetrics, type Metrics } from "../../../src/server/metrics.ts";
import { createClickHouse } from "../../../src/storage/clickhouse.ts";
import { createPostgres } from "../../../src/storage/postgres.ts";
import { eventually } from "../../harness/eventually.ts";
import { TEST_BOX } from "../../harness/ledger.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { openTcpProxy } from "../../harness/tcp-proxy.ts";
import { auditReader, fillLog, makeOrganization, recordChange } from "../audited-organization.ts";

let stores: TestStores;
let sql: TestStores["postgres"];

beforeAll(async () => {
  stores = await openTestStores();
  sql = stores.postgres;
});
afterAll(() => stores.close());

interface Instance extends AsyncDisposable {
  readonly writer: AnchorWriter;
  readonly metrics: Metrics;
  readonly logged: () => string[];
  readonly change: (organizationId: number) => Promise<void>;
}

/** An instance of the server as far as anchors go. */
function startInstance(overrides: Partial<AnchorWriterOptions> = {}): Instance {
  const lines: string[] = [];
  const metrics = createMetrics();
  const writer = new AnchorWriter({
    sql,
    clickhouse: stores.clickhouse,
    metrics: metrics.audit,
    now: Date.now,
    log: createLogger("info", { write: (line) => lines.push(line) }),
    ...overrides,
  });
  const changes = new Changes({ sql, now: Date.now, onAudited: writer.wake });
  const ledger = new PostgresLedger({ sql, box: TEST_BOX, changes });
  writer.start();
  return {
    writer,
    metrics,
    logged: () => lines,
    change: (organizationId) =>
      recordChange(ledger, organizationId, { entries: [{ resource: "thing:1", after: { at: Date.now() } }] }),
    [Symbol.asyncDispose]: () => writer.stop(),
  };
}

interface AnchorRow {
  seq: string;
  hashes: string;
  times: string;
}

async function anchorsOf(organizationId: number): Promise<AnchorRow[]> {
  const result = await stores.clickhouse.query({
    query: `SELECT seq, uniqExact(hash) AS hashes, count() AS times FROM audit_anchors
            WHERE organization_id = {organizationId: UInt32} GROUP BY seq ORDER BY seq`,
    query_params: { organizationId },
    format: "JSONEachRow",
  });
  return result.json<AnchorRow>();
}

async function lastAnchor(organizationId: number): Promise<number> {
  return Number((await anchorsOf(organizationId)).at(-1)?.seq ?? 0);
}

function anchored(organizationId: number, seq: number): Promise<unknown> {
  return eventually(`anchor ${seq}`, async () => (await lastAnchor(organizationId)) === seq || null);
}

test("a change is anchored, and a verification says so", async () => {
  await using instance = startInstance();
  const organizationId = await makeOrganization(sql);
  await instance.change(organizationId);
  await anchored(organizationId, 1);
  await Promise.all(Array.from({ length: 20 }, () => instance.change(organizationId)));
  await anchored(organizationId, 21);
  expect(await auditReader(stores, organizationId).verify()).toMatchObject({
    ok: true,
    checkedRows: 21,
    anchoredThrough: 21,
  });
  expect((await instance.metrics.expose()).text).toMatch(/obs_audit_anchors_total\{outcome="written"\} \d/);
  await eventually("no lag", () => instance.writer.lagSec === 0 || null);
});

test("heads that a crash or another way of writing has left are found at the start and by the sweep", async () => {
  const left = await makeOrganization(sql);
  await fillLog(sql, left, 2);
  await using _ = startInstance({ sweepMs: 500 });
  await anchored(left, 2);
  await fillLog(sql, left, 1);
  await anchored(left, 3);
});

test("a head written but not noted, as after a crash in between, is written again and nothing is contradicted", async () => {
  const organizationId = await makeOrganization(sql);
  await using instance = startInstance();
  await instance.change(organizationId);
  await anchored(organizationId, 1);
  await eventually("noted", async () => {
    const { count } = await sql`
      UPDATE audit_heads SET anchored_seq = 0 WHERE organization_id = ${organizationId} AND anchored_seq = 1`;
    return count === 1 || null;
  });
  instance.writer.wake();
  await eventually("twice", async () => (await anchorsOf(organizationId))[0]?.times === "2" || null);
  expect(await anchorsOf(organizationId)).toEqual([{ seq: "1", hashes: "1", times: "2" }]);
  expect(await auditReader(stores, organizationId).verify()).toMatchObject({ ok: true, anchoredThrough: 1 });
});

test("several instances anchor side by side without contradiction", async () => {
  const second = createPostgres(stores.postgresUrl);
  const organizations = await Promise.all(Array.from({ length: 12 }, () => makeOrganization(sql)));
  {
    await using one = startInstance();
    await using two = startInstance({ sql: second });
    await using three = startInstance();
    const instances = [one, two, three];
    await Promise.all(
      Array.from({ length: 72 }, (_, i) => instances[i % 3]?.change(organizations[i % 12] ?? 0)),
    );
    for (const organizationId of organizations) await anchored(organizationId, 6);
  }
  await second.end();
  for (const organizationId of organizations) {
    // They take turns, so none writes what another has written.
    const anchors = await anchorsOf(organizationId);
    expect(anchors.filter(({ hashes, times }) => hashes !== "1" || times !== "1")).toEqual([]);
    expect(await auditReader(stores, organizationId).verify()).toMatchObject({
      ok: true,
      anchoredThrough: 6,
    });
  }
});

test("while ClickHouse is away changes go on, the lag shows, a verification is refused; afterwards all is anchored", async () => {
  const target = new URL(stores.clickhouseEndpoint.origin);
  const proxy = await openTcpProxy({ host: target.hostname, port: Number(target.port) });
  const clickhouse = createClickHouse({
    ...stores.clickhouseEndpoint,
    origin: `http://127.0.0.1:${proxy.port}`,
  });
  const organizationId = await makeOrganization(sql);
  {
    await using instance = startInstance({ clickhouse });
    await instance.change(organizationId);
    await anchored(organizationId, 1);
    proxy.cut();
    for (let n = 0; n < 5; n += 1) await instance.change(organizationId);
    await eventually(
      "a failure",
      () => instance.logged().some((line) => line.includes("not anchored")) || null,
    );
    await eventually("the lag", () => instance.writer.lagSec > 1 || null);
    expect((await auditReader({ ...stores, clickhouse }, organizationId).get("/verify")).status).toBe(503);
    expect(await auditReader(stores, organizationId).verify()).toMatchObject({
      ok: true,
      anchoredThrough: 1,
    });
    proxy.restore();
    await anchored(organizationId, 6);
    await eventually("no lag", () => instance.writer.lagSec === 0 || null);
    expect(instance.logged().filter((line) => line.includes("not anchored")).length).toBe(1);
    expect((await instance.metrics.expose()).text).toMatch(/obs_audit_anchors_total\{outcome="failed"\} \d/);
  }
  await clickhouse.close();
  await proxy.close();
});

test("the stop anchors what has just happened, and nothing is done afterwards", async () => {
  const organizationId = await makeOrganization(sql);
  const instance = startInstance();
  await instance.change(organizationId);
  await instance.writer.stop();
  expect(await lastAnchor(organizationId)).toBe(1);
  await instance.change(organizationId);
  expect(await lastAnchor(organizationId)).toBe(1);
});

test("many changes since the last anchor are one", async () => {
  const organizationId = await makeOrganization(sql);
  const stopped = startInstance();
  await stopped.writer.stop();
  await Promise.all(Array.from({ length: 20 }, () => stopped.change(organizationId)));
  await using _instance = startInstance();
  await anchored(organizationId, 20);
  expect(await anchorsOf(organizationId)).toHaveLength(1);
});

test("the stop does not wait for a ClickHouse that is away", async () => {
  const clickhouse = createClickHouse({ ...stores.clickhouseEndpoint, origin: "http://127.0.0.1:9" });
  const organizationId = await makeOrganization(sql);
  const instance = startInstance({ clickhouse });
  await instance.change(organizationId);
  await eventually(
    "a failure",
    () => instance.logged().some((line) => line.includes("not anchored")) || null,
  );
  await instance.writer.stop();
  expect(instance.logged().filter((line) => line.includes("anchored after the next start"))).toEqual([]);
  await clickhouse.close();
});
