import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { QueryRunner } from "../../../src/storage/query-runner.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { rowOfQuery } from "../functions/answers.ts";
import { queryRunner } from "../query-store.ts";
import { readCollection } from "./recorded-answers.ts";

/** Queries over series that the engine drew by lot: what came of it is in the answer, and so is the series itself. */
const DRAWN: readonly (readonly [
  id: string,
  series: string,
  computed: string,
  columns: readonly string[],
])[] = [
  [
    "series-decompose-function-01",
    "y",
    "series_decompose(y)",
    decomposed("baseline seasonal trend residual"),
  ],
  [
    "series-decompose-function-02",
    "y",
    "series_decompose(y, -1, 'linefit')",
    decomposed("baseline seasonal trend residual"),
  ],
  ["series-decompose-anomalies-function-01", "y", "series_decompose_anomalies(y)", anomalies()],
  [
    "series-decompose-anomalies-function-03",
    "y",
    "series_decompose_anomalies(y, 2.5, -1, 'linefit')",
    anomalies(),
  ],
  ["series-decompose-forecast-function-00", "y", "series_decompose_forecast(y, 24 * 7)", ["y_forcasted"]],
  ["series-outliers-function-00", "series", "series_outliers(y)", ["outliers"]],
];

function decomposed(names: string): string[] {
  return names.split(" ").map((name) => `series_decompose_y_${name}`);
}

function anomalies(): string[] {
  return ["ad_flag", "ad_score", "baseline"].map((name) => `series_decompose_anomalies_y_${name}`);
}

const engine = readCollection("engine");

let stores: TestStores;
let runner: QueryRunner;
beforeAll(async () => {
  stores = await openTestStores();
  runner = queryRunner(stores);
});
afterAll(() => stores.close());

/** The columns of the only row of a recorded answer, each a series. */
function recordedSeries(id: string): Map<string, number[]> {
  const expected: unknown = engine?.find((query) => query.id === `docs/${id}`)?.expected;
  if (typeof expected !== "object" || expected === null || !("columns" in expected) || !("rows" in expected))
    throw new TypeError(`no answer of ${id}`);
  const { columns, rows } = expected;
  if (!Array.isArray(columns) || !Array.isArray(rows)) throw new TypeError(`no rows of ${id}`);
  const [row]: unknown[] = rows;
  return new Map(columns.map((name, i) => [String(name), Array.isArray(row) ? row[i].map(Number) : []]));
}

/** As in the documentation, which shows the flags ten times as large. */
function shown(name: string, values: readonly number[]): number[] {
  return values.map((value) => (name.endsWith("ad_flag") ? 10 * value : value));
}

function furthest(left: readonly number[], right: readonly number[]): number {
  if (left.length !== right.length) return Number.POSITIVE_INFINITY;
  return Math.max(...left.map((value, i) => Math.abs(value - (right[i] ?? Number.NaN))));
}

describe.skipIf(engine === null)("series that the real engine drew by lot", () => {
  for (const [id, series, computed, columns] of DRAWN)
    test(`${computed} of them is what it recorded, to twelve digits behind the point`, async () => {
      const recorded = recordedSeries(id);
      const numbers = (recorded.get(series) ?? []).map((value) =>
        Number.isInteger(value) ? `${value}.0` : value,
      );
      const text = `print y = dynamic([${numbers.join(",")}]) | project ${computed}`;
      const row = await rowOfQuery(runner, text);
      const distances = columns.map((name, i) =>
        furthest(shown(name, JSON.parse(String(row[i]))), recorded.get(name) ?? []),
      );
      expect(Math.max(...distances)).toBeLessThan(1e-12);
    });
});
