import { afterAll, beforeAll, expect, test } from "bun:test";
import { openBucketFiles } from "../../src/archive/files/bucket-files.ts";
import { createClickHouse } from "../../src/storage/clickhouse.ts";
import { archiveApp } from "../domains/logs/archive/archive-app.ts";
import { idAt, insertRows } from "../domains/logs/stored-rows.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { archiverOver, DAY_MS, hotIds, makeOrganization, NOW_MS, unitsOf } from "./archive-setup.ts";
import { startObjectStore, type TestObjectStore } from "./object-store.ts";

const SECRET = "a'secret\\access-key/17";
let stores: TestStores;
let bucket: TestObjectStore;
beforeAll(async () => {
  stores = await openTestStores();
  bucket = startObjectStore();
});
afterAll(async () => {
  await stores.close();
  bucket[Symbol.dispose]();
});

async function logEntries(count: number): Promise<number> {
  const organization = await makeOrganization(stores);
  const receivedMs = NOW_MS - 40 * DAY_MS;
  await insertRows(
    stores.clickhouse,
    Array.from({ length: count }, (_, i) => ({
      organizationId: organization,
      ts: BigInt(receivedMs + i) * 1_000_000n,
      id: idAt(receivedMs + i),
      message: `job ${i} done`,
    })),
  );
  return organization;
}

test("entries move to a bucket, are found there, and their files go when their time is over", async () => {
  const files = await openBucketFiles(stores.clickhouse, {
    url: bucket.url,
    accessKeyId: "EXAMPLEKEY",
    secretAccessKey: SECRET,
  });
  const organization = await logEntries(12);
  const app = archiveApp(stores, files);
  const before = await app.page("search", organization, { limit: "5" });
  await archiverOver(stores, files).run();
  expect(await hotIds(stores, organization)).toEqual([]);
  const [key = ""] = [...bucket.objects.keys()];
  expect(key).toMatch(
    new RegExp(`^log-archive/obs/${organization}/2026-10-12/[0-9]+-[0-9a-f]{16}\\.parquet$`),
  );
  const after = await app.page("archive", organization, { limit: "5" });
  expect(after.entriesText).toBe(before.entriesText);
  const rest = await app.page("archive", organization, { limit: "50", cursor: after.nextCursor ?? "" });
  expect([rest.entries.length, rest.total, rest.partial]).toEqual([7, 12, false]);

  expect(bucket.authorizations.every((value) => value.includes("Credential=EXAMPLEKEY/"))).toBe(true);
  await archiverOver(stores, files, { archiveDays: 1 }).run();
  await archiverOver(stores, files, { archiveDays: 1, now: () => NOW_MS + 2 * 3_600_000 }).run();
  expect(bucket.objects.size).toBe(0);
});

test("what is in a bucket is read together with the log store, and a lost object makes the answer partial", async () => {
  const files = await openBucketFiles(stores.clickhouse, {
    url: bucket.url,
    accessKeyId: "EXAMPLEKEY",
    secretAccessKey: SECRET,
  });
  const organization = await logEntries(12);
  const app = archiveApp(stores, files);
  const count = async () => {
    const response = await app.query(organization, { query: "logs | summarize count(), max(message)" });
    const text = await response.text();
    expect(text).not.toMatch(/EXAMPLEKEY|access-key|obs_archive|log-archive/);
    return JSON.parse(text);
  };
  const before = await count();
  const page = await app.page("search", organization, { limit: "5" });
  await archiverOver(stores, files).run();
  expect(await hotIds(stores, organization)).toEqual([]);
  expect((await count()).rows).toEqual(before.rows);
  expect((await app.page("search", organization, { limit: "5" })).entriesText).toBe(page.entriesText);
  for (const { file } of await unitsOf(stores, organization)) await files.remove(file ?? "");
  const lost = await count();
  expect([lost.rows[0][0], lost.partial, lost.warnings[0].day]).toEqual([0, true, "2026-10-12"]);
  const found = await app.page("search", organization);
  expect([found.entries.length, found.partial]).toEqual([0, true]);
});

test("the secret of a bucket is in no list that ClickHouse shows and in no error", async () => {
  await openBucketFiles(stores.clickhouse, {
    url: bucket.url,
    accessKeyId: "EXAMPLEKEY",
    secretAccessKey: SECRET,
  });
  const shown = await stores.clickhouse.query({
    query: "SELECT name, toString(collection) AS said FROM system.named_collections",
    format: "JSONEachRow",
  });
  const text = await shown.text();
  expect(text).toContain("obs_archive_");
  expect(text).not.toContain("access-key/17");
  const away = createClickHouse({ ...stores.clickhouseEndpoint, origin: "http://127.0.0.1:1" });
  const opening = openBucketFiles(away, {
    url: bucket.url,
    accessKeyId: "EXAMPLEKEY",
    secretAccessKey: SECRET,
  });
  const error = await opening.catch((reason: Error) => reason);
  await away.close();
  expect(String(error)).toContain("does not take the settings");
  expect(Bun.inspect(error)).not.toContain("access-key/17");
});
