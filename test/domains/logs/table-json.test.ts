import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { encodeTable } from "../../../src/domains/logs/query/table-json.ts";

type Column = Parameters<typeof encodeTable>[0][number];

/** One cell as the store sends it, and what a reader of the JSON must find in its place. */
interface Cell {
  readonly wire: unknown;
  readonly value: unknown;
}

const UNBOUNDED = { maxRows: 1_000, maxChars: 10_000_000 };
const LEAST = -(2n ** 63n);
const GREATEST = 2n ** 63n - 1n;
/** The seconds that 64 bits of nanoseconds can hold. */
const TIMES = {
  min: new Date("1677-09-22T00:00:00Z"),
  max: new Date("2262-04-11T00:00:00Z"),
  noInvalidDate: true,
};

const same = (value: unknown): Cell => ({ wire: value, value });
const seven = (nineDigits: string): string =>
  nineDigits.endsWith("00") ? nineDigits.slice(0, 7) : nineDigits;
const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom('"', "\\", "\u0000\u001f\u2028\u2029", "\ud800", "null", "NaN", "__proto__"),
);
const reals = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(same),
  fc.constantFrom<Cell>(
    { wire: "nan", value: "NaN" },
    { wire: "-nan", value: "NaN" },
    { wire: "inf", value: "Infinity" },
    { wire: "-inf", value: "-Infinity" },
  ),
);
const datetimes = fc
  .tuple(
    fc.date(TIMES),
    fc.oneof(
      fc.nat(999_999),
      fc.nat(9_999).map((ticks) => ticks * 100),
    ),
  )
  .map(([date, ns]): Cell => {
    const iso = date.toISOString().slice(0, -1) + String(ns).padStart(6, "0");
    const [seconds, fraction = ""] = iso.split(".");
    return {
      wire: String(BigInt(date.getTime()) * 1_000_000n + BigInt(ns)),
      value: `${seconds}.${seven(fraction)}Z`,
    };
  });
