/** What ClickHouse merges survives a power cut, its text indexes, which it does not sync, among the rest. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OLD_PARTS_LIFETIME_S } from "../../src/storage/embedded/clickhouse-config.ts";
import { MergedIndexes, RECENT_MS, SYNC_EVERY_MS } from "../../src/storage/embedded/merged-indexes.ts";
import { type CutDisk, openCutDisk } from "../harness/cut-disk.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";

const TABLE = join("store", "abc", "abcdef");
const INDEX = "skp_idx_message_words.dct.idx";
const WRITTEN = "words ".repeat(1_000);

let stores: TestStores;
let disk: CutDisk | null;
beforeAll(async () => {
  stores = await openTestStores();
  disk = openCutDisk(mkdtempSync(join(tmpdir(), "obs-merged-")), 64 * 1024 * 1024);
});
afterAll(async () => {
  disk?.close();
  await stores.close();
});

/** A part with an index that nobody synced. */
function writePart(storePath: string, name: string): void {
  const part = join(storePath, TABLE, name);
  mkdirSync(part, { recursive: true });
  writeFileSync(join(part, INDEX), WRITTEN);
}

async function cutPower(cut: CutDisk): Promise<void> {
  await cut.freeze();
  await cut.restore();
}

/** What is left of the index of a part; null where the part is gone. */
function indexOf(storePath: string, name: string): string | null {
  try {
    return readFileSync(join(storePath, TABLE, name, INDEX), "utf8");
  } catch {
    return null;
  }
}

test("indexes of parts that were merged or changed are on the disk once they are synced, and others are not asked for", async () => {
  if (disk === null) return;
  const storePath = join(disk.path, "merged");
  for (const name of ["20261126_1_11_1", "all_1_1_0_7", "20261126_5_5_0", "tmp_merge_20261126_1_20_2"])
    writePart(storePath, name);
  new MergedIndexes(storePath).sync();
  await cutPower(disk);
  expect(indexOf(storePath, "20261126_1_11_1")).toBe(WRITTEN);
  expect(indexOf(storePath, "all_1_1_0_7")).toBe(WRITTEN);
  // The cut is one: what nobody synced is gone.
  expect(indexOf(storePath, "20261126_5_5_0")).not.toBe(WRITTEN);
  expect(indexOf(storePath, "tmp_merge_20261126_1_20_2")).not.toBe(WRITTEN);
});

test("parts are found as they come, also beside some that have gone, and none of an hour ago is touched by a start", async () => {
  if (disk === null) return;
  const storePath = join(disk.path, "later");
  const indexes = new MergedIndexes(storePath);
  indexes.sync();
  writePart(storePath, "20261126_1_11_1");
  indexes.sync();
  rmSync(join(storePath, TABLE, "20261126_1_11_1"), { recursive: true });
  writePart(storePath, "20261126_1_22_2");
  indexes.sync();
  // One of the same name is another one.
  writePart(storePath, "tmp_merge_20261126_1_11_1");
  renameSync(join(storePath, TABLE, "tmp_merge_20261126_1_11_1"), join(storePath, TABLE, "20261126_1_11_1"));
  indexes.sync();
  writePart(storePath, "20261126_30_40_1");
  new MergedIndexes(storePath).sync(Date.now() + RECENT_MS);
  await cutPower(disk);
  expect(indexOf(storePath, "20261126_1_22_2")).toBe(WRITTEN);
  expect(indexOf(storePath, "20261126_1_11_1")).toBe(WRITTEN);
  expect(indexOf(storePath, "20261126_30_40_1")).not.toBe(WRITTEN);
});

test("what parts were merged of stays until their indexes were synced several times over", async () => {
  expect(OLD_PARTS_LIFETIME_S * 1_000).toBeGreaterThan(5 * SYNC_EVERY_MS);
  const { clickhouse } = stores;
  await clickhouse.command({ query: "CREATE TABLE merged (n UInt64) ENGINE = MergeTree ORDER BY n" });
  for (const n of [1, 2]) await clickhouse.command({ query: `INSERT INTO merged VALUES (${n})` });
  await clickhouse.command({ query: "OPTIMIZE TABLE merged FINAL" });
  const ask = async (query: string): Promise<unknown> =>
    (await clickhouse.query({ query, format: "JSONCompactEachRow" })).json();
  expect(await ask("SELECT value FROM system.merge_tree_settings WHERE name = 'old_parts_lifetime'")).toEqual(
    [[String(OLD_PARTS_LIFETIME_S)]],
  );
  expect(
    await ask(
      "SELECT toUInt8(active), count() FROM system.parts WHERE database = currentDatabase() AND table = 'merged' GROUP BY 1 ORDER BY 1",
    ),
  ).toEqual([
    [0, "2"],
    [1, "1"],
  ]);
});
