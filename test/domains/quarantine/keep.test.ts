import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { Quarantine } from "../../../src/domains/quarantine/quarantine.ts";
import { removeOldQuarantine } from "../../../src/domains/quarantine/retention.ts";
import { DependencyError } from "../../../src/errors.ts";
import { createMetrics } from "../../../src/server/metrics.ts";
import { createPostgres } from "../../../src/storage/postgres.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { openTcpProxy } from "../../harness/tcp-proxy.ts";
import {
  BOUNDS,
  batchOf,
  MendableDecoder,
  newOrganization,
  openQuarantineServer,
  states,
  usage,
} from "./quarantine-server.ts";

/** What is kept, how often, and how much of it. */

const DAY_MS = 86_400_000;

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

function quarantineWith(overrides: Partial<ConstructorParameters<typeof Quarantine>[0]> = {}): Quarantine {
  const metrics = createMetrics().quarantine;
  return new Quarantine({ sql: stores.postgres, bounds: BOUNDS, metrics, now: Date.now, ...overrides });
}

async function expectTrueUsage(organizationId: number): Promise<void> {
  const { told, counted } = await usage(stores, organizationId);
  expect(told).toEqual(counted);
}

test("a record is kept as it came, byte for byte, with its reason and place", async () => {
  const organizationId = await newOrganization(stores);
  const quarantine = quarantineWith();
  const raws: Uint8Array[] = [];
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.uint8Array({ maxLength: 300 }), fc.string({ unit: "binary", maxLength: 20 })), {
        minLength: 1,
        maxLength: 8,
      }),
      async (records) => {
        const kept = records.map(([raw, text]) => ({ place: `/${text}`, reason: `is ${text}\0`, raw }));
        raws.push(...records.map(([raw]) => raw));
        const batch = { ...batchOf(organizationId, []), requestIdentity: crypto.randomUUID(), records: kept };
        expect(await quarantine.keep(batch)).toBe(records.length);
      },
    ),
    { numRuns: 30 },
  );
  const rows = await stores.postgres<{ raw: Uint8Array; raw_bytes: number }[]>`
    SELECT raw, raw_bytes FROM quarantine_records WHERE organization_id = ${organizationId} ORDER BY id`;
  expect(rows.map(({ raw }) => Buffer.from(raw).toString("hex"))).toEqual(
    raws.map((raw) => Buffer.from(raw).toString("hex")),
  );
  expect(rows.every(({ raw, raw_bytes }) => raw.length === raw_bytes)).toBe(true);
  await expectTrueUsage(organizationId);
});

test("a request that is repeated is kept once, at the same time and after it was replayed", async () => {
  const decoder = new MendableDecoder();
  const server = await openQuarantineServer({ stores, decoder });
  const organizationId = await newOrganization(stores);
  const batch = batchOf(organizationId, ['{"text":"a"}', '{"text":"b"}'], {
    requestIdentity: "token:1 once",
  });
  const counts = await Promise.all(Array.from({ length: 6 }, () => server.quarantine.keep(batch)));
  expect(counts).toEqual(Array(6).fill(2));
  expect(await states(stores, organizationId)).toEqual({ held: 2 });
  decoder.isMended = true;
  expect(await server.replay(organizationId)).toMatchObject({ replayed: 2 });
  expect(await server.quarantine.keep(batch)).toBe(2);
  expect(await states(stores, organizationId)).toEqual({ replayed: 2 });
  // Another organisation, another source and another name are other requests.
  const other = await newOrganization(stores);
  expect(await server.quarantine.keep({ ...batch, organizationId: other })).toBe(2);
  await server.quarantine.keep({ ...batch, sourceKey: "web" });
  await server.quarantine.keep({ ...batch, requestIdentity: "token:1 twice" });
  expect(await states(stores, organizationId)).toEqual({ held: 4, replayed: 2 });
  await expectTrueUsage(organizationId);
  await server.close();
});

test("a repetition that brings other rejections of the same request adds only those", async () => {
  const organizationId = await newOrganization(stores);
  const quarantine = quarantineWith();
  const batch = batchOf(organizationId, ["a", "b", "c"], { requestIdentity: "token:1 grown" });
  expect(await quarantine.keep({ ...batch, records: batch.records.slice(1, 2) })).toBe(1);
  expect(await quarantine.keep(batch)).toBe(3);
  expect(await states(stores, organizationId)).toEqual({ held: 3 });
});

test("records that are the same in everything are kept as often as they came, and so are requests without a name", async () => {
  const organizationId = await newOrganization(stores);
  const quarantine = quarantineWith();
  const [record] = batchOf(organizationId, ["same"]).records;
  if (record === undefined) throw new Error("a record");
  const batch = { ...batchOf(organizationId, []), records: [record, record, record] };
  expect(await quarantine.keep({ ...batch, requestIdentity: "token:1 same" })).toBe(3);
  expect(await quarantine.keep({ ...batch, requestIdentity: "token:1 same" })).toBe(3);
  expect(await states(stores, organizationId)).toEqual({ held: 3 });
  await quarantine.keep(batch);
  await quarantine.keep(batch);
  expect(await states(stores, organizationId)).toEqual({ held: 9 });
});

