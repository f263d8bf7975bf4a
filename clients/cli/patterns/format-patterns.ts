import type { CallAnswer } from "../../api/calls.ts";
import { sparkline } from "../terminal/blocks.ts";
import type { Colors } from "../terminal/colors.ts";
import { escapeControlsInCell } from "../terminal/escape-controls.ts";
import { formatTable, type TableColumn } from "../terminal/table.ts";

export type PatternReport = CallAnswer<"GET /api/v1/logs/patterns">;
type ValueCounts = PatternReport["patterns"][number]["levels"];

const COLUMNS: readonly TableColumn[] = [
  { header: "count", align: "right", isRigid: true },
  { header: "share", align: "right", isRigid: true },
  { header: "trend", align: "left", isRigid: true },
  { header: "", align: "left", isRigid: true },
  { header: "levels", align: "left", isRigid: false },
  { header: "services", align: "left", isRigid: false },
  { header: "pattern", align: "left", isRigid: false },
];
const VANISHED_COLUMNS: readonly TableColumn[] = [
  { header: "before", align: "right", isRigid: true },
  { header: "vanished pattern", align: "left", isRigid: false },
];

/** The lines of a table of the patterns, and of one of those that have vanished where there are any. */
export function formatPatterns(report: PatternReport, maxWidth: number | null, colors: Colors): string[] {
  const rows = report.patterns.map(({ count, share, trend, new: isNew, levels, services, pattern }) => [
    String(count),
    `${(share * 100).toFixed(1)}%`,
    sparkline(trend),
    isNew ? "new" : "",
    ...[namesOf(levels), namesOf(services), pattern].map(escapeControlsInCell),
  ]);
  const lines = formatTable({ columns: COLUMNS, rows }, maxWidth, colors);
  if (report.vanished.length === 0) return lines;
  const vanished = report.vanished.map(({ pattern, previousCount }) => [
    String(previousCount),
    escapeControlsInCell(pattern),
  ]);
  return [...lines, "", ...formatTable({ columns: VANISHED_COLUMNS, rows: vanished }, maxWidth, colors)];
}

/** The most frequent first; entries that have none are left out. */
function namesOf(counts: ValueCounts): string {
  return counts
    .toSorted((a, b) => b.count - a.count)
    .flatMap(({ value }) => value ?? [])
    .join(" ");
}
