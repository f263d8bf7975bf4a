import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { archiveToday, lastExpiredDay } from "../../src/archive/hot-retention.ts";
import { putRetention } from "../../src/archive/retention/store.ts";
import type { RetentionSettings } from "../../src/archive/retention/types.ts";
import { idAt, insertRows, type StoredRow } from "../domains/logs/stored-rows.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";
import { archivedIds, DAY_MS, hotIds, makeOrganization, NOW_MS, testArchiver } from "./archive-setup.ts";

const temporary = temporaryDirectory();
let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
beforeEach(() => stores.clickhouse.command({ query: "TRUNCATE TABLE logs" }));
afterAll(async () => {
  await stores.close();
  temporary[Symbol.dispose]();
});

let made = 0;

/** An entry received so many days ago. */
function entry(organizationId: number, daysAgo: number, more: Partial<StoredRow> = {}): StoredRow {
  const receivedMs = NOW_MS - daysAgo * DAY_MS;
  made += 1;
  return {
    organizationId,
    ts: BigInt(receivedMs) * 1_000_000n,
    id: idAt(receivedMs, made),
    message: "user 17 signed in",
    ...more,
  };
}

const idsOf = (rows: readonly StoredRow[]): string[] => rows.map(({ id }) => id.toString()).sort();

async function setRetention(organizationId: number, settings: RetentionSettings): Promise<void> {
  await stores.postgres.begin((tx) => putRetention(tx, organizationId, settings, NOW_MS));
}

test("the first rule that fits decides, by service and level, before the days for the rest", async () => {
  const organization = await makeOrganization(stores);
  await setRetention(organization, {
    days: 10,
    rules: [
      { service: "audit", level: null, days: 0 },
      { service: "api", level: "error", days: 100 },
      { service: "api", level: null, days: 3 },
      { service: null, level: "debug", days: 1 },
    ],
  });
  const kept = [
    entry(organization, 400, { service: "audit", level: "debug" }),
    entry(organization, 50, { service: "api", level: "error" }),
    entry(organization, 3, { service: "api", level: "debug" }),
    entry(organization, 9, { service: "web", level: "error" }),
    entry(organization, 10, { service: "", level: "" }),
    entry(organization, 1, { service: "web", level: "debug" }),
  ];
  const moved = [
    entry(organization, 102, { service: "api", level: "error" }),
    entry(organization, 5, { service: "api", level: "info" }),
    entry(organization, 5, { service: "api", level: "debug" }),
    entry(organization, 12, { service: "web", level: "error" }),
    entry(organization, 12),
    entry(organization, 3, { service: "web", level: "debug" }),
  ];
  await insertRows(stores.clickhouse, [...kept, ...moved]);
  const { run, files } = testArchiver(stores, temporary.path);
  await run();
  expect((await hotIds(stores, organization)).sort()).toEqual(idsOf(kept));
  expect((await archivedIds(stores, organization, files)).sort()).toEqual(idsOf(moved));
});

test("what a rule has kept goes when its own time is over", async () => {
  const organization = await makeOrganization(stores);
  await setRetention(organization, { days: 5, rules: [{ service: null, level: "error", days: 20 }] });
  const info = entry(organization, 8, { level: "info" });
  const error = entry(organization, 8, { level: "error" });
  await insertRows(stores.clickhouse, [info, error]);
  const { run, files } = testArchiver(stores, temporary.path);
  await run();
  expect(await hotIds(stores, organization)).toEqual(idsOf([error]));
  await testArchiver(stores, temporary.path, { now: () => NOW_MS + 14 * DAY_MS }).run();
  expect(await hotIds(stores, organization)).toEqual([]);
  expect((await archivedIds(stores, organization, files)).sort()).toEqual(idsOf([info, error]));
});

test("an organisation without days of its own has the server's, and 0 keeps everything", async () => {
  const [silent, forever, ruled] = [
    await makeOrganization(stores),
    await makeOrganization(stores),
    await makeOrganization(stores),
  ];
  await setRetention(forever, { days: 0, rules: [] });
  await setRetention(ruled, { days: null, rules: [{ service: "api", level: null, days: 0 }] });
  const rows = [silent, forever, ruled].flatMap((organization) => [
    entry(organization, 60, { service: "api" }),
    entry(organization, 60, { service: "web" }),
  ]);
  await insertRows(stores.clickhouse, rows);
  await testArchiver(stores, temporary.path, { defaultDays: 0 }).run();
  for (const organization of [silent, forever, ruled])
    expect(await hotIds(stores, organization)).toHaveLength(2);
  await testArchiver(stores, temporary.path, { defaultDays: 7 }).run();
  expect(await hotIds(stores, silent)).toHaveLength(0);
  expect(await hotIds(stores, forever)).toHaveLength(2);
  expect(await hotIds(stores, ruled)).toHaveLength(1);
});

test("the time of receipt counts, so that entries of an old time are not archived at once", async () => {
  const organization = await makeOrganization(stores);
  const backfilled = entry(organization, 2, { ts: BigInt(NOW_MS - 900 * DAY_MS) * 1_000_000n });
  await insertRows(stores.clickhouse, [backfilled]);
  await testArchiver(stores, temporary.path).run();
  expect(await hotIds(stores, organization)).toEqual(idsOf([backfilled]));
});

test("a day is over a while after midnight, and its youngest entry has had its days then", () => {
  expect(archiveToday(Date.parse("2026-11-21T00:59:59Z"))).toBe("2026-11-20");
  expect(archiveToday(Date.parse("2026-11-21T01:00:00Z"))).toBe("2026-11-21");
  // Received on the 20th as late as it can be, it is one whole day old when the 22nd begins.
  expect(lastExpiredDay("2026-11-21", 1)).toBe("2026-11-19");
  expect(lastExpiredDay("2026-11-22", 1)).toBe("2026-11-20");
});

test("nothing is archived while a replay of the quarantine is unsettled, and everything afterwards", async () => {
  const { postgres: sql } = stores;
  const organization = await makeOrganization(stores);
  const old = entry(organization, 100);
  await insertRows(stores.clickhouse, [old]);
  const now = new Date(NOW_MS);
  await sql`
    INSERT INTO quarantine_records
      (organization_id, format, place, reason, raw, raw_bytes, received_at, state, claim_id, claim_log, claimed_at)
    VALUES (${organization}, 'json', '/0', 'is odd', '{}', 2, ${now}, 'replaying', gen_random_uuid(), 'log', ${now})`;
  const { run, files } = testArchiver(stores, temporary.path);
  await run();
  expect(await hotIds(stores, organization)).toEqual(idsOf([old]));
  await sql`UPDATE quarantine_records SET state = 'held', claim_id = NULL, claim_log = NULL, claimed_at = NULL
            WHERE organization_id = ${organization}`;
  await run();
  expect(await hotIds(stores, organization)).toEqual([]);
  expect(await archivedIds(stores, organization, files)).toEqual(idsOf([old]));
});
