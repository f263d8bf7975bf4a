/** The list of what an organisation's archive has. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { DAY_MS, makeOrganization, NOW_MS, testArchiver, unitsOf } from "../../../archive/archive-setup.ts";
import { openTestStores, type TestStores } from "../../../harness/stores.ts";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { idAt, insertRows } from "../stored-rows.ts";
import { archiveApp } from "./archive-app.ts";

const temporary = temporaryDirectory();
let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(async () => {
  await stores.close();
  temporary[Symbol.dispose]();
});

/** Archives `perDay` entries of each of these days. */
async function archive(organizationId: number, days: readonly number[], perDay: number) {
  const rows = days.flatMap((daysAgo) =>
    Array.from({ length: perDay }, (_, i) => {
      const receivedMs = NOW_MS - daysAgo * DAY_MS + i * 1000;
      const ts = BigInt(receivedMs) * 1_000_000n;
      return { organizationId, ts, id: idAt(receivedMs, i), message: `m ${i}` };
    }),
  );
  await insertRows(stores.clickhouse, rows);
  const { run, files } = testArchiver(stores, temporary.path);
  await run();
  return archiveApp(stores, files);
}

interface Page {
  readonly items: readonly { readonly day: string; readonly id: number; readonly file: string }[];
  readonly nextCursor: string | null;
}

test("every archived file is listed once over the pages, with its entries and times, and nobody else's", async () => {
  const [organization, other] = [await makeOrganization(stores), await makeOrganization(stores)];
  const app = await archive(organization, [40, 41, 42], 5);
  const page = async (id: number, parameters: Record<string, string>): Promise<Page> => {
    const response = await app.get("archive/units", id, parameters);
    expect(response.status).toBe(200);
    return JSON.parse(await response.text());
  };
  const first = await page(organization, { limit: "2" });
  const second = await page(organization, { limit: "2", cursor: first.nextCursor ?? "" });
  expect([first.items.length, second.items.length, second.nextCursor]).toEqual([2, 1, null]);
  const all = [...first.items, ...second.items];
  const units = await unitsOf(stores, organization);
  expect(all.map(({ file }) => file).toSorted()).toEqual(units.map(({ file }) => String(file)).toSorted());
  expect(all.every((unit, i) => i === 0 || unit.id < (all[i - 1]?.id ?? 0))).toBe(true);
  const day = new Date(NOW_MS - 40 * DAY_MS).toISOString().slice(0, 10);
  expect(all.find((unit) => unit.day === day)).toMatchObject({
    state: "archived",
    entries: 5,
    bytes: expect.any(Number),
    from: new Date(NOW_MS - 40 * DAY_MS).toISOString(),
    to: new Date(NOW_MS - 40 * DAY_MS + 4000).toISOString(),
    archivedAt: expect.any(String),
  });
  expect(await page(other, {})).toEqual({ items: [], nextCursor: null });
  // A cursor is its organisation's.
  const foreign = await app.get("archive/units", other, { cursor: first.nextCursor ?? "" });
  expect(foreign.status).toBe(400);
});
