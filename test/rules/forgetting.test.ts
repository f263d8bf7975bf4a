/** What nobody counts by any more is forgotten, and nothing that is still needed. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  endCounter,
  makeCounter,
  plainCounter,
  removeEndedCounters,
} from "../../src/rules/counters/counter-store.ts";
import { removeOldStreams } from "../../src/rules/streams/stream-store.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";

const DAY_MS = 86_400_000;

let stores: TestStores;
let sql: TestStores["postgres"];
beforeAll(async () => {
  stores = await openTestStores();
  sql = stores.postgres;
});
afterAll(() => stores.close());

test("counters that have ended go when no seal under way counts by them, and those in use stay", async () => {
  const [organization] = await sql<{ id: number }[]>`
    INSERT INTO organizations (name, created_at) VALUES ('acme', now()) RETURNING id`;
  const id = organization?.id ?? 0;
  const filter = plainCounter({ query: "x", service: null, level: null }, 60);
  const make = (): Promise<number> => sql.begin((tx) => makeCounter(tx, id, filter, Date.now()));
  const [kept, ended] = [await make(), await make()];
  const [seal] = await sql<{ id: string }[]>`
    INSERT INTO ingest_streams (instance, holder, first_id, sealed_id, intent_to, intent_revision, sealer, lease_until)
    SELECT 7, gen_random_uuid(), 1, 0, 5, revision, gen_random_uuid(), now() FROM counter_revisions RETURNING id::text`;
  await sql.begin((tx) => endCounter(tx, id, ended));
  const left = async (): Promise<number[]> => {
    await removeEndedCounters(sql, Date.now(), 100);
    const rows = await sql<{ id: number }[]>`SELECT id::integer FROM log_counters ORDER BY id`;
    return rows.map((row) => row.id);
  };
  expect(await left()).toEqual([kept, ended]);
  await sql`UPDATE ingest_streams SET intent_to = NULL, intent_revision = NULL WHERE id = ${seal?.id ?? ""}`;
  expect(await left()).toEqual([kept]);
});

test("streams go that ended long ago, but not while one before them has to know where they began", async () => {
  await sql`DELETE FROM ingest_streams`;
  const make = async (instance: number, isEnded: boolean, ageDays: number): Promise<string> => {
    const through = new Date(Date.now() - ageDays * DAY_MS);
    const [made] = await sql<{ id: string }[]>`
      INSERT INTO ingest_streams (instance, holder, first_id, sealed_id, sealer, lease_until, ended, created_at, through)
      VALUES (${instance}, gen_random_uuid(), 1, 0, gen_random_uuid(), now(), ${isEnded}, now() - interval '200 days', ${through})
      RETURNING id::text`;
    return made?.id ?? "";
  };
  await make(1, true, 100);
  const recent = await make(1, true, 10);
  const open = await make(2, false, 80);
  const behind = await make(2, true, 100);
  const silent = await make(3, false, 100);
  const left = async (): Promise<string[]> => {
    await removeOldStreams(sql, Date.now(), 100);
    return (await sql<{ id: string }[]>`SELECT id::text FROM ingest_streams ORDER BY id`).map(({ id }) => id);
  };
  const rows = await left();
  expect(rows).toEqual([recent, open, behind]);
  expect(rows).not.toContain(silent);
});
