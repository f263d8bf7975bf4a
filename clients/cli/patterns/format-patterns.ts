import { sparkline } from "../terminal/blocks.ts";
import type { Colors } from "../terminal/colors.ts";
import { escapeControlsInCell } from "../terminal/escape-controls.ts";
import { formatTable, type TableColumn } from "../terminal/table.ts";
import type { PatternReport } from "./pattern-report.ts";

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
  const rows = report.patterns.map(({ count, share, trend, isNew, levels, services, pattern }) => [
    String(count),
    `${(share * 100).toFixed(1)}%`,
    sparkline(trend),
    isNew ? "new" : "",
    ...[levels.join(" "), services.join(" "), pattern].map(escapeControlsInCell),
  ]);
  const lines = formatTable({ columns: COLUMNS, rows }, maxWidth, colors);
  if (report.vanished.length === 0) return lines;
  const vanished = report.vanished.map(({ pattern, previousCount }) => [
    String(previousCount),
    escapeControlsInCell(pattern),
  ]);
  return [...lines, "", ...formatTable({ columns: VANISHED_COLUMNS, rows: vanished }, maxWidth, colors)];
}