const timespans = fc
  .record({
    isNegative: fc.boolean(),
    days: fc.oneof(fc.constant(0), fc.nat(106_000)),
    hours: fc.nat(23),
    minutes: fc.nat(59),
    seconds: fc.nat(59),
    ns: fc.oneof(
      fc.constant(0),
      fc.nat(999_999_999),
      fc.nat(9_999_999).map((ticks) => ticks * 100),
    ),
  })
  .map(({ isNegative, days, hours, minutes, seconds, ns }): Cell => {
    const total = BigInt(((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000_000_000n + BigInt(ns);
    const clock = [hours, minutes, seconds].map((part) => String(part).padStart(2, "0")).join(":");
    const fraction = ns === 0 ? "" : `.${seven(String(ns).padStart(9, "0"))}`;
    const length = `${days === 0 ? "" : `${days}.`}${clock}${fraction}`;
    return {
      wire: String(isNegative ? -total : total),
      value: isNegative && total > 0n ? `-${length}` : length,
    };
  });
const dynamics = fc.oneof(
  fc
    .jsonValue()
    .map((value): Cell => ({ wire: JSON.stringify(value), value: JSON.parse(JSON.stringify(value)) })),
  fc.constant<Cell>({ wire: "", value: null }),
);
const bags = fc
  .uniqueArray(fc.tuple(anyText, fc.oneof(anyText, fc.array(fc.integer()))), {
    selector: ([key]) => key,
    maxLength: 5,
  })
  .map((members): Cell => {
    const isText = (value: unknown): value is string => typeof value === "string";
    return {
      wire: [
        members.map(([key]) => key),
        members.map(([, value]) => (isText(value) ? value : JSON.stringify(value))),
        members.filter(([, value]) => !isText(value)).map(([key]) => key),
      ],
      value: JSON.parse(
        `{${members.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(",")}}`,
      ),
    };
  });
const longs = fc.bigInt(LEAST, GREATEST).map((long): Cell => ({ wire: String(long), value: Number(long) }));

interface Kind {
  readonly column: Column;
  readonly cells: fc.Arbitrary<Cell>;
}

const KINDS: readonly Kind[] = [
  { column: { type: "bool", wireFormat: "value" }, cells: fc.boolean().map(same) },
  {
    column: { type: "bool", wireFormat: "value" },
    cells: fc.constantFrom<Cell>({ wire: 0, value: false }, { wire: 1, value: true }),
  },
  { column: { type: "int", wireFormat: "value" }, cells: fc.integer().map(same) },
  { column: { type: "long", wireFormat: "integer" }, cells: longs },
  { column: { type: "real", wireFormat: "value" }, cells: reals },
  { column: { type: "decimal", wireFormat: "value" }, cells: reals },
  { column: { type: "string", wireFormat: "value" }, cells: anyText.map(same) },
  {
    column: { type: "guid", wireFormat: "value" },
    cells: fc.oneof(fc.uuid().map(same), fc.constant<Cell>({ wire: "", value: null })),
  },
  { column: { type: "datetime", wireFormat: "nanoseconds" }, cells: datetimes },
  { column: { type: "timespan", wireFormat: "nanoseconds" }, cells: timespans },
  { column: { type: "dynamic", wireFormat: "json" }, cells: dynamics },
];
const BAG: Kind = { column: { type: "dynamic", wireFormat: "bag" }, cells: bags };

const orNull = ({ column, cells }: Kind): Kind => ({
  column,
  cells: fc.oneof({ weight: 5, arbitrary: cells }, { weight: 1, arbitrary: fc.constant(same(null)) }),
});

/** Tables of any columns: a map is never null in the store, every other cell may be. */
const tables = fc.array(fc.constantFrom(...KINDS.map(orNull), BAG), { maxLength: 6 }).chain((kinds) =>
  fc.record({
    columns: fc.constant(kinds.map(({ column }) => column)),
    rows: fc.array(fc.tuple(...kinds.map(({ cells }) => cells)), { maxLength: 8 }),
  }),
);
const wireOf = (rows: readonly (readonly Cell[])[]) => rows.map((row) => row.map(({ wire }) => wire));

/** The whole text, and whether rows are missing in it. */
function tableOf(...told: Parameters<typeof encodeTable>): { rows: string; isTruncated: boolean } {
  const texts = encodeTable(...told);
  let rows = "";
  for (;;) {
    const { done, value } = texts.next();
    if (done === true) return { rows, isTruncated: value };
    rows += value;
  }
}

function encodeCell(column: Column, wire: unknown): string {
  return tableOf([column], [[wire]], UNBOUNDED).rows.slice("[[".length, -"]]".length);
}

describe("a table as JSON", () => {
  test("holds every value of every type, whatever it is", () => {
    fc.assert(
      fc.property(tables, ({ columns, rows }) => {
        const { rows: json, isTruncated } = tableOf(columns, wireOf(rows), UNBOUNDED);
        expect(JSON.parse(json)).toEqual(rows.map((row) => row.map(({ value }) => value)));
        expect(isTruncated).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  test("keeps every digit of a long and the text of a dynamic value", () => {
    fc.assert(
      fc.property(fc.bigInt(LEAST, GREATEST), (long) => {
        expect(encodeCell({ type: "long", wireFormat: "integer" }, String(long))).toBe(String(long));
        const json = `{"n":${long}.10}`;
        expect(encodeCell({ type: "dynamic", wireFormat: "json" }, json)).toBe(json);
        const bag = [["n"], [`${long}`], ["n"]];
        expect(encodeCell({ type: "dynamic", wireFormat: "bag" }, bag)).toBe(`{"n":${long}}`);
      }),
    );
  });

  test("writes the ends of time, and what lies a nanosecond before 1970", () => {
    const datetime = (ns: bigint) => encodeCell({ type: "datetime", wireFormat: "nanoseconds" }, String(ns));
    expect([LEAST, -1n, 0n, 100n, GREATEST].map(datetime)).toEqual([
      '"1677-09-21T00:12:43.145224192Z"',
      '"1969-12-31T23:59:59.999999999Z"',
      '"1970-01-01T00:00:00.0000000Z"',
      '"1970-01-01T00:00:00.0000001Z"',
      '"2262-04-11T23:47:16.854775807Z"',
    ]);
    const timespan = (ns: bigint) => encodeCell({ type: "timespan", wireFormat: "nanoseconds" }, String(ns));
    expect([LEAST, -1n, 0n, 86_400_000_000_000n].map(timespan)).toEqual([
      '"-106751.23:47:16.854775808"',
      '"-00:00:00.000000001"',
      '"00:00:00"',
      '"1.00:00:00"',
    ]);
  });

  test("ends at its bounds with whole rows, and says that rows are missing only when they are", () => {
    fc.assert(
      fc.property(tables, fc.nat(9), fc.nat(400), ({ columns, rows }, maxRows, maxChars) => {
        const whole = tableOf(columns, wireOf(rows), UNBOUNDED);
        const { rows: json, isTruncated } = tableOf(columns, wireOf(rows), { maxRows, maxChars });
        const kept: unknown[] = JSON.parse(json);
        expect(kept.length).toBeLessThanOrEqual(maxRows);
        // Two brackets around rows that each count a comma.
        expect(json.length).toBeLessThanOrEqual(maxChars + 2);
        expect(whole.rows.startsWith(json.slice(0, -1))).toBe(true);
        expect(isTruncated).toBe(kept.length < rows.length);
        const next = tableOf(columns, wireOf(rows.slice(0, kept.length + 1)), UNBOUNDED).rows;
        if (isTruncated) expect(kept.length === maxRows || next.length > maxChars + 1).toBe(true);
      }),
    );
  });

  test("is refused for a cell in a format that its column does not have", () => {
    const foreign: readonly (readonly [Column, unknown])[] = [
      [{ type: "long", wireFormat: "integer" }, 2 ** 53],
      [{ type: "long", wireFormat: "integer" }, "1.5"],
      [{ type: "long", wireFormat: "integer" }, undefined],
      [{ type: "real", wireFormat: "value" }, "1.5"],
      [{ type: "bool", wireFormat: "value" }, 2],
      [{ type: "string", wireFormat: "value" }, 1],
      [{ type: "dynamic", wireFormat: "json" }, {}],
      [{ type: "dynamic", wireFormat: "bag" }, [["a"], ["b"]]],
    ];
    for (const [column, wire] of foreign) expect(() => encodeCell(column, wire)).toThrow(TypeError);
  });
});
