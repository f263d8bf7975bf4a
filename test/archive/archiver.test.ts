import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { ARCHIVE_STEPS, type ArchiveStep } from "../../src/archive/steps.ts";
import { idAt, insertRows, type StoredRow } from "../domains/logs/stored-rows.ts";
import { letPass } from "../harness/let-pass.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";
import {
  archivedIds,
  DAY_MS,
  hotIds,
  makeOrganization,
  NOW_MS,
  testArchiver,
  unitsOf,
} from "./archive-setup.ts";

let stores: TestStores;
const temporary = temporaryDirectory();
const directory = temporary.path;
beforeAll(async () => {
  stores = await openTestStores();
});
beforeEach(() => stores.clickhouse.command({ query: "TRUNCATE TABLE logs" }));
afterAll(async () => {
  await stores.close();
  temporary[Symbol.dispose]();
});

/** Entries received so many days ago, one a second. */
function entriesOf(
  organizationId: number,
  daysAgo: number,
  count: number,
  more: Partial<StoredRow> = {},
): StoredRow[] {
  const receivedMs = NOW_MS - daysAgo * DAY_MS;
  return Array.from({ length: count }, (_, i) => ({
    organizationId,
    ts: BigInt(receivedMs + i * 1000) * 1_000_000n,
    id: idAt(receivedMs + i * 1000, i),
    message: `order ${i} of ${daysAgo} days ago`,
    ...more,
  }));
}

const idsOf = (rows: readonly StoredRow[]): string[] => rows.map(({ id }) => id.toString());

test("entries that rules have not looked at stay, however old they are, and readiness says so", async () => {
  const organization = await makeOrganization(stores);
  const [looked, unlooked] = [entriesOf(organization, 50, 2), entriesOf(organization, 40, 3)];
  await insertRows(stores.clickhouse, [...looked, ...unlooked]);
  let heldMs: number | null = NOW_MS - 15 * DAY_MS;
  const { archiver, run, files } = testArchiver(stores, directory, { heldSince: async () => heldMs });
  await run();
  expect(await hotIds(stores, organization)).toEqual(idsOf(unlooked));
  expect(archiver.status()).toMatchObject({ state: "degraded", detail: expect.stringContaining("15 days") });
  heldMs = null;
  await run();
  expect(await hotIds(stores, organization)).toEqual([]);
  expect(await archivedIds(stores, organization, files)).toEqual(idsOf([...looked, ...unlooked]));
  expect(archiver.status()).toEqual({ state: "up" });
});

test("entries whose days are over move to files of their organisation and day, the others stay", async () => {
  const [first, second] = [await makeOrganization(stores), await makeOrganization(stores)];
  const old = [...entriesOf(first, 40, 5), ...entriesOf(first, 35, 7)].sort((a, b) => (a.id < b.id ? -1 : 1));
  const fresh = [...entriesOf(first, 29, 3), ...entriesOf(first, 0, 2)];
  const foreign = entriesOf(second, 40, 4);
  await insertRows(stores.clickhouse, [...old, ...fresh, ...foreign]);
  const { run, files, metrics } = testArchiver(stores, directory);
  await run();
  expect(await hotIds(stores, first)).toEqual(idsOf(fresh));
  expect(await hotIds(stores, second)).toEqual([]);
  expect(await archivedIds(stores, first, files)).toEqual(idsOf(old));
  expect(await archivedIds(stores, second, files)).toEqual(idsOf(foreign));
  expect((await unitsOf(stores, first)).map(({ state, day, rows }) => [state, day, rows])).toEqual([
    ["done", "2026-10-12", 5],
    ["done", "2026-10-17", 7],
  ]);
  const { text } = await metrics.expose();
  expect(text).toContain("obs_archive_rows_total 16");
  expect(text).toContain('obs_archive_units_total{outcome="archived"} 3');
  expect(await stores.postgres`SELECT 1 FROM log_archive_attempts`).toHaveLength(0);
});

