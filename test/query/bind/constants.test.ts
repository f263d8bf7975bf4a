import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import type { QueryRunner } from "../../../src/storage/query-runner.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { complaintAbout, rowOfQuery } from "../functions/answers.ts";
import { queryRunner } from "../query-store.ts";

let stores: TestStores;
let runner: QueryRunner;

beforeAll(async () => {
  stores = await openTestStores();
  runner = queryRunner(stores);
});
afterAll(() => stores.close());

// Boundaries go up to 20 years further, and a year outside 1900 to 2262 is left to the store.
const times = fc
  .date({ min: new Date("1922-01-01T00:00:00Z"), max: new Date("2240-01-01T00:00:00Z"), noInvalidDate: true })
  .map((date) => `datetime(${date.toISOString()})`);
const spans = fc.constantFrom("1tick", "7ms", "1s", "5m", "1h", "7h", "1d", "7d", "30d", "-1h");
const boundaries = fc
  .tuple(
    fc.constantFrom("start", "end"),
    fc.constantFrom("day", "week", "month", "year"),
    times,
    fc.option(fc.integer({ min: -20, max: 20 })),
  )
  .map(
    ([edge, period, time, offset]) => `${edge}of${period}(${time}${offset === null ? "" : `, ${offset}`})`,
  );
const bins = fc
  .tuple(fc.constantFrom("bin", "floor"), times, spans)
  .map(([name, time, span]) => `${name}(${time}, ${span})`);
const moments = fc.oneof(
  boundaries,
  bins,
  fc.tuple(bins, spans).map(([bin, span]) => `${bin} - ${span}`),
);
const numbers = fc
  .tuple(fc.integer(), fc.integer({ min: 1, max: 1000 }))
  .map(([n, size]) => `bin(${n}, ${size})`);

/** A range begins at what the compiler computes; the column beside it is computed by the store. A series takes constants alone. */
test.each([
  ["a time", moments, "1h", "ts"],
  ["a number", numbers, "1", "id"],
])("%s that has to be known early is what the store computes", async (_, expressions, step, axis) => {
  await fc.assert(
    fc.asyncProperty(expressions, async (expression) => {
      const query = `range early from ${expression} to ${expression} step ${step} | extend late = ${expression}`;
      const complaint = complaintAbout(
        `logs | make-series count() on ${axis} from ${expression} to ${expression} step ${step}`,
      );
      // A bin of no size is null, which is left to the store.
      if (complaint !== null)
        return expect([expression, complaint.code]).toEqual([
          expect.stringContaining("-1h"),
          "NOT_A_CONSTANT",
        ]);
      const [early, late] = await rowOfQuery(runner, query);
      expect([expression, String(early)]).toEqual([expression, String(late)]);
    }),
    { numRuns: 150 },
  );
});

test("the range of a series may be written with bins and boundaries of now()", () => {
  const series = (range: string) => complaintAbout(`logs | make-series n = count() on ts ${range} step 1h`);
  expect(series("from bin(ago(1d), 1h) to now()")).toBeNull();
  expect(series("from startofweek(now(), -1) to endofday(now()) + 1tick")).toBeNull();
  expect(series("from bin(ts, 1h) to now()")).toMatchObject({ code: "NOT_A_CONSTANT" });
});
