/** Entities of names that nobody can hold back, random host names among them: so many are kept, and those that matter. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { removeOldEntities } from "../../src/entities/entity-store.ts";
import { OBSERVED_MAX } from "../../src/entities/limits.ts";
import { makeOrganization } from "../domains/log-alerts/alert-server.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";

const NOW_MS = Date.UTC(2026, 2, 1);
const MORE = 30;

let stores: TestStores;
let sql: TestStores["postgres"];
beforeAll(async () => {
  stores = await openTestStores();
  sql = stores.postgres;
});
afterAll(() => stores.close());

/** So many hosts, each seen a second after the one before. */
async function observe(organizationId: number, type: string, n: number): Promise<void> {
  await sql`
    INSERT INTO entities (organization_id, type, key, name, first_seen, last_seen)
    SELECT ${organizationId}, ${type}, 'n-' || i, 'n-' || i, ${new Date(NOW_MS)}::timestamptz + i * interval '1 second',
           ${new Date(NOW_MS)}::timestamptz + i * interval '1 second'
    FROM generate_series(1, ${n}::integer) i`;
}

const keysOf = async (organizationId: number, type: string, last: number): Promise<string[]> => {
  const rows = await sql<{ key: string }[]>`
    SELECT key FROM entities WHERE organization_id = ${organizationId} AND type = ${type} ORDER BY last_seen LIMIT ${last}`;
  return rows.map(({ key }) => key);
};

test("of more than are kept of a type those leave that were seen longest ago, and none that something is linked with", async () => {
  const own = await makeOrganization(stores);
  const other = await makeOrganization(stores);
  await observe(own, "host", OBSERVED_MAX + MORE);
  await observe(own, "domain", 3);
  await observe(other, "host", 3);
  const [linked, incident] = await sql<{ id: number }[]>`
    INSERT INTO entities (organization_id, type, key, name, first_seen, last_seen, record_id)
    VALUES (${own}, 'host', 'n-0', 'n-0', ${new Date(0)}, ${new Date(0)}, NULL),
           (${own}, 'incident', '1', 'Something is wrong', ${new Date(0)}, ${new Date(0)}, 1) RETURNING id::integer`;
  await sql`
    INSERT INTO entity_links (organization_id, from_id, to_id, kind, n, first_seen, last_seen)
    VALUES (${own}, ${linked?.id ?? 0}, ${incident?.id ?? 0}, 'evidence_of', 1, ${new Date(0)}, ${new Date(0)})`;
  // In turns, each of which is bounded.
  expect(await removeOldEntities(sql, NOW_MS, 10)).toBe(10);
  let removed = 10;
  for (let n = -1; n !== 0; removed += n) n = await removeOldEntities(sql, NOW_MS, 1_000);
  expect(removed).toBe(MORE + 1);
  expect(await keysOf(own, "host", 2)).toEqual(["n-0", `n-${MORE + 2}`]);
  expect(await keysOf(own, "domain", 9)).toEqual(["n-1", "n-2", "n-3"]);
  expect(await keysOf(other, "host", 9)).toEqual(["n-1", "n-2", "n-3"]);
});
