import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { QueryAnswer } from "../../../clients/cli/query/answer.ts";
import { drawChart } from "../../../clients/cli/query/chart.ts";
import { chartDataOf } from "../../../clients/cli/query/chart-data.ts";
import { sparkline } from "../../../clients/cli/terminal/blocks.ts";
import { textWidth } from "../../../clients/cli/terminal/text-width.ts";

type Columns = Record<string, string>;

function chart(
  columns: Columns,
  rows: QueryAnswer["rows"],
  width = 40,
  render: QueryAnswer["render"] = null,
): string[] | null {
  const data = chartDataOf({
    columns: Object.entries(columns).map(([name, type]) => ({ name, type })),
    rows,
    isTruncated: false,
    stats: { rowsRead: 0, bytesRead: 0, elapsedMs: 0 },
    render,
    archive: "",
    notices: [],
  });
  return data && drawChart(data, width);
}

function minute(number: number): string {
  return new Date(Date.UTC(2026, 0, 1) + number * 60_000).toISOString();
}

describe("over time", () => {
  const columns = { at: "datetime", n: "long" };

  test("one series stands on an axis with its largest value", () => {
    const rows = [8, 4, 0, 2].map((n, i) => [minute(i), n]);
    expect(chart(columns, rows, 47)).toEqual([
      "     8 ██████████",
      "       ██████████",
      "       ██████████",
      "       ██████████",
      "       ████████████████████",
      "       ████████████████████",
      "       ████████████████████          ██████████",
      "     0 ████████████████████          ██████████",
      "       2026-01-01T00:00:00  2026-01-01T00:03:00",
    ]);
  });

  test("a time without a value is a gap", () => {
    const lines = chart(
      columns,
      [
        [minute(0), 1],
        [minute(1), 1],
        [minute(3), 1],
      ],
      47,
    );
    expect(lines?.[0]).toBe(`     1 ${"█".repeat(20)}${" ".repeat(10)}${"█".repeat(10)}`);
  });

  test("of more times than columns, the peaks are seen", () => {
    const rows = Array.from({ length: 4000 }, (_, i) => [minute(i), i === 1234 ? 100 : 1]);
    const [top = ""] = chart(columns, rows, 47) ?? [];
    expect([...top].indexOf("█")).toBe(7 + Math.floor((1234 / 4000) * 40));
  });

  test("several series have a part each", () => {
    const rows = ["web", "日本"].flatMap((service) => [0, 1].map((i) => [minute(i), service, i + 1]));
    const lines = chart({ at: "datetime", service: "string", n: "long" }, rows, 30) ?? [];
    expect(lines).toHaveLength(2 * (1 + 4) + 1);
    expect([lines[0], lines[5]]).toEqual(["web", "日本"]);
  });
});

describe("as bars", () => {
  test("each row has one, scaled to the largest", () => {
    expect(
      chart(
        { service: "string", n: "long" },
        [
          ["web", 8],
          ["日本", 4],
          ["a\tb\u001b", 0],
          ["none", null],
        ],
        25,
      ),
    ).toEqual(["web      8 ██████████████", "日本     4 ███████", "a\\tb\\x1b 0"]);
  });

  test("more of them than anybody reads are counted", () => {
    const lines =
      chart(
        { service: "string", n: "long" },
        Array.from({ length: 60 }, (_, i) => [`s${i}`, i]),
      ) ?? [];
    expect([lines.length, lines.at(-1)]).toEqual([51, "and 10 more"]);
  });

  test("the hint chooses the columns", () => {
    const render = { chart: "columnchart", properties: { xcolumn: "host", ycolumns: "b" } };
    const columns = { service: "string", host: "string", a: "long", b: "real" };
    expect(chart(columns, [["web", "h1", 5, 1.5]], 30, render)).toEqual([`h1 web 1.5 ${"█".repeat(19)}`]);
  });
});

test("there is nothing to draw without numbers, or for a chart that is not known", () => {
  expect(chart({ service: "string" }, [["web"]])).toBeNull();
  expect(chart({}, [])).toBeNull();
  expect(chart({ n: "long" }, [[1]], 40, { chart: "timechart", properties: {} })).toBeNull();
  expect(chart({ x: "string", n: "long" }, [["a", 1]], 40, { chart: "treemap", properties: {} })).toBeNull();
});

test("a chart is never wider than it may be, whatever it is drawn of", () => {
  const value = fc.oneof(
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constant(null),
  );
  const time = fc
    .date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) })
    .map((at) => at.toISOString());
  const rows = fc.array(fc.tuple(time, fc.string({ unit: "grapheme" }), value), { maxLength: 30 });
  fc.assert(
    fc.property(rows, fc.integer({ min: 60, max: 150 }), (cells, width) => {
      const columns = { at: "datetime", service: "string", n: "real" };
      const lines = [
        ...(chart(columns, cells, width) ?? []),
        ...(chart(columns, cells, width, { chart: "barchart", properties: { xcolumn: "service" } }) ?? []),
      ];
      for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(width);
    }),
    // Rounded to six digits this is a power of ten, which would be written with all its zeros.
    { numRuns: 300, examples: [[[["1970-01-01T00:00:00.000Z", "", -9999995000000000000]], 60]] },
  );
});

test("a sparkline shows zero as nothing and the largest as full", () => {
  expect(sparkline([0, 1, 4, 8, 0.01])).toBe(" ▁▄█▁");
  expect(sparkline([0, 0])).toBe("  ");
  expect(sparkline([])).toBe("");
});
