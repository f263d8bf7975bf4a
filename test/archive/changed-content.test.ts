/** Files that can be read and have as many entries as they should, but not the ones, or not as they were. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { copyFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { ARCHIVE_COLUMNS } from "../../src/archive/columns.ts";
import { fileName } from "../../src/archive/files/archive-files.ts";
import { DirectoryFiles } from "../../src/archive/files/directory-files.ts";
import { ArchiveStatements } from "../../src/archive/statements.ts";
import type { ArchiveStep } from "../../src/archive/steps.ts";
import { idAt, insertRows, type StoredRow } from "../domains/logs/stored-rows.ts";
import { letPass } from "../harness/let-pass.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";
import {
  archivedIds,
  archiverOver,
  DAY_MS,
  hotIds,
  makeOrganization,
  NOW_MS,
  testArchiver,
  unitsOf,
} from "./archive-setup.ts";

const HOUR_MS = 3_600_000;
const RECEIVED_MS = NOW_MS - 40 * DAY_MS;
const temporary = temporaryDirectory();
const archive = join(temporary.path, "archive");
const files = new DirectoryFiles(archive);
let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
beforeEach(() => stores.clickhouse.command({ query: "TRUNCATE TABLE logs" }));
afterAll(async () => {
  await stores.close();
  temporary[Symbol.dispose]();
});

async function insertEntries(organizationId: number, count: number, offset = 0): Promise<string[]> {
  const rows = Array.from({ length: count }, (_, i): StoredRow => {
    const receivedMs = RECEIVED_MS + offset + i;
    return {
      organizationId,
      ts: BigInt(receivedMs) * 1_000_000n,
      id: idAt(receivedMs),
      message: `transfer ${i} of 10`,
      attrs: [["amount", "10"]],
    };
  });
  await insertRows(stores.clickhouse, rows);
  return rows.map(({ id }) => id.toString());
}

/** A file with the entries of an organisation, in each of which `change` is different; its path. */
async function changedFile(organization: number, change: string): Promise<string> {
  const name = fileName(900_000 + organization, "2026-10-12", 1, "00112233445566aa");
  const { pattern, structure } = files.source([name]);
  await stores.clickhouse.command({
    query: `INSERT INTO FUNCTION file({pattern: String}, 'Parquet', {structure: String})
      SELECT ${ARCHIVE_COLUMNS} FROM (SELECT * REPLACE (${change}) FROM logs WHERE organization_id = {organization: UInt32})`,
    query_params: { pattern, structure, organization },
  });
  return join(archive, name);
}

/** The file that the archiver has written for an organisation. */
function writtenFile(organization: number): string {
  const folder = join(archive, String(organization));
  const day = readdirSync(folder)[0] ?? "";
  return join(folder, day, readdirSync(join(folder, day))[0] ?? "");
}

const CHANGES = [
  ["a message", "concat(message, '0') AS message"],
  ["an attribute", "map('amount', '11') AS attrs"],
  ["an id", "id + 1 AS id"],
  ["a time", "ts + toIntervalNanosecond(1) AS ts"],
] as const;
const STEPS: readonly ArchiveStep[] = ["settled", "committed"];

test.each(STEPS.flatMap((step) => CHANGES.map(([what, change]) => [what, step, change] as const)))(
  "a file in which %s is different when it is %s is given up, and the log store lets go of nothing",
  async (_, step, change) => {
    const organization = await makeOrganization(stores);
    const ids = await insertEntries(organization, 6);
    const changed = await changedFile(organization, change);
    const { run, archiver } = testArchiver(stores, temporary.path, {
      onStep: (at) => {
        if (at === step) copyFileSync(changed, writtenFile(organization));
      },
    });
    await run();
    expect(archiver.status().state).toBe("degraded");
    expect(await hotIds(stores, organization)).toEqual(ids);
    expect((await unitsOf(stores, organization)).map(({ state }) => state)).toEqual(["planned"]);

    await letPass(stores.postgres, "log_archive_units", 2 * HOUR_MS);
    await testArchiver(stores, temporary.path).run();
    expect(await hotIds(stores, organization)).toEqual([]);
    expect(await archivedIds(stores, organization, files)).toEqual(ids);
  },
);

test("only entries that are in the file are deleted, though as many others are fixed for the deletion", async () => {
  const organization = await makeOrganization(stores);
  const moved = await insertEntries(organization, 4);
  const stopped = testArchiver(stores, temporary.path, {
    onStep: (step) => {
      if (step === "committed") stopped.stop();
    },
  });
  await stopped.run();
  expect(await hotIds(stores, organization)).toEqual(moved);
  const late = await insertEntries(organization, 1, 50);
  const swapped = { late: late[0], moved: moved[0], organization };
  const isSwapped = "organization_id = {organization: UInt32} AND id = {moved: UInt64}";
  for (const query of [
    `INSERT INTO log_archive_moves (attempt, organization_id, id)
     SELECT attempt, organization_id, {late: UInt64} FROM log_archive_moves WHERE ${isSwapped}`,
    `ALTER TABLE log_archive_moves DELETE WHERE ${isSwapped}`,
  ])
    await stores.clickhouse.command({
      query,
      query_params: swapped,
      clickhouse_settings: { mutations_sync: "1" },
    });
  await letPass(stores.postgres, "log_archive_units", HOUR_MS);
  await testArchiver(stores, temporary.path).run();
  const found = [
    ...(await hotIds(stores, organization)),
    ...(await archivedIds(stores, organization, files)),
  ].sort();
  expect(found).toEqual([...moved, ...late].sort());
});

test("entries that vanish between being counted and being written are missed, and nothing is given up", async () => {
  const organization = await makeOrganization(stores);
  const ids = await insertEntries(organization, 5);
  class Vanishing extends ArchiveStatements {
    override async write(...about: Parameters<ArchiveStatements["write"]>): Promise<void> {
      await stores.clickhouse.command({
        query: "ALTER TABLE logs DELETE WHERE organization_id = {organization: UInt32} AND id = {id: UInt64}",
        query_params: { organization, id: ids[0] },
        clickhouse_settings: { mutations_sync: "1" },
      });
      await super.write(...about);
    }
  }
  const statements = new Vanishing(stores.clickhouse, files);
  const { run, archiver } = testArchiver(stores, temporary.path, { statements });
  await run();
  expect(archiver.status().state).toBe("degraded");
  expect((await unitsOf(stores, organization)).map(({ state }) => state)).toEqual(["planned"]);
  expect(await hotIds(stores, organization)).toEqual(ids.slice(1));
});

test("an attempt whose unit another instance has taken over commits nothing and is not counted", async () => {
  const organization = await makeOrganization(stores);
  const ids = await insertEntries(organization, 3);
  class Overtaken extends DirectoryFiles {
    override async settle(file: string): Promise<void> {
      await super.settle(file);
      await stores.postgres`
        UPDATE log_archive_units SET claim_id = gen_random_uuid(), attempts = attempts + 1
        WHERE organization_id = ${organization}`;
    }
  }
  const { run, archiver, metrics } = archiverOver(stores, new Overtaken(archive));
  await run();
  expect(archiver.status().state).toBe("degraded");
  expect((await metrics.archive.units.get()).values.map(({ labels }) => labels.outcome)).not.toContain(
    "archived",
  );
  expect(await hotIds(stores, organization)).toEqual(ids);
});
