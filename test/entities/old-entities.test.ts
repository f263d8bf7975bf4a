/** Names without an end, as of random hosts, fill no registry: those seen longest ago leave, and nothing that something depends on. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { removeOldEntities } from "../../src/entities/entity-store.ts";
import { OBSERVED_MAX } from "../../src/entities/limits.ts";
import { makeOrganization } from "../domains/log-alerts/alert-server.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

test("of more observed entities of a type than are kept those seen longest ago leave, some at a time, and no linked, named or recorded one", async () => {
  const { postgres: sql } = stores;
  const [many, few] = [await makeOrganization(stores), await makeOrganization(stores)];
  const more = 40;
  // The higher the number, the longer ago.
  const observe = (organizationId: number, type: string, n: number) => sql`
    INSERT INTO entities (organization_id, type, key, name, first_seen, last_seen)
    SELECT ${organizationId}::integer, ${type}::text, 'h' || n, 'h' || n, now() - make_interval(secs => n), now() - make_interval(secs => n)
    FROM generate_series(1, ${n}::integer) AS n`;
  await observe(many, "host", OBSERVED_MAX + more);
  await observe(many, "domain", 10);
  await observe(few, "host", 10);
  const idOf = async (organizationId: number, type: string, n: number): Promise<number> => {
    const [row] = await sql<{ id: number }[]>`
      SELECT id::integer FROM entities WHERE organization_id = ${organizationId} AND type = ${type} AND key = ${`h${n}`}`;
    return row?.id ?? 0;
  };
  const oldest = OBSERVED_MAX + more;
  const [linked, named, recorded] = [oldest, oldest - 1, oldest - 2];
  await sql`
    INSERT INTO entity_links (organization_id, from_id, to_id, kind, n, first_seen, last_seen)
    VALUES (${many}, ${await idOf(many, "domain", 1)}, ${await idOf(many, "host", linked)}, 'evidence_of', 1, now(), now())`;
  await sql`UPDATE entities SET canonical_id = ${await idOf(many, "host", 1)} WHERE id = ${await idOf(many, "host", named)}`;
  await sql`UPDATE entities SET record_id = 1 WHERE id = ${await idOf(many, "host", recorded)}`;
  const removed: number[] = [];
  do removed.push(await removeOldEntities(sql, Date.now(), 15));
  while (removed.at(-1) !== 0);
  // The one with a record is not counted among the observed ones.
  expect(removed).toEqual([15, 15, 9, 0]);
  const counts = await sql`
    SELECT organization_id AS "organizationId", type, count(*)::integer AS n FROM entities GROUP BY 1, 2 ORDER BY 1, 2`;
  expect([...counts]).toEqual([
    { organizationId: many, type: "domain", n: 10 },
    { organizationId: many, type: "host", n: OBSERVED_MAX + 1 },
    { organizationId: few, type: "host", n: 10 },
  ]);
  const kept = await sql<{ key: string }[]>`
    SELECT key FROM entities WHERE organization_id = ${many} AND type = 'host' ORDER BY last_seen LIMIT 4`;
  expect(kept.map(({ key }) => key)).toEqual([linked, named, recorded, oldest - 3 - 39].map((n) => `h${n}`));
});
