import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Facets } from "../../../src/domains/logs/facets/types.ts";
import type { Histogram } from "../../../src/domains/logs/histogram/types.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { type LogApp, logApp } from "./log-app.ts";
import { idAt, insertRows } from "./stored-rows.ts";

const NOW_MS = Date.parse("2026-03-01T12:00:00Z");
const DISTINCT = 10_000;
const [NOBODY, ONE, EQUAL, MANY, LEVELS, SCATTERED] = [6101, 6102, 6103, 6104, 6105, 6106];
/** Around the moment that buckets are counted from. */
const SCATTERED_SECONDS = [-5_400, -1, 0, 1, 7_199, 86_400];

let stores: TestStores;
let app: LogApp;
beforeAll(async () => {
  stores = await openTestStores();
  app = logApp(stores);
  const row = (organizationId: number, i: number, user: string) => ({
    organizationId,
    ts: BigInt(NOW_MS) * 1_000_000n,
    id: idAt(NOW_MS, i),
    message: "done",
    attrs: [["user", user]] as const,
  });
  const many = Array.from({ length: DISTINCT }, (_, i) => row(MANY, i, `u${i}`));
  await insertRows(stores.clickhouse, [
    row(ONE, 0, "ana"),
    ...["info", "error", "", "error", "warn", "error", "info"].map((level, i) => ({
      ...row(LEVELS, i, "ana"),
      level,
    })),
    ...Array.from({ length: 50 }, (_, i) => row(EQUAL, i, "ana")),
    ...many,
    row(MANY, DISTINCT, "u7"),
    row(MANY, DISTINCT + 1, "u7"),
    row(MANY, DISTINCT + 2, "u9"),
    ...SCATTERED_SECONDS.map((seconds, i) => ({
      ...row(SCATTERED, i, "ana"),
      ts: BigInt(seconds) * 1_000_000_000n,
    })),
  ]);
});
afterAll(() => stores.close());

async function ask<T>(
  organizationId: number,
  path: string,
  parameters: Record<string, string> = {},
): Promise<{ status: number; body: T }> {
  const response = await app.get(organizationId, path, parameters);
  return { status: response.status, body: JSON.parse(await response.text()) };
}

describe("a histogram", () => {
  test("of nothing has no buckets", async () => {
    const { status, body } = await ask<Histogram>(NOBODY, "histogram");
    expect([status, body.buckets, body.total]).toEqual([200, [], 0]);
  });

  test("of one entry, or of many at one moment, counts them all in one bucket", async () => {
    for (const [organizationId, count] of [
      [ONE, 1],
      [EQUAL, 50],
    ] as const) {
      const { status, body } = await ask<Histogram>(organizationId, "histogram", { groupBy: "user" });
      expect([status, body.total]).toEqual([200, count]);
      expect(body.buckets).toEqual([
        { start: expect.any(String), count, groups: [{ value: "ana", count }], other: 0 },
      ]);
    }
  });

  test("by level has every level that occurs, the most frequent first, then by name", async () => {
    const { body } = await ask<Histogram>(LEVELS, "histogram", { groupBy: "level" });
    const groups = [
      { value: "error", count: 3 },
      { value: "info", count: 2 },
      { value: null, count: 1 },
      { value: "warn", count: 1 },
    ];
    expect(body.buckets).toEqual([{ start: expect.any(String), count: 7, groups, other: 0 }]);
  });

  test("of entries before and behind 1970 has the same buckets whether it is told where they are or not", async () => {
    const [first = 0] = SCATTERED_SECONDS;
    const iso = (seconds: number): string => new Date(seconds * 1000).toISOString();
    const range = { from: iso(first), to: iso(SCATTERED_SECONDS.at(-1) ?? 0) };
    for (const widthSec of [60, 100, 3_600, 86_400, 2_592_000]) {
      const bucketSec = String(widthSec);
      const { status, body } = await ask<Histogram>(SCATTERED, "histogram", { bucketSec });
      const start = (i: number): number => (Math.floor(first / widthSec) + i) * widthSec;
      expect([status, body.total, body.bucketSec]).toEqual([200, SCATTERED_SECONDS.length, widthSec]);
      for (const [i, bucket] of body.buckets.entries()) {
        const within = SCATTERED_SECONDS.filter((at) => at >= start(i) && at < start(i + 1));
        expect([Date.parse(bucket.start), bucket.count]).toEqual([start(i) * 1000, within.length]);
      }
      expect((await ask<Histogram>(SCATTERED, "histogram", { ...range, bucketSec })).body).toEqual(body);
    }
    for (const bucketSec of ["1", "7"])
      expect((await ask<Histogram>(SCATTERED, "histogram", { bucketSec })).status).toBe(400);
  });

  test("names the most frequent of ten thousand values and counts the rest", async () => {
    const { body } = await ask<Histogram>(MANY, "histogram", { groupBy: "user" });
    const { groups = [], other, count } = body.buckets[0] ?? { count: 0, groups: [], other: 0 };
    expect([body.total, count, groups.length]).toEqual([DISTINCT + 3, DISTINCT + 3, 10]);
    expect(groups.slice(0, 2)).toEqual([
      { value: "u7", count: 3 },
      { value: "u9", count: 2 },
    ]);
    expect(other).toBe(DISTINCT + 3 - 3 - 2 - 8);
  });
});

describe("facets", () => {
  test("of nothing have no values", async () => {
    const { status, body } = await ask<Facets>(NOBODY, "facets", { fields: "user" });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      facets: [{ field: "user", values: [], other: 0, missing: 0 }],
      total: 0,
    });
  });

  test("of ten thousand values are exact, and as many as were asked for", async () => {
    for (const limit of [1, 100]) {
      const { body } = await ask<Facets>(MANY, "facets", { fields: "user", limit: String(limit) });
      const { values, other, missing } = body.facets[0] ?? { values: [], other: -1, missing: -1 };
      expect([values.length, missing, body.total]).toEqual([limit, 0, DISTINCT + 3]);
      expect(values.slice(0, 2)).toEqual(
        [
          { value: "u7", count: 3 },
          { value: "u9", count: 2 },
        ].slice(0, limit),
      );
      const listed = values.reduce((sum, { count }) => sum + count, 0);
      expect(other).toBe(DISTINCT + 3 - listed);
    }
  });
});
