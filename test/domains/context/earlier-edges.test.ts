/** What seals of an earlier server found has as many neighbours as before, together with what is found from then on. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { edgesKey } from "../../../src/entities/signal-labels.ts";
import { createLogger } from "../../../src/log.ts";
import { MIGRATIONS_DIRECTORY, migrate } from "../../../src/storage/migrations/migrate.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../harness/temporary-directory.ts";
import { iocServer } from "../iocs/ioc-server.ts";

let directory: TemporaryDirectory;
let stores: TestStores;
beforeAll(async () => {
  directory = temporaryDirectory();
  cpSync(MIGRATIONS_DIRECTORY, directory.path, { recursive: true });
  const own = join(directory.path, "clickhouse");
  for (const name of readdirSync(own)) if (name >= "0011") rmSync(join(own, name));
  stores = await openTestStores({ migrations: directory.path });
});
afterAll(async () => {
  await stores.close();
  directory[Symbol.dispose]();
});

test("edges from before are counted, shown and added to, before and after the store has merged them", async () => {
  const { postgres: sql, clickhouse } = stores;
  await sql`INSERT INTO organizations (id, name, created_at) OVERRIDING SYSTEM VALUE VALUES (7, 'acme', now())`;
  const insert = (organizationId: number, services: number, n: number, ms: number) =>
    clickhouse.command({
      query: `
        INSERT INTO signals (organization_id, kind, key, group_hash, bucket, n, last_id, sealed_day, label, first_ms, last_ms)
        SELECT ${organizationId}, 'edge', ${edgesKey({ type: "host", key: "web-1" })}, xxHash64(label), '2026-01-02 00:00:00', ${n}, ${ms} + number,
          '2026-01-02', concat('runs_on\\tin\\thost\\tweb-1\\tservice\\ts', toString(number)) AS label, ${ms}, ${ms} + number
        FROM numbers(${services})`,
    });
  await insert(7, 3, 2, 1_767_312_000_000);
  await insert(8, 5, 2, 1_767_312_000_000);
  await migrate({
    ...{ postgres: sql, clickhouse, directory: MIGRATIONS_DIRECTORY, log: createLogger("silent") },
  });
  const server = await iocServer(stores);
  await server.store(7, { host: "web-1", message: "nothing" });
  await server.seal();
  const { body } = await server.send(7, "GET", "/api/v1/context/lookup?type=host&key=web-1");
  const shown = async (query = "") => {
    const answer = await server.send(7, "GET", `/api/v1/context/entity/${body.entity.id}/neighbors?${query}`);
    const items = answer.body.items.map(
      ({ entity, count, sampleEntryId }: { entity: { key: string }; count: number; sampleEntryId: string }) =>
        `${entity.key} ${count} ${sampleEntryId}`,
    );
    return { items, byType: answer.body.byType };
  };
  const before = {
    items: ["s2 2 1767312000002", "s1 2 1767312000001", "s0 2 1767312000000"],
    byType: { service: 3 },
  };
  expect(await shown()).toEqual(before);
  expect(await shown("limit=1&type=service")).toEqual({ ...before, items: before.items.slice(0, 1) });
  expect(await shown("type=domain")).toEqual({ items: [], byType: {} });
  await insert(7, 4, 5, 1_767_312_001_000);
  const after = {
    items: ["s3 5 1767312001003", "s2 7 1767312001002", "s1 7 1767312001001", "s0 7 1767312001000"],
    byType: { service: 4 },
  };
  expect(await shown()).toEqual(after);
  await clickhouse.command({ query: "OPTIMIZE TABLE signals FINAL" });
  expect(await shown()).toEqual(after);
});
