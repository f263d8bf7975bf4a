/** Indicators and feeds of a server from before batches were ranges of ids go on as they were. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createLogger } from "../../../src/log.ts";
import { MIGRATIONS_DIRECTORY, migrate } from "../../../src/storage/migrations/migrate.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../harness/temporary-directory.ts";
import { iocServer, PATH } from "./ioc-server.ts";

let directory: TemporaryDirectory;
let stores: TestStores;
beforeAll(async () => {
  directory = temporaryDirectory();
  cpSync(MIGRATIONS_DIRECTORY, directory.path, { recursive: true });
  const own = join(directory.path, "postgres");
  for (const name of readdirSync(own)) if (name >= "0055") rmSync(join(own, name));
  stores = await openTestStores({ migrations: directory.path });
});
afterAll(async () => {
  await stores.close();
  directory[Symbol.dispose]();
});

test("a batch that is looked for goes on where it was, and what a feed listed expires when it is gone", async () => {
  const feed = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("stays.evil.com\n") });
  const { postgres: sql, clickhouse } = stores;
  await sql`INSERT INTO organizations (id, name, created_at) OVERRIDING SYSTEM VALUE VALUES (7, 'acme', now())`;
  await sql`
    INSERT INTO ioc_feeds (id, organization_id, name, url, format, interval_sec, created_at, updated_at)
    OVERRIDING SYSTEM VALUE VALUES (3, 7, 'Old', ${`http://127.0.0.1:${feed.port}/`}, 'csv', 3600, now(), now())`;
  await sql`
    INSERT INTO ioc_batches (id, organization_id, from_revision, hunted) OVERRIDING SYSTEM VALUE
    VALUES (901, 7, 0, true), (902, 7, 0, false)`;
  const values = ["first.evil.com", "gone.evil.com", "stays.evil.com"];
  await sql`
    INSERT INTO iocs (organization_id, type, value, feed_id, by_person, batch_id, expires_at, created_at, updated_at)
    SELECT 7, 'domain', value, 3, false, CASE WHEN value LIKE 'first%' THEN 901 ELSE 902 END,
      CASE WHEN value LIKE 'first%' THEN now() - interval '1 day' END, now(), now()
    FROM unnest(${values}::text[]) AS value`;
  await sql`
    INSERT INTO ioc_listings (ioc_id, feed_id, organization_id, listed_at, expires_at, gone_at)
    SELECT id, 3, 7, now() - interval '1 day', CASE WHEN value LIKE 'stays%' THEN '2030-01-01'::timestamptz END,
      CASE WHEN value LIKE 'first%' THEN now() END FROM iocs`;
  await migrate({
    ...{ postgres: sql, clickhouse, directory: MIGRATIONS_DIRECTORY, log: createLogger("silent") },
  });
  const batches = await sql`
    SELECT b.id::integer, b.hunted_through::integer - min(i.id)::integer AS before, b.last_ioc_id - max(i.id) AS after
    FROM ioc_batches b JOIN iocs i ON (b.id = 901) = (i.value LIKE 'first%') GROUP BY b.id ORDER BY b.id`;
  expect([...batches]).toMatchObject([
    { id: 901, after: "0" },
    { id: 902, before: -1, after: "0" },
  ]);
  const [list] = await sql`
    SELECT listed::text, gone::text, until IS NOT NULL AS "isEnding" FROM ioc_feed_listings WHERE feed_id = 3`;
  expect(list).toEqual({ listed: "{2,3}", gone: "{1}", isEnding: true });
  const server = await iocServer(stores);
  await server.huntAll();
  await server.fetchFeeds();
  const { items } = (await server.send(7, "GET", `${PATH}?status=active`)).body;
  expect(items.map(({ value }: { value: string }) => value)).toEqual(["stays.evil.com"]);
  await server.store(7, { host: "web-1", message: "stays.evil.com" });
  await server.seal();
  expect((await server.send(7, "GET", `${PATH}?value=stays.evil.com`)).body.items).toMatchObject([
    { hits: 1 },
  ]);
  // One that is made after it is a batch of its own, and what was seen before is found.
  const made = await server.send(7, "POST", PATH, { type: "domain", value: "evil.com" });
  await server.huntAll();
  expect((await server.send(7, "GET", `${PATH}/${made.body.id}`)).body.hits).toBe(1);
  expect((await server.send(7, "DELETE", `${PATH}/${made.body.id}`)).status).toBe(204);
  expect(await sql`SELECT 1 FROM ioc_hits WHERE ioc_id = ${made.body.id}`).toHaveLength(0);
  await feed.stop(true);
});
