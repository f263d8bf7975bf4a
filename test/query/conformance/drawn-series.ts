import type { QueryRunner } from "../../../src/storage/query-runner.ts";
import { rowOfQuery } from "../functions/answers.ts";
import { readCollection } from "./recorded-answers.ts";

interface Drawn {
  /** The column of the recorded answer that was drawn. */
  readonly series: string;
  /** What the query computes of it. */
  readonly computed: string;
  readonly columns: readonly string[];
}

/** Queries over series that the engine drew by lot: what came of it is in the answer, and so is the series itself. */
export const DRAWN_SERIES: ReadonlyMap<string, Drawn> = new Map([
  drawn("series-decompose-function-01", "series_decompose(y)", decomposed()),
  drawn("series-decompose-function-02", "series_decompose(y, -1, 'linefit')", decomposed()),
  drawn("series-decompose-anomalies-function-01", "series_decompose_anomalies(y)", anomalies()),
  drawn(
    "series-decompose-anomalies-function-03",
    "series_decompose_anomalies(y, 2.5, -1, 'linefit')",
    anomalies(),
  ),
  drawn("series-decompose-forecast-function-00", "series_decompose_forecast(y, 24 * 7)", ["y_forcasted"]),
  drawn("series-outliers-function-00", "series_outliers(y)", ["outliers"], "series"),
]);

/** How far numbers may be apart: they agree to about as many digits as a real number has. */
const DISTANCE_MAX = 1e-12;

/** What differs between what the engine computed of a series that it drew and what we compute of the same; null when nothing does. */
export async function drawnDifference(runner: QueryRunner, id: string): Promise<string | null> {
  const query = DRAWN_SERIES.get(id);
  if (query === undefined) throw new TypeError(`no series of ${id} was drawn`);
  const recorded = recordedSeries(id);
  const numbers = (recorded.get(query.series) ?? []).map((value) =>
    Number.isInteger(value) ? `${value}.0` : value,
  );
  const text = `print y = dynamic([${numbers.join(",")}]) | project ${query.computed}`;
  const row = await rowOfQuery(runner, text);
  const distances = query.columns.map((name, i) =>
    furthest(shown(name, JSON.parse(String(row[i]))), recorded.get(name) ?? []),
  );
  const distance = Math.max(...distances);
  return distance < DISTANCE_MAX ? null : `${distance} from what was recorded`;
}

function drawn(name: string, computed: string, columns: readonly string[], series = "y"): [string, Drawn] {
  return [`docs/${name}`, { series, computed, columns }];
}

function decomposed(): string[] {
  return ["baseline", "seasonal", "trend", "residual"].map((name) => `series_decompose_y_${name}`);
}

function anomalies(): string[] {
  return ["ad_flag", "ad_score", "baseline"].map((name) => `series_decompose_anomalies_y_${name}`);
}

/** The columns of the only row of a recorded answer, each a series. */
function recordedSeries(id: string): Map<string, number[]> {
  const expected: unknown = readCollection("engine")?.find((query) => query.id === id)?.expected;
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
