import { shellWord } from "../invocation.ts";
import { FINDINGS_SHOWN_MAX } from "../limits.ts";
import { escapeControls } from "../terminal/escape-controls.ts";
import { formatBytes, formatCount, formatCountOf } from "../terminal/quantities.ts";
import { type Findings, type TimeSpan, type ValueCounts, widest } from "./findings.ts";
import type { SentTotals } from "./sender.ts";
import type { Tally } from "./tally.ts";

const HOUR_MS = 3_600_000;

/** What a run of `obs ship` has done. */
interface ShipReport {
  readonly files: number;
  readonly bytes: number;
  readonly seconds: number;
  /** Bytes that earlier runs had shipped. */
  readonly resumedAt: number;
  readonly tally: Readonly<Tally>;
  readonly findings: Findings;
  readonly totals: Readonly<SentTotals>;
  /** In which times count that name no zone. */
  readonly zone: string;
  /** The source that the lines went through; null where they were made into entries here. */
  readonly sourceKey: string | null;
}

/** The report in lines, with the commands that show what was shipped, as `command` is run here. */
export function formatReport(report: ShipReport, command: string): string[] {
  const { tally, findings, totals } = report;
  const lines = [summaryOf(report), ...rejectionsOf(report)];
  const span = rangeOf(findings, totals);
  if (span === null || totals.stored === 0) return lines;
  if (report.sourceKey === null) {
    lines.push(`from ${isoOf(span.fromMs)} to ${isoOf(span.toMs)}${untimedNote(findings, totals)}`);
    const { levels, services, timesWithoutZone } = findings;
    if (timesWithoutZone > 0)
      lines.push(`times without a zone were read as ${report.zone}; --zone names another`);
    if (levels.size > 0) lines.push(`levels: ${namesOf(levels, findings.entries)}`);
    if (services.size > 0) lines.push(`services: ${namesOf(services, findings.entries)}`);
    const asText = tally.entries - tally.nativeLines - tally.recognisedEntries;
    if (asText > 0) lines.push(`${formatCount(asText)} left as they were: their text is the message`);
  }
  const commands = (lines: readonly string[]): string[] => lines.map((line) => `  ${command} ${line}`);
  lines.push("to see them:", ...commands(commandsOf(report, span)));
  // A source's mapping sets times and levels, which may be any.
  if (report.sourceKey === null && span.toMs - span.fromMs > HOUR_MS)
    lines.push(
      "what failed most in the last hour of these, and what changed in it:",
      ...commands(lastHourOf(report, span)),
    );
  return lines.map(escapeControls);
}

function summaryOf({ files, bytes, seconds, resumedAt, tally, totals }: ShipReport): string {
  const rate = Math.round(tally.lines / Math.max(seconds, 0.001));
  const of = files > 1 ? ` of ${files} files` : "";
  const note = (count: number, text: string): string[] =>
    count > 0 ? [`${formatCount(count)} ${text}`] : [];
  return [
    `shipped ${tally.lines} lines${of}, ${bytes} bytes in ${seconds.toFixed(1)} s (${rate} lines/s)`,
    ...(tally.entries === tally.lines ? [] : [formatCountOf(tally.entries, "entry", "entries")]),
    ...(resumedAt > 0
      ? [`${formatBytes(resumedAt)} before them were shipped earlier, --restart repeats them`]
      : []),
    ...note(tally.nativeLines, "were entries"),
    ...note(tally.splitLines, "long lines split"),
    ...note(tally.emptyLines, "empty lines skipped"),
    ...note(tally.olderEntries, "older ones left out"),
    ...note(tally.invalidUtf8Entries, "entries with bytes that are not UTF-8"),
    ...note(totals.retries, "retries"),
  ].join("; ");
}

function rejectionsOf({ totals, sourceKey }: ShipReport): string[] {
  const { quarantined, rejected, problem } = totals;
  if (quarantined + rejected === 0) return [];
  const parts = [
    ...(quarantined > 0 ? [`${formatCount(quarantined)} in the quarantine`] : []),
    ...(rejected > 0 ? [`${formatCount(rejected)} lost`] : []),
  ];
  const reason = problem === null ? "" : `; the first: ${problem}`;
  return [`not mapped by the source ${sourceKey}: ${parts.join(", ")}${reason}`];
}

/** Within which times all of them lie. */
function rangeOf(findings: Findings, { received }: Readonly<SentTotals>): TimeSpan | null {
  if (findings.untimed === 0 || received === null) return findings.span;
  return widest(findings.span, received);
}

function untimedNote({ untimed, entries }: Findings, { received }: Readonly<SentTotals>): string {
  if (untimed === 0 || received === null) return "";
  return untimed === entries
    ? ", the time of receipt: none has a time of its own"
    : `; ${formatCount(untimed)} have the time of receipt`;
}

function commandsOf({ findings, totals, sourceKey }: ShipReport, span: TimeSpan): string[] {
  const condition = sourceKey === null ? sourceCondition(findings.sources, findings.entries) : null;
  const byReceipt =
    sourceKey !== null && totals.received !== null
      ? `receivedAt between (datetime(${isoOf(totals.received.fromMs)}) .. datetime(${isoOf(totals.received.toMs)}))`
      : null;
  const where = condition ?? byReceipt;
  // A source's mapping sets the time, which may be any.
  const range = sourceKey === null ? ` --from ${isoOf(span.fromMs)} --to ${isoOf(endOf(span.toMs))}` : "";
  const table = where === null ? "logs" : `logs | where ${where}`;
  const query = where === null ? "" : ` --query ${shellWord(where)}`;
  return [
    `search${query}${range}`,
    `query ${shellWord(`${table} | summarize count() by level, service`)}${range}`,
  ];
}

/** Questions that a long file is opened for. */
function lastHourOf({ findings }: ShipReport, { toMs }: TimeSpan): string[] {
  const condition = sourceCondition(findings.sources, findings.entries);
  const failed = [...(condition === null ? [] : [condition]), 'level in ("error", "fatal")'].join(" and ");
  const query = `logs | where ${failed} | summarize errors = count() by service | top 10 by errors`;
  const range = `--from ${isoOf(endOf(toMs) - HOUR_MS)} --to ${isoOf(endOf(toMs))}`;
  const only = condition === null ? "" : `--query ${shellWord(condition)} `;
  return [`query ${shellWord(query)} ${range}`, `patterns ${only}${range}`];
}

/** The entries of the named sources, where all have one; null where that does not say which they are. */
function sourceCondition(sources: ValueCounts, entries: number): string | null {
  const counted = [...sources.values()].reduce((sum, times) => sum + times, 0);
  if (sources.size === 0 || sources.size > FINDINGS_SHOWN_MAX || counted < entries) return null;
  const names = [...sources.keys()].map((name) => JSON.stringify(name));
  return names.length === 1 ? `source == ${names[0]}` : `source in (${names.join(", ")})`;
}

function namesOf(counts: ValueCounts, entries: number): string {
  const sorted = [...counts].toSorted((a, b) => b[1] - a[1]);
  const shown = sorted.slice(0, FINDINGS_SHOWN_MAX).map(([value, times]) => `${value} ${formatCount(times)}`);
  if (sorted.length > shown.length) shown.push(`and ${sorted.length - shown.length} more`);
  const none = entries - sorted.reduce((sum, [, times]) => sum + times, 0);
  return [...shown, ...(none > 0 ? [`none ${formatCount(none)}`] : [])].join(", ");
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}

/** Times are known to the millisecond here; entries have more digits. */
function endOf(ms: number): number {
  return ms + 1;
}