test("an organisation's bounds hold, whoever keeps at the same time, and replaying makes room again", async () => {
  const decoder = new MendableDecoder();
  const bounds = { maxRecords: 50, maxBytes: 10_000 };
  const server = await openQuarantineServer({ stores, decoder, bounds });
  const second = createPostgres(stores.postgresUrl);
  const other = quarantineWith({ sql: second, bounds });
  const organizationId = await newOrganization(stores);
  const texts = Array.from({ length: 12 }, (_, index) => `{"text":"${index}"}`);
  const kept = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      (index % 2 === 0 ? server.quarantine : other).keep(batchOf(organizationId, texts)),
    ),
  );
  expect(kept.reduce((sum, count) => sum + count, 0)).toBe(50);
  expect(await states(stores, organizationId)).toEqual({ held: 50 });
  expect(await server.quarantine.keep(batchOf(organizationId, ["x"]))).toBe(0);
  decoder.isMended = true;
  await server.replay(organizationId);
  // By bytes: the first fits, the second does not, the third does.
  const raws = ["a".repeat(9_000), "b".repeat(2_000), "c".repeat(1_000)];
  expect(await server.quarantine.keep(batchOf(organizationId, raws))).toBe(2);
  await expectTrueUsage(organizationId);
  const exposed = (await server.metrics.expose()).text;
  expect(exposed).toContain('obs_quarantine_records_total{outcome="replayed"} 50');
  expect(exposed).toMatch(/outcome="refused"} \d/);
  await second.end();
  await server.close();
});

test("a large request is kept whole", async () => {
  const organizationId = await newOrganization(stores);
  const raws = Array.from({ length: 5_000 }, (_, index) => `${index} ${"x".repeat(2_000)}`);
  expect(await quarantineWith().keep(batchOf(organizationId, raws, { requestIdentity: "large" }))).toBe(
    5_000,
  );
  await expectTrueUsage(organizationId);
});

test("a record that is too large to be kept is counted and not kept, and the others are", async () => {
  const organizationId = await newOrganization(stores);
  const metrics = createMetrics();
  const quarantine = quarantineWith({ metrics: metrics.quarantine });
  const { records, ...batch } = batchOf(organizationId, ["a", "b"], { requestIdentity: "too large" });
  const tooLarge = { place: "line 3", reason: "is too large", raw: null };
  expect(await quarantine.keep({ ...batch, records: [tooLarge] })).toBe(0);
  expect(await quarantine.keep({ ...batch, records: [tooLarge, ...records] })).toBe(2);
  expect(await states(stores, organizationId)).toEqual({ held: 2 });
  expect((await metrics.expose()).text).toContain('obs_quarantine_records_total{outcome="refused"} 2');
  await expectTrueUsage(organizationId);
});

test("while Postgres is away nothing is said to be kept", async () => {
  const { hostname, port } = new URL(stores.postgresUrl);
  const proxy = await openTcpProxy({ host: hostname, port: Number(port) });
  const url = new URL(stores.postgresUrl);
  url.host = `127.0.0.1:${proxy.port}`;
  const sql = createPostgres(url.href);
  const organizationId = await newOrganization(stores);
  const quarantine = quarantineWith({ sql });
  const batch = batchOf(organizationId, ["a"], { requestIdentity: "away" });
  proxy.cut();
  await expect(quarantine.keep(batch)).rejects.toBeInstanceOf(DependencyError);
  proxy.restore();
  expect(await quarantine.keep(batch)).toBe(1);
  expect(await states(stores, organizationId)).toEqual({ held: 1 });
  await sql.end({ timeout: 1 });
  await proxy.close();
});

test("a record leaves when its time is over, but not while it is being replayed", async () => {
  const nowMs = Date.parse("2026-03-31T00:00:00Z");
  const organizationId = await newOrganization(stores);
  const keepAt = (atMs: number, text: string) =>
    quarantineWith({ now: () => atMs }).keep(batchOf(organizationId, [text]));
  await keepAt(nowMs - 31 * DAY_MS, "old");
  await keepAt(nowMs - 31 * DAY_MS, "old and taken on");
  await keepAt(nowMs - 31 * DAY_MS, "old and given up");
  await keepAt(nowMs - 29 * DAY_MS, "young");
  await keepAt(nowMs - 2 * DAY_MS, "replayed long ago");
  await keepAt(nowMs - 2 * DAY_MS, "replayed just now");
  const { postgres: sql } = stores;
  const claim = (text: string, atMs: number) => sql`
    UPDATE quarantine_records
    SET state = 'replaying', claim_id = gen_random_uuid(), claim_log = 'gone', claimed_at = ${new Date(atMs)}
    WHERE organization_id = ${organizationId} AND raw = ${Buffer.from(text)}`;
  await claim("old and taken on", nowMs - 3_600_000);
  await claim("old and given up", nowMs - 2 * DAY_MS);
  const replay = (text: string, atMs: number) => sql`
    UPDATE quarantine_records SET state = 'replayed', replayed_at = ${new Date(atMs)}
    WHERE organization_id = ${organizationId} AND raw = ${Buffer.from(text)}`;
  await replay("replayed long ago", nowMs - 25 * 3_600_000);
  await replay("replayed just now", nowMs - 3_600_000);
  await sql`
    UPDATE quarantine_usage SET records = 4, bytes = (
      SELECT sum(raw_bytes) FROM quarantine_records WHERE organization_id = ${organizationId} AND state <> 'replayed'
    ) WHERE organization_id = ${organizationId}`;
  // One at a time, as a round with a small batch does.
  let rounds = 0;
  while ((await removeOldQuarantine(sql, nowMs, 1)) === 1) rounds++;
  expect(rounds).toBe(3);
  const rows = await sql<{ text: string }[]>`
    SELECT convert_from(raw, 'UTF8') AS text FROM quarantine_records WHERE organization_id = ${organizationId} ORDER BY id`;
  expect(rows.map(({ text }) => text)).toEqual(["old and taken on", "young", "replayed just now"]);
  await expectTrueUsage(organizationId);
});
