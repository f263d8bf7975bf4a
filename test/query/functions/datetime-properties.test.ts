import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { queryRunner } from "../query-store.ts";
import { answered } from "./printed-values.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

const DAY_TICKS = 864_000_000_000n;
const FIRST = -2_208_988_800n * 10_000_000n;
const LAST = 92_233_720_368_547_758n;
const TICKS_BEFORE_1970 = 719_162n * DAY_TICKS;

/** Ticks since 1970, of any time there is, often at the edge of a day, a month or a year. */
const ticks = fc.oneof(
  fc.bigInt({ min: FIRST, max: LAST }),
  fc
    .tuple(
      fc.integer({ min: 1901, max: 2260 }),
      fc.integer({ min: 0, max: 11 }),
      fc.constantFrom(-1n, 0n, 1n),
    )
    .map(([year, month, shift]) => BigInt(Date.UTC(year, month, 1)) * 10_000n + shift),
);

function floorMod(value: bigint, size: bigint): bigint {
  return ((value % size) + size) % size;
}

/** The date of whole milliseconds, and the text of a time as the tests read it. */
function dateOf(value: bigint): Date {
  return new Date(Number((value - floorMod(value, 10_000n)) / 10_000n));
}

function textOf(value: bigint): string | null {
  if (value < FIRST || value > LAST) return null;
  const fraction = floorMod(value, 10_000_000n);
  const digits = fraction === 0n ? "" : `.${String(fraction).padStart(7, "0").replace(/0+$/, "")}`;
  return `${dateOf(value).toISOString().slice(0, 19)}${digits}Z`;
}

function startOf(date: Date, period: "day" | "week" | "month" | "year", offset = 0): bigint {
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  const starts = {
    day: Date.UTC(year, month, day + offset),
    week: Date.UTC(year, month, day - date.getUTCDay() + 7 * offset),
    month: Date.UTC(year, month + offset, 1),
    year: Date.UTC(year + offset, 0, 1),
  };
  return BigInt(starts[period]) * 10_000n;
}

/** Rows of times through the store: the projected expressions of each. */
async function projected(times: readonly bigint[], expressions: readonly string[]): Promise<unknown[][]> {
  const rows = times.map((time) => `todatetime(${time + TICKS_BEFORE_1970})`);
  const columns = expressions.map((expression, i) => `v${i} = ${expression}`);
  const union = rows.map((row) => `(print t = ${row})`).join(", ");
  return answered(queryRunner(stores), `union ${union} | project ticks = tolong(t), ${columns.join(", ")}`);
}

const someTimes = fc.array(ticks, { minLength: 20, maxLength: 20 });

test("parts and bounds of times are those of the proleptic Gregorian calendar", async () => {
  const periods = ["day", "week", "month", "year"] as const;
  const expressions = [
    "getyear(t), getmonth(t), dayofmonth(t), hourofday(t), datetime_part('minute', t), datetime_part('second', t)",
    "toint(dayofweek(t) / 1d), dayofyear(t), tostring(t), format_datetime(t, 'yyyy-MM-dd HH:mm:ss')",
    ...periods.map((period) => `startof${period}(t), endof${period}(t), startof${period}(t, -5)`),
  ].flatMap((list) => list.split(/, (?=[a-z]+\w*\()/));
  await fc.assert(
    fc.asyncProperty(someTimes, async (times) => {
      for (const [counted, ...values] of await projected(times, expressions)) {
        const time = BigInt(String(counted)) - TICKS_BEFORE_1970;
        const date = dateOf(time);
        const yearStart = startOf(date, "year");
        const text = textOf(time) ?? "";
        expect(values).toEqual([
          date.getUTCFullYear(),
          date.getUTCMonth() + 1,
          date.getUTCDate(),
          date.getUTCHours(),
          date.getUTCMinutes(),
          date.getUTCSeconds(),
          date.getUTCDay(),
          Number((startOf(date, "day") - yearStart) / DAY_TICKS) + 1,
          `${text.slice(0, 19)}.${String(floorMod(time, 10_000_000n)).padStart(7, "0")}Z`,
          text.slice(0, 19).replace("T", " "),
          ...periods.flatMap((period) => [
            textOf(startOf(date, period)),
            textOf(startOf(date, period, 1) - 1n),
            textOf(startOf(date, period, -5)),
          ]),
        ]);
      }
    }),
    { numRuns: 8 },
  );
});

test("bins of any size are counted from the year 1", async () => {
  const size = fc.oneof(
    fc.constantFrom(1n, 10n, 600_000_000n, 36_000_000_000n, DAY_TICKS, 7n * DAY_TICKS, 30n * DAY_TICKS),
    fc.bigInt({ min: 1n, max: LAST }),
  );
  await fc.assert(
    fc.asyncProperty(someTimes, size, async (times, binTicks) => {
      const span = `totimespan(${binTicks})`;
      const literal = `${binTicks}tick`;
      const fixed = "datetime(2001-02-03 04:05:06)";
      const fixedTicks = BigInt(Date.UTC(2001, 1, 3, 4, 5, 6)) * 10_000n;
      const rows = await projected(times, [
        `bin(t, ${span})`,
        `bin(t, ${literal})`,
        `bin_at(t, ${span}, ${fixed})`,
      ]);
      for (const [counted, ...values] of rows) {
        const time = BigInt(String(counted)) - TICKS_BEFORE_1970;
        const bin = textOf(time - floorMod(time + TICKS_BEFORE_1970, binTicks));
        expect(values).toEqual([bin, bin, textOf(time - floorMod(time - fixedTicks, binTicks))]);
      }
    }),
    { numRuns: 25 },
  );
});

test("a time plus a span is the later time, or null when there is none", async () => {
  await fc.assert(
    fc.asyncProperty(someTimes, fc.bigInt({ min: -LAST, max: LAST }), async (times, shift) => {
      const span = `totimespan(${shift})`;
      const rows = await projected(times, [
        `t + ${span}`,
        `t - ${span}`,
        `(t + ${span}) - t`,
        `todatetime(tostring(t)) == t`,
      ]);
      for (const [counted, later, earlier, difference, isSame] of rows) {
        const time = BigInt(String(counted)) - TICKS_BEFORE_1970;
        expect([later, earlier]).toEqual([textOf(time + shift), textOf(time - shift)]);
        expect(difference === null).toBe(later === null);
        expect(isSame).toBe(true);
      }
    }),
    { numRuns: 15 },
  );
});
