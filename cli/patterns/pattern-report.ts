import { CliError } from "../cli-error.ts";
import { isRecord, type JsonRecord, parseJsonExactly } from "../http/json.ts";
import { cellNumber } from "../query/answer.ts";

/** A form that messages have in common. */
export interface MessagePattern {
  readonly pattern: string;
  readonly count: number;
  /** Of all entries, 0 to 1. */
  readonly share: number;
  /** Names, the most frequent first. */
  readonly levels: readonly string[];
  readonly services: readonly string[];
  /** Entries in equal parts of the time asked for, the oldest first. */
  readonly trend: readonly number[];
  /** Whether the time before had none of it. */
  readonly isNew: boolean;
}

export interface PatternReport {
  /** As the server wrote them, for machines. */
  readonly body: JsonRecord;
  readonly patterns: readonly MessagePattern[];
  /** What the time before had and this one has no more. */
  readonly vanished: readonly Pick<MessagePattern, "pattern" | "count">[];
  readonly total: number;
  readonly isSampled: boolean;
}

/** Throws CliError when the text is no answer about patterns. */
export function decodePatternReport(text: string, baseUrl: string): PatternReport {
  const body = parseJsonExactly(text);
  if (!isRecord(body) || !Array.isArray(body.patterns))
    throw new CliError(`${baseUrl} answered about patterns with something else: is it an obs server?`);
  return {
    body,
    patterns: body.patterns.filter(isRecord).map((item) => ({
      ...patternAndCount(item),
      share: cellNumber(item.share ?? null) ?? 0,
      levels: names(item.levels),
      services: names(item.services),
      trend: Array.isArray(item.trend) ? item.trend.map((part: unknown) => cellNumber(part) ?? 0) : [],
      isNew: item.new === true,
    })),
    vanished: (Array.isArray(body.vanished) ? body.vanished : []).filter(isRecord).map(patternAndCount),
    total: cellNumber(body.total ?? null) ?? 0,
    isSampled: body.sampled === true,
  };
}

function patternAndCount(item: JsonRecord): Pick<MessagePattern, "pattern" | "count"> {
  return {
    pattern: typeof item.pattern === "string" ? item.pattern : "",
    count: cellNumber(item.count ?? null) ?? 0,
  };
}

/** The names of counts by name, or of `{value, count}`. */
function names(counts: unknown): string[] {
  const pairs = Array.isArray(counts)
    ? counts.filter(isRecord).map(({ value, count }): [unknown, unknown] => [value, count])
    : Object.entries(isRecord(counts) ? counts : {});
  return pairs
    .toSorted(([, a], [, b]) => (cellNumber(b ?? null) ?? 0) - (cellNumber(a ?? null) ?? 0))
    .flatMap(([name]) => (typeof name === "string" && name !== "" ? [name] : []));
}
