import { CHART_BARS_MAX, CHART_SERIES_MAX } from "../limits.ts";
import { horizontalBar, risingColumns } from "../terminal/blocks.ts";
import { escapeControlsInCell } from "../terminal/escape-controls.ts";
import { cutToWidth, padToWidth, textWidth } from "../terminal/text-width.ts";
import type { ChartData, ChartPoint } from "./chart-data.ts";

/**
 * The lines of a chart of at most `width` columns; none when there is nothing to draw. Not asciichart: it has neither an axis
 * of time, nor gaps, nor bars, and is as wide as there are values.
 */
export function drawChart({ kind, points }: ChartData, width: number): string[] {
  if (points.length === 0) return [];
  return kind === "time" ? drawOverTime(points, width) : drawBars(points, width, kind === "shares");
}

function drawBars(points: readonly ChartPoint[], width: number, asShares: boolean): string[] {
  const shown = points.slice(0, CHART_BARS_MAX);
  const largest = largestOf(points);
  const total = points.reduce((sum, { y }) => sum + Math.max(0, y), 0);
  const labels = shown.map(({ x, series }) => escapeControlsInCell([x, series].filter(Boolean).join(" ")));
  const values = shown.map(({ y }) =>
    asShares ? `${formatNumber(y)} ${percent(y, total)}` : formatNumber(y),
  );
  const labelWidth = Math.min(Math.floor(width / 3), Math.max(...labels.map(textWidth)));
  const valueWidth = Math.max(...values.map(textWidth));
  const barWidth = Math.max(1, width - labelWidth - valueWidth - 2);
  const lines = shown.map(({ y }, index) => {
    const label = padToWidth(cutToWidth(labels[index] ?? "", labelWidth), labelWidth, "left");
    const value = padToWidth(values[index] ?? "", valueWidth, "right");
    return `${label} ${value} ${horizontalBar(largest === 0 ? 0 : y / largest, barWidth)}`.trimEnd();
  });
  return withRest(lines, points.length - shown.length);
}

interface Series {
  readonly name: string;
  readonly points: readonly { readonly atMs: number; readonly y: number }[];
}

function drawOverTime(points: readonly ChartPoint[], width: number): string[] {
  const timed = points.flatMap(({ x, series, y }) => {
    const atMs = Date.parse(x);
    return Number.isNaN(atMs) ? [] : [{ atMs, series, y }];
  });
  if (timed.length === 0) return [];
  const all: Series[] = [...Map.groupBy(timed, ({ series }) => series)].map(([name, own]) => ({
    name,
    points: own,
  }));
  const shown = all.slice(0, CHART_SERIES_MAX);
  const height = all.length === 1 ? 8 : all.length <= 4 ? 4 : 1;
  const labels = shown.flatMap(({ points: own }) => [largestOf(own), leastOf(own)].map(formatNumber));
  const marginWidth = Math.max(6, ...labels.map(textWidth));
  const axis = timeAxis(
    timed.map(({ atMs }) => atMs),
    Math.max(8, width - marginWidth - 1),
  );
  const lines = shown.flatMap((series) => drawSeries(series, axis, height, marginWidth));
  const margin = " ".repeat(marginWidth + 1);
  const [begin, end] = [axis.beginMs, axis.endMs].map((ms) => new Date(ms).toISOString().slice(0, 19));
  const gap = " ".repeat(Math.max(1, axis.columns - 2 * 19));
  return [...withRest(lines, all.length - shown.length), `${margin}${begin}${gap}${end}`];
}

function drawSeries({ name, points }: Series, axis: TimeAxis, height: number, marginWidth: number): string[] {
  const values: (number | null)[] = Array.from({ length: axis.columns }, () => null);
  for (const { atMs, y } of points) {
    const first = axis.columnOf(atMs);
    // Where several points share a column, the highest is seen: a peak is what a chart is looked at for.
    for (let i = first; i < Math.min(first + axis.columnsPerStep, axis.columns); i++)
      values[i] = Math.max(values[i] ?? y, y);
  }
  const top = largestOf(points);
  const bottom = leastOf(points);
  const span = top - bottom;
  const shares = values.map((y) => (y === null ? null : span === 0 ? 0 : (y - bottom) / span));
  const rows = risingColumns(shares, height).map((row, line) => {
    const label = line === 0 ? formatNumber(top) : line === height - 1 ? formatNumber(bottom) : "";
    return `${padToWidth(label, marginWidth, "right")} ${row}`.trimEnd();
  });
  const title = cutToWidth(escapeControlsInCell(name), marginWidth + 1 + axis.columns);
  return title === "" ? rows : [title, ...rows];
}

interface TimeAxis {
  readonly beginMs: number;
  readonly endMs: number;
  readonly columns: number;
  readonly columnsPerStep: number;
  columnOf(atMs: number): number;
}

/** Evenly spaced times get evenly many columns each; too many for that share columns. */
function timeAxis(times: readonly number[], width: number): TimeAxis {
  const sorted = [...new Set(times)].toSorted((a, b) => a - b);
  const beginMs = sorted[0] ?? 0;
  const endMs = sorted.at(-1) ?? beginMs;
  const spanMs = endMs - beginMs;
  const stepMs = sorted.reduce(
    (least, at, i) => Math.min(least, i === 0 ? least : at - (sorted[i - 1] ?? at)),
    Math.max(spanMs, 1),
  );
  const steps = Math.round(spanMs / stepMs) + 1;
  const columnsPerStep = Math.max(1, Math.floor(width / steps));
  const columns = Math.min(width, steps * columnsPerStep);
  const columnOf = (atMs: number): number =>
    Math.min(columns - 1, Math.floor(((atMs - beginMs) / (spanMs + stepMs)) * columns + 1e-9));
  return { beginMs, endMs, columns, columnsPerStep, columnOf };
}

/** Zero at least: a chart stands on it. */
function largestOf(points: readonly { readonly y: number }[]): number {
  return points.reduce((largest, { y }) => Math.max(largest, y), 0);
}

/** Zero at most. */
function leastOf(points: readonly { readonly y: number }[]): number {
  return points.reduce((least, { y }) => Math.min(least, y), 0);
}

function withRest(lines: string[], rest: number): string[] {
  return rest > 0 ? [...lines, `and ${rest} more`] : lines;
}

function percent(part: number, total: number): string {
  return `${(total === 0 ? 0 : (Math.max(0, part) / total) * 100).toFixed(1).padStart(5)}%`;
}

/** From here on the digits of a whole number say less than its magnitude, and take more room. */
const SHORT_BELOW = 1e12;

function formatNumber(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < SHORT_BELOW) return String(value);
  const rounded = Number(value.toPrecision(6));
  return Math.abs(rounded) < SHORT_BELOW ? String(rounded) : rounded.toExponential();
}
