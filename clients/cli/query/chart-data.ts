import { cellNumber, cellText, type QueryAnswer, type RenderHint } from "./answer.ts";

/** One value of an answer, ready to be drawn. */
export interface ChartPoint {
  /** Cell of the x column. */
  readonly x: string;
  /** What the point belongs to; empty where there is one series only. */
  readonly series: string;
  readonly y: number;
}

export interface ChartData {
  readonly kind: "time" | "bars" | "shares";
  readonly points: readonly ChartPoint[];
}

const KINDS: Readonly<Record<string, ChartData["kind"]>> = {
  timechart: "time",
  linechart: "time",
  areachart: "time",
  stackedareachart: "time",
  anomalychart: "time",
  barchart: "bars",
  columnchart: "bars",
  piechart: "shares",
};
const NUMBER_TYPES = new Set(["int", "long", "real", "double", "decimal"]);
/** A column of these names the series where the hint does not. */
const NAME_TYPES = new Set(["string", "bool", "guid"]);

/**
 * What there is to draw of an answer: by its render hint, else over time where there is a time, else as bars. Null when it
 * holds no numbers, or the hint is for a chart that is not drawn here.
 */
export function chartDataOf({ columns, rows, render }: QueryAnswer): ChartData | null {
  const hinted = render === null ? undefined : KINDS[render.chart];
  if (render !== null && hinted === undefined && render.chart !== "table") return null;
  const time = columns.findIndex(({ type }) => type === "datetime");
  const kind = hinted ?? (time >= 0 ? "time" : "bars");
  const named = indexesNamed(render, "xcolumn", columns)[0];
  const x = named ?? (kind === "time" ? time : 0);
  if (x < 0 || x >= columns.length || (kind === "time" && columns[x]?.type !== "datetime")) return null;
  const ys = indexesNamed(render, "ycolumns", columns);
  const numeric = columns.flatMap(({ type }, i) => (i !== x && NUMBER_TYPES.has(type) ? [i] : []));
  const yIndexes = ys.length > 0 ? ys : numeric;
  if (yIndexes.length === 0) return null;
  const seriesIndexes = indexesNamed(render, "series", columns);
  const others = columns.flatMap(({ type }, i) => (i !== x && NAME_TYPES.has(type) ? [i] : []));
  const bySeries = seriesIndexes.length > 0 ? seriesIndexes : others;
  const points = rows.flatMap((row) =>
    yIndexes.flatMap((index) => {
      const y = cellNumber(row[index]);
      if (y === null) return [];
      const parts = bySeries.map((i) => cellText(row[i]));
      if (yIndexes.length > 1) parts.push(columns[index]?.name ?? "");
      return [{ x: cellText(row[x]), series: parts.join(" "), y }];
    }),
  );
  return { kind, points };
}

/** The columns that a property of the hint names, separated by commas. */
function indexesNamed(
  render: RenderHint | null,
  property: string,
  columns: QueryAnswer["columns"],
): number[] {
  const names = render?.properties[property];
  if (typeof names !== "string") return [];
  return names.split(",").flatMap((name) => {
    const index = columns.findIndex((column) => column.name === name.trim());
    return index < 0 ? [] : [index];
  });
}
