import { EntryMasker, type EntryTexts } from "../../../ingest/index.ts";
import {
  aggregate,
  aggregateCall,
  columnOf,
  keep,
  limit,
  type QueryBudget,
  type Relation,
  scan,
  sort,
  type TimeRange,
} from "../../../query/index.ts";
import type { LogRanges } from "../../archive/reading/log-ranges.ts";
import type { RangeReading } from "../../archive/reading/range-reading.ts";
import { validationFailed } from "../../errors.ts";
import type { QueryCaller } from "../../storage/query-runner.ts";
import { type ReadRule, readRule } from "./compile-rule.ts";
import { PREVIEW_MAX_ENTRIES, PREVIEW_MAX_SAMPLES } from "./limits.ts";
import { checkedTerms } from "./rules.ts";
import type { PreviewRuleBody, RulePreview } from "./types.ts";

const NANOS_PER_MILLI = 1_000_000n;
const COLUMNS = [
  "id",
  "ts",
  "message",
  "service",
  "source",
  "host",
  "event_id",
  "traceId",
  "spanId",
  "attrs",
] as const;

interface PreviewDependencies {
  readonly ranges: LogRanges;
  /** What one statement may cost. */
  readonly budget: QueryBudget;
}

/** What a rule would have done with stored entries. Throws VALIDATION_FAILED, KQL_INVALID, and what reading throws. */
export async function previewRule(
  { ranges, budget }: PreviewDependencies,
  caller: QueryCaller,
  { from, to, ...fields }: PreviewRuleBody,
): Promise<RulePreview> {
  const rule = readRule(checkedTerms(fields));
  const timeRange = rangeOf(from, to);
  const { value, coverage } = await ranges.read(caller, (logs) =>
    readPreview(logs, { budget, rule, timeRange }),
  );
  return { ...value, partial: coverage.partial };
}

async function readPreview(
  logs: RangeReading,
  { budget, rule, timeRange }: { budget: QueryBudget; rule: ReadRule; timeRange: TimeRange },
): Promise<Omit<RulePreview, "partial">> {
  const ask = (operation: string, plan: Relation, maxRows: number) =>
    logs.run({ operation, plan, timeRange, maxRows, budget });
  const all = scan("logs");
  const matching =
    rule.predicate === null || rule.predicate === "undecidable" ? all : rule.predicate.relation;
  const [entries, matched, newest] = await Promise.all([
    ask("rule_preview_count", countPlan(all), 1),
    ask("rule_preview_count", countPlan(matching), 1),
    ask("rule_preview", newestPlan(matching), PREVIEW_MAX_ENTRIES),
  ]);
  const samples = newest.rows.map((row) => sampleOf(row, rule)).filter((sample) => sample !== null);
  return {
    entries: Number(entries.rows[0]?.[0] ?? 0),
    matching: Number(matched.rows[0]?.[0] ?? 0),
    examined: newest.rows.length,
    changed: samples.length,
    samples: samples.slice(0, PREVIEW_MAX_SAMPLES),
  };
}

function countPlan(logs: Relation): Relation {
  return aggregate(keep(logs, []), [], [aggregateCall("count", "count")]);
}

function newestPlan(logs: Relation): Relation {
  const ordered = sort(logs, [
    { expression: columnOf(logs, "ts"), direction: "descending" },
    { expression: columnOf(logs, "id"), direction: "descending" },
  ]);
  return keep(limit(ordered, PREVIEW_MAX_ENTRIES), COLUMNS);
}

/** What the rule would make of a row in the order of `COLUMNS`; null when it would leave it as it is. */
function sampleOf(row: readonly unknown[], { action }: ReadRule): RulePreview["samples"][number] | null {
  const [id, ts] = row.map(String);
  const before = textsOf(row);
  const after = action.kind === "mask" ? new EntryMasker(action).entry(before) : null;
  if (after === before || id === undefined || ts === undefined) return null;
  return {
    id,
    ts: new Date(Number(BigInt(ts) / NANOS_PER_MILLI)).toISOString(),
    before: shown(before),
    after: after === null ? null : shown(after),
  };
}

function textsOf(row: readonly unknown[]): EntryTexts {
  const text = (name: (typeof COLUMNS)[number]): string => String(row[COLUMNS.indexOf(name)]);
  const [keys = [], texts = [], jsonKeys = []] = list(row[COLUMNS.indexOf("attrs")]).map(list);
  const isJson = new Set(jsonKeys);
  return {
    message: text("message"),
    service: text("service"),
    source: text("source"),
    host: text("host"),
    traceId: text("traceId"),
    spanId: text("spanId"),
    event_id: text("event_id"),
    attributes: keys.map((key, i) => ({
      key: String(key),
      text: String(texts[i]),
      isJson: isJson.has(key),
    })),
  };
}

function shown({ message, attributes, ...columns }: EntryTexts): RulePreview["samples"][number]["before"] {
  const orNull = (text: string): string | null => (text === "" ? null : text);
  return {
    message,
    service: orNull(columns.service),
    source: orNull(columns.source),
    host: orNull(columns.host),
    traceId: orNull(columns.traceId),
    spanId: orNull(columns.spanId),
    event_id: orNull(columns.event_id),
    attrs: Object.fromEntries(
      attributes.map(({ key, text, isJson }) => [key, isJson && text === "" ? "null" : text]),
    ),
  };
}

function rangeOf(from: string, to: string): TimeRange {
  const range = { from: nanos(from), to: nanos(to) };
  if (range.from > range.to)
    throw validationFailed([{ path: "/from", code: "custom", message: "is later than `to`" }]);
  return range;
}

function nanos(time: string): bigint {
  return BigInt(Date.parse(time)) * NANOS_PER_MILLI;
}

function list(cell: unknown): readonly unknown[] {
  if (!Array.isArray(cell)) throw new TypeError("a row of the log store holds no list where it should");
  return cell;
}