test("entries that arrive for a day already archived move with a later unit", async () => {
  const organization = await makeOrganization(stores);
  const rows = entriesOf(organization, 45, 6);
  const { run, files } = testArchiver(stores, directory);
  await insertRows(stores.clickhouse, rows.slice(0, 4));
  await run();
  await insertRows(stores.clickhouse, rows.slice(4));
  expect(await hotIds(stores, organization)).toEqual(idsOf(rows.slice(4)));
  await run();
  expect(await hotIds(stores, organization)).toEqual([]);
  expect(await archivedIds(stores, organization, files)).toEqual(idsOf(rows));
  expect(await unitsOf(stores, organization)).toHaveLength(2);
});

test("an entry that arrives while its day is archived is neither lost nor moved unseen", async () => {
  const organization = await makeOrganization(stores);
  const rows = entriesOf(organization, 46, 6);
  await insertRows(stores.clickhouse, rows.slice(0, 3));
  const late = rows.slice(3);
  let inserted: Promise<void> | undefined;
  const reached: ArchiveStep[] = [];
  const { run, stop, files } = testArchiver(stores, directory, {
    onStep: (step, unit) => {
      if (unit.organizationId !== organization) return;
      reached.push(step);
      // The next run begins with the committed unit.
      if (step !== "committed" || inserted !== undefined) return;
      inserted = insertRows(stores.clickhouse, late);
      stop();
    },
  });
  await run();
  await inserted;
  expect(await archivedIds(stores, organization, files)).toEqual(idsOf(rows.slice(0, 3)));
  await letPass(stores.postgres, "log_archive_units", DAY_MS / 24);
  await testArchiver(stores, directory, { now: () => NOW_MS + DAY_MS / 24 }).run();
  await testArchiver(stores, directory, { now: () => NOW_MS + DAY_MS / 24 }).run();
  expect(await hotIds(stores, organization)).toEqual([]);
  expect(await archivedIds(stores, organization, files)).toEqual(idsOf(rows));
  expect(reached).toContain("committed");
});

describe("a stop after each step loses nothing and doubles nothing", () => {
  for (const [i, stop] of ARCHIVE_STEPS.entries()) {
    test(stop, async () => {
      const organization = await makeOrganization(stores);
      const rows = entriesOf(organization, 60 + i, 5);
      await insertRows(stores.clickhouse, rows);
      let stopped = 0;
      const crashing = testArchiver(stores, directory, {
        onStep: (step, unit) => {
          if (step !== stop || unit.organizationId !== organization) return;
          stopped += 1;
          throw new Error("stopped here by the test");
        },
      });
      await crashing.run();
      expect(stopped).toBe(1);
      // Between the crash and what comes after it, every entry is found, whichever place has it.
      const [hot, archived] = [
        await hotIds(stores, organization),
        await archivedIds(stores, organization, crashing.files),
      ];
      expect([...new Set([...hot, ...archived])].sort()).toEqual(idsOf(rows).sort());

      await letPass(stores.postgres, "log_archive_units", 2 * 3_600_000);
      const later = { now: () => NOW_MS + 2 * 3_600_000 };
      const { run, files } = testArchiver(stores, directory, later);
      await run();
      await run();
      expect(await hotIds(stores, organization)).toEqual([]);
      expect(await archivedIds(stores, organization, files)).toEqual(idsOf(rows));
      const units = await unitsOf(stores, organization);
      expect(units.map(({ state }) => state)).toEqual(["done"]);
      // What the first attempt left is gone by then.
      const [unit] = units;
      const day = join(directory, "archive", String(organization), unit?.day ?? "");
      expect(readdirSync(day).map((name) => `${organization}/${unit?.day}/${name}`)).toEqual([
        unit?.file ?? "",
      ]);
      expect(existsSync(join(directory, "archive", unit?.file ?? "none"))).toBe(true);
      expect(
        await stores.postgres`SELECT 1 FROM log_archive_attempts WHERE organization_id = ${organization}`,
      ).toHaveLength(0);
    });
  }
});
