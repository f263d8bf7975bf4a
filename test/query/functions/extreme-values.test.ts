import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { queryRunner } from "../query-store.ts";
import { answered } from "./printed-values.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

/** Values of each type where something could overflow, divide by zero, or be no number at all. */
const EXTREMES: Readonly<Record<string, readonly string[]>> = {
  i: ["int(null)", "0", "-1", "7", "2147483647", "-2147483648"],
  l: ["long(null)", "0", "-1", "64", "9223372036854775807", "-9223372036854775807"],
  r: [
    "real(null)",
    "0.0",
    "-1.5",
    "1e19",
    "1e308",
    "-1e308",
    "real(nan)",
    "real(+inf)",
    "real(-inf)",
    "1e-320",
  ],
  t: [
    "datetime(null)",
    "datetime(1970-01-01)",
    "datetime(1900-01-01)",
    "datetime(2262-04-11 23:47:16.8547758)",
  ],
  s: ["timespan(null)", "time(0)", "-1tick", "1h", "36500d", "time(106751.23:47:16.8547758)", "-106751d"],
  b: ["bool(null)", "true", "false"],
};

/** Every function of the families with every operand a column. */
const EXPRESSIONS: readonly string[] = [
  ...["+", "-", "*", "/", "%"].flatMap((operator) => [
    `i ${operator} l`,
    `l ${operator} r`,
    `r ${operator} r2`,
    `l ${operator} l2`,
  ]),
  ..."t + s,t - s,t - t2,s + s2,s - s2,s * l,s * r,s / s2,s / l,s / r,s % s2,-l,-i,-s,-r".split(","),
  ...["abs", "ceiling", "round"].flatMap((name) => [`${name}(i)`, `${name}(l)`, `${name}(r)`]),
  ..."round(r, l);round(l, l2);abs(s);bin(l, l2);bin(r, r2);bin(t, s);bin(s, s2);floor(i, l)".split(";"),
  ..."bin_at(l, l2, i);bin_at(r, r2, l);bin_at(t, s, t2);bin_at(s, s2, s);bin(t, 7d);bin(t, 1m);bin(t, 36500d)".split(
    ";",
  ),
  ..."sign sqrt exp exp2 exp10 log log2 log10 gamma loggamma erf erfc sin cos tan cot asin acos atan degrees radians isnan isinf isfinite"
    .split(" ")
    .flatMap((name) => [`${name}(r)`, `${name}(l)`]),
  ..."pow(r, r2);pow(l, l2);atan2(r, l);rand(l);tohex(l);tohex(i, l);bitset_count_ones(l);binary_not(l)".split(
    ";",
  ),
  ..."binary_and(l, i);binary_or(l, i);binary_xor(l, l2);binary_shift_left(l, l2);binary_shift_right(l, i)".split(
    ";",
  ),
  ...["tostring", "toint", "tolong", "todouble", "todecimal"].flatMap((name) =>
    ["i", "l", "r", "t", "s", "b"].map((column) => `${name}(${column})`),
  ),
  ..."tobool(l);tobool(r);todatetime(l);todatetime(r);totimespan(l);totimespan(r)".split(";"),
  ..."iff(b, l, l2);case(b, i, l > 0, r, l);coalesce(i, l, r);max_of(r, l);min_of(t, t2);not(b);isnull(t);gettype(r)".split(
    ";",
  ),
  ..."year quarter month week_of_year day dayofyear hour minute second millisecond microsecond nanosecond"
    .split(" ")
    .map((part) => `datetime_part('${part}', t)`),
  ..."year quarter month week day hour minute second millisecond microsecond nanosecond"
    .split(" ")
    .flatMap((part) => [`datetime_add('${part}', l, t)`, `datetime_diff('${part}', t, t2)`]),
  ..."dayofweek dayofmonth dayofyear getyear getmonth week_of_year hourofday"
    .split(" ")
    .map((name) => `${name}(t)`),
  ...["startof", "endof"].flatMap((side) =>
    ["day", "week", "month", "year"].flatMap((period) => [`${side}${period}(t)`, `${side}${period}(t, l)`]),
  ),
  ..."make_datetime(l, l2, i);make_datetime(r, i, 1, l, l2, r2);make_datetime(2020, 2, 29, 1, 2, r);make_timespan(l, i)".split(
    ";",
  ),
  ..."make_timespan(l, 1, 2, r);make_timespan(r, r2, r)".split(";"),
  ...["seconds", "milliseconds", "microseconds", "nanoseconds"].flatMap((unit) => [
    `unixtime_${unit}_todatetime(l)`,
    `unixtime_${unit}_todatetime(r)`,
  ]),
  ..."datetime_utc_to_local(t, 'Asia/Tokyo');datetime_local_to_utc(t, 'America/New_York')".split(";"),
  ..."format_datetime(t, 'yyyy-MM-dd hh:mm:ss.fffffff tt');format_timespan(s, 'ddd.hh:mm:ss.FFFFFFF')".split(
    ";",
  ),
  ..."hash(l, l2);hash(s, l2);hash(t, l);hash_xxhash64(i, l)".split(";"),
  ..."format_bytes(l);format_bytes(r, l);format_bytes(r, 2, 'MB')".split(";"),
];

