import { expect, test } from "bun:test";
import { readdirSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { createLogger } from "../../src/log.ts";
import { openStores } from "../../src/storage/open.ts";
import { openTestStores } from "../harness/stores.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";

const WORDS = "ClickHouse could not read these parts";

test("a start names parts that cannot be read any more, unless what they were merged of can", async () => {
  using directory = temporaryDirectory();
  const external = await openTestStores({ migrations: null });
  const lines: string[] = [];
  const log = createLogger("error", { write: (line) => lines.push(line) });
  const open = () =>
    openStores(
      {
        dataDirectory: directory.path,
        clickhouseUrl: null,
        databaseUrl: external.postgresUrl,
        redisUrl: null,
      },
      log,
    );
  let stores = await open();
  expect(stores.statuses().every(({ isDamaged }) => !isDamaged)).toBe(true);
  const run = (query: string) => stores.clickhouse.command({ query });
  const countOf = async (table: string): Promise<unknown> =>
    (
      await stores.clickhouse.query({ query: `SELECT count() FROM ${table}`, format: "JSONCompactEachRow" })
    ).json();
  for (const table of ["merged", "lost"]) {
    await run(`CREATE TABLE ${table} (n UInt64) ENGINE = MergeTree ORDER BY n`);
    for (const n of [1, 2]) await run(`INSERT INTO ${table} VALUES (${n})`);
  }
  await run("OPTIMIZE TABLE merged FINAL");
  await stores.close();
  cutShort(directory.path, /^all_1_2_1$|^all_2_2_0$/);
  stores = await open();
  expect(lines.filter((line) => line.includes(WORDS))).toHaveLength(1);
  expect(lines.join("")).toContain("lost/broken-on-start_all_2_2_0");
  expect(lines.join("")).not.toContain("all_1_2_1");
  expect(stores.statuses().find(({ name }) => name === "clickhouse")).toMatchObject({
    ok: true,
    isDamaged: true,
  });
  expect(await countOf("lost")).toEqual([["1"]]);
  expect(await countOf("merged")).toEqual([["2"]]);
  await stores.close();
  await external.close();
});

/** Leaves files of parts without their ends; of a part that was merged into another one nothing is touched. */
function cutShort(dataDirectory: string, part: RegExp): void {
  const tables = join(dataDirectory, "clickhouse", "store", "store");
  for (const group of readdirSync(tables))
    for (const table of readdirSync(join(tables, group))) {
      const parts = readdirSync(join(tables, group, table)).filter((name) => part.test(name));
      const latest = parts.includes("all_1_2_1") ? "all_1_2_1" : parts[0];
      if (latest !== undefined) truncateSync(join(tables, group, table, latest, "data.bin"), 1);
    }
}
