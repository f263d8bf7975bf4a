import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { type FoundPage, type LogApp, logApp } from "./log-app.ts";
import { idAt, insertRows, type StoredRow } from "./stored-rows.ts";

let stores: TestStores;
let app: LogApp;
let lastOrganization = 1000;

beforeAll(async () => {
  stores = await openTestStores();
  app = logApp(stores);
});
afterAll(() => stores.close());

/** Follows the cursors to the end; `between` runs after each page. */
async function readAll(
  organizationId: number,
  parameters: Record<string, string>,
  between: (page: FoundPage) => Promise<void> = async () => undefined,
): Promise<FoundPage[]> {
  const pages: FoundPage[] = [];
  let cursor: string | null = null;
  do {
    const page: FoundPage = await app.page(organizationId, {
      ...parameters,
      ...(cursor !== null && { cursor }),
    });
    pages.push(page);
    cursor = page.nextCursor;
    await between(page);
  } while (cursor !== null);
  return pages;
}

const newestFirst = (a: StoredRow, b: StoredRow): number =>
  a.ts === b.ts ? Number(b.id - a.id > 0n) * 2 - 1 : Number(b.ts - a.ts > 0n) * 2 - 1;

const idsOf = (pages: readonly FoundPage[]): string[] =>
  pages.flatMap(({ entries }) => entries.map(({ id }) => id));

describe("paging", () => {
  test("shows what was there at the first page exactly once and in order, whatever arrives meanwhile", async () => {
    const nowMs = Date.now();
    // Few distinct times make ties; ids from the past, this millisecond and, as of a faster clock, the future.
    const rowTime = fc
      .integer({ min: -5, max: 5 })
      .map((second) => BigInt(nowMs + second * 1000) * 1_000_000n);
    const rowAge = fc.constantFrom(-86_400_000, -60_000, -1, 0, 60_000);
    const row = fc.record({ ts: rowTime, ageMs: rowAge });
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { minLength: 1, maxLength: 40 }),
        fc.array(fc.array(row, { maxLength: 5 }), { maxLength: 6 }),
        fc.integer({ min: 1, max: 12 }),
        async (initial, arrivals, limit) => {
          const organizationId = ++lastOrganization;
          let sequence = 0;
          const stored = ({ ts, ageMs }: { ts: bigint; ageMs: number }): StoredRow => ({
            organizationId,
            ts,
            id: idAt(nowMs + ageMs, sequence++),
            message: "row",
          });
          const present = initial.map(stored);
          await insertRows(stores.clickhouse, present);
          const queue = arrivals.map((rows) => rows.map(stored));
          const pages = await readAll(organizationId, { limit: String(limit) }, async () => {
            const next = queue.shift();
            if (next !== undefined && next.length > 0) await insertRows(stores.clickhouse, next);
          });
          const ids = idsOf(pages);
          expect(new Set(ids).size).toBe(ids.length);
          const presentIds = present.toSorted(newestFirst).map(({ id }) => id.toString());
          expect(ids.filter((id) => presentIds.includes(id))).toEqual(presentIds);
        },
      ),
      { numRuns: 15 },
    );
  });

  test("never shows on a later page what is newer than the first page", async () => {
    const organizationId = ++lastOrganization;
    const ts = BigInt(Date.now()) * 1_000_000n;
    const row = (i: number, id: bigint): StoredRow => ({
      organizationId,
      ts: ts - BigInt(i),
      id,
      message: `${i}`,
    });
    await insertRows(
      stores.clickhouse,
      Array.from({ length: 10 }, (_, i) => row(i, idAt(Date.now() - 1000, i))),
    );
    let isFirst = true;
    const pages = await readAll(organizationId, { limit: "5" }, async () => {
      if (!isFirst) return;
      isFirst = false;
      // Between the entries that are still to come, as the write-ahead log delivers it: with an id of just now.
      await insertRows(stores.clickhouse, [row(7, idAt(Date.now() + 60_000))]);
    });
    expect(pages.flatMap(({ entries }) => entries.map(({ message }) => message))).toEqual(
      Array.from({ length: 10 }, (_, i) => `${i}`),
    );
  });

  test("ends with a null cursor, and tells the same total on every page", async () => {
    const organizationId = ++lastOrganization;
    const base = BigInt(Date.now()) * 1_000_000n;
    await insertRows(
      stores.clickhouse,
      Array.from({ length: 25 }, (_, i) => ({
        organizationId,
        ts: base + BigInt(i),
        id: idAt(Date.now() - 5000, i),
        message: i % 5 === 0 ? "five" : "other",
      })),
    );
    const sizes = async (parameters: Record<string, string>) =>
      (await readAll(organizationId, parameters)).map(({ entries, total, totalIsExact, partial }) => {
        expect([totalIsExact, partial]).toEqual([true, false]);
        return [entries.length, total];
      });
    expect(await sizes({ limit: "10" })).toEqual([
      [10, 25],
      [10, 25],
      [5, 25],
    ]);
    expect(await sizes({ limit: "25" })).toEqual([[25, 25]]);
    expect(await sizes({ q: "FIVE", limit: "3" })).toEqual([
      [3, 5],
      [2, 5],
    ]);
    expect(await sizes({ q: "none" })).toEqual([[0, 0]]);
  });

  test("counts to ten thousand and says that there are more", async () => {
    const organizationId = ++lastOrganization;
    const nowMs = Date.now();
    await insertRows(
      stores.clickhouse,
      Array.from({ length: 10_001 }, (_, i) => ({
        organizationId,
        ts: BigInt(nowMs) * 1_000_000n + BigInt(i),
        id: idAt(nowMs - 5000, i),
        message: i === 0 ? "the first" : "more",
      })),
    );
    expect(await app.page(organizationId)).toMatchObject({ total: 10_000, totalIsExact: false });
    expect(await app.page(organizationId, { q: "more" })).toMatchObject({
      total: 10_000,
      totalIsExact: true,
    });
    const ids = idsOf(await readAll(organizationId, { limit: "1000" }));
    expect([ids.length, new Set(ids).size]).toEqual([10_001, 10_001]);
  });

  test("a page may be larger or smaller than the one before", async () => {
    const organizationId = ++lastOrganization;
    const nowMs = Date.now();
    await insertRows(
      stores.clickhouse,
      Array.from({ length: 9 }, (_, i) => ({
        organizationId,
        ts: BigInt(nowMs) * 1_000_000n,
        id: idAt(nowMs - 5000, i),
        message: `${i}`,
      })),
    );
    const first = await app.page(organizationId, { limit: "2" });
    const second = await app.page(organizationId, { limit: "100", cursor: first.nextCursor ?? "" });
    expect(idsOf([first, second]).length).toBe(9);
    expect(second.nextCursor).toBeNull();
  });
});