const TYPES: Readonly<Record<string, string>> = {
  i: "int",
  l: "long",
  r: "real",
  t: "datetime",
  s: "timespan",
  b: "bool",
};

/** Each pair of extremes of the same type meets in some row, and extremes of other types at random. */
function extremeRows(): string {
  const columns = [...Object.keys(EXTREMES), "l2", "r2", "t2", "s2"];
  const rows = Array.from({ length: 120 }, (_, row) =>
    columns.map((column, i) => {
      const values = EXTREMES[column.charAt(0)] ?? [];
      const step = column.endsWith("2") ? Math.floor(row / values.length) : row;
      return values[(step + i * Math.floor(row / 60)) % values.length];
    }),
  );
  const declared = columns.map((column) => `${column}:${TYPES[column.charAt(0)]}`);
  // The most negative number, which no literal is: the store divides by it in its own way.
  const least = ["l", "l2"].map((name) => `${name} = iff(${name} < -9, ${name} - 1, ${name})`);
  return `datatable(${declared.join(", ")})[${rows.flat().join(", ")}] | extend ${least.join(", ")}`;
}

describe("no function fails", () => {
  test("for any number, time or span", async () => {
    const source = extremeRows();
    for (let from = 0; from < EXPRESSIONS.length; from += 25) {
      const some = EXPRESSIONS.slice(from, from + 25).map((expression, i) => `v${i} = ${expression}`);
      const rows = await answered(queryRunner(stores), `${source} | project ${some.join(", ")}`);
      expect(rows).toHaveLength(120);
    }
  });

  test("to convert any text or dynamic value", async () => {
    const hostile = fc.oneof(
      fc.string({ maxLength: 30 }),
      fc.string({ unit: fc.constantFrom(..."0123456789+-.:eExXTZ /daynifNI"), maxLength: 24 }),
      fc.constantFrom(
        "9".repeat(400),
        "0x",
        "-",
        "1e",
        "2021-05-03T10:20:30+99:99",
        "99999999.99:99:99",
        "{",
        "[",
        '"',
        "0000-00-00",
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(hostile, { minLength: 20, maxLength: 40 }), async (texts) => {
        const cells = texts.flatMap((text) => [JSON.stringify(text), `parse_json(${JSON.stringify(text)})`]);
        const names =
          "toint tolong todouble todecimal tobool todatetime totimespan toguid tostring isnull gettype".split(
            " ",
          );
        const projected = names.flatMap((name) => [`${name}(s)`, `${name}(d)`]);
        const source = `datatable(s:string, d:dynamic)[${cells.map((cell, i) => (i % 2 === 1 ? "dynamic(null)" : cell)).join(", ")}] | extend d = parse_json(s)`;
        const rows = await answered(
          queryRunner(stores),
          `${source} | project ${projected.map((text, i) => `v${i} = ${text}`).join(", ")}`,
        );
        expect(rows).toHaveLength(texts.length);
      }),
      { numRuns: 15 },
    );
  });
});
