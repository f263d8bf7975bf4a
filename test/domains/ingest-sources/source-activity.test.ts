import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Sql } from "postgres";
import { FailureStreaks } from "../../../src/domains/ingest-sources/failure-streaks.ts";
import { SourceActivity } from "../../../src/domains/ingest-sources/source-activity.ts";
import {
  type CompiledSource,
  SourceDirectory,
} from "../../../src/domains/ingest-sources/source-directory.ts";
import { createLogger } from "../../../src/log.ts";
import { createPostgres } from "../../../src/storage/postgres.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { openTcpProxy } from "../../harness/tcp-proxy.ts";

let stores: TestStores;

beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

const RECEIVED = { accepted: 2, duplicates: 0, rejected: 1, quarantined: 3, errors: [], replayed: false };

/** A new organisation and its only source, `shop`. */
async function makeSource(sql: Sql): Promise<{ organizationId: number; source: CompiledSource }> {
  const [row] = await sql<{ organization_id: number }[]>`
    WITH organization AS (INSERT INTO organizations (name, created_at) VALUES ('away', now()) RETURNING id)
    INSERT INTO ingest_sources (organization_id, source_key, name, format, mapping, created_at, updated_at)
    SELECT id, 'shop', 'Shop', 'json', '{}', now(), now() FROM organization RETURNING organization_id`;
  const organizationId = row?.organization_id ?? 0;
  const source = await new SourceDirectory({ sql, now: Date.now }).get(organizationId, "shop");
  if (source === null) throw new Error("there is no source");
  return { organizationId, source };
}

test("what sources received while Postgres was away is written down when it is back", async () => {
  const { postgres: direct } = stores;
  const url = new URL(stores.postgresUrl);
  const proxy = await openTcpProxy({ host: url.hostname, port: Number(url.port) });
  url.port = String(proxy.port);
  const sql = createPostgres(url.href, { maxConnections: 1 });
  const { organizationId, source } = await makeSource(direct);
  const activity = new SourceActivity({ sql, now: Date.now, log: createLogger("silent") });
  const counts = async () => {
    const [found] = await direct<{ accepted: string; rejected: string; quarantined: string }[]>`
      SELECT accepted, rejected, quarantined FROM ingest_sources WHERE organization_id = ${organizationId}`;
    return { ...found };
  };

  proxy.cut();
  activity.record(source, RECEIVED, []);
  await activity.settled();
  activity.record(source, RECEIVED, []);
  expect(await counts()).toEqual({ accepted: "0", rejected: "0", quarantined: "0" });
  proxy.restore();
  activity.record(source, { ...RECEIVED, replayed: true }, []);
  await activity.settled(180_000);
  expect(await counts()).toEqual({ accepted: "4", rejected: "2", quarantined: "6" });
  await sql.end({ timeout: 1 });
  await proxy.close();
});

test("a reason that Postgres does not take as it is keeps nothing from being written down", async () => {
  const { postgres: sql } = stores;
  const [failing, fine] = [await makeSource(sql), await makeSource(sql)];
  const activity = new SourceActivity({ sql, now: Date.now, log: createLogger("silent") });
  const failed = { ...RECEIVED, accepted: 0, errors: [{ place: "/0", reason: "no a\0b\ud83d" }] };
  for (let i = 0; i < 3; i++) activity.record(failing.source, failed, []);
  activity.record(fine.source, RECEIVED, []);
  await activity.settled();
  const rows = await sql<{ accepted: string; status_reason: string | null }[]>`
    SELECT accepted, status_reason FROM ingest_sources
    WHERE organization_id IN (${failing.organizationId}, ${fine.organizationId}) ORDER BY organization_id`;
  expect(rows.map(({ accepted, status_reason }) => [accepted, status_reason])).toEqual([
    ["0", "The last 12 records could not be mapped: no a\ufffdb\ufffd."],
    ["2", null],
  ]);
});

describe("a source keeps failing", () => {
  const failed = (count: number) => ({ accepted: 0, failed: count, reason: "no time" });

  test("once ten records in a row failed in three requests", () => {
    const streaks = new FailureStreaks();
    expect([4, 4].map((count) => streaks.record("a", failed(count)))).toEqual([null, null]);
    expect(streaks.record("a", failed(4))).toBe("The last 12 records could not be mapped: no time.");
  });

  test("not because of one bad request, few records, or empty requests", () => {
    const streaks = new FailureStreaks();
    expect([50_000, 1].map((count) => streaks.record("a", failed(count)))).toEqual([null, null]);
    expect(Array.from({ length: 9 }, () => streaks.record("b", failed(1)))).toEqual(Array(9).fill(null));
    expect(streaks.record("b", failed(0))).toBeNull();
    expect(streaks.record("b", failed(1))).toContain("10 records");
  });

  test("no longer once a record could be mapped", () => {
    const streaks = new FailureStreaks();
    for (let i = 0; i < 5; i++) streaks.record("a", failed(10));
    expect(streaks.record("a", { accepted: 1, failed: 99, reason: "no time" })).toBeNull();
    expect(streaks.record("a", failed(10))).toBeNull();
  });
});
