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

/** A form that the time before had and this one has no more. */
export interface VanishedPattern {
  readonly pattern: string;
  readonly previousCount: number;
}

export interface PatternReport {
  /** As the server wrote them, for machines. */
  readonly body: JsonRecord;
  readonly patterns: readonly MessagePattern[];
  readonly vanished: readonly VanishedPattern[];
  /** Patterns beyond the limit. */
  readonly otherPatterns: number;
  readonly total: number;
}

/** Throws CliError when the text is no answer about patterns. */
export function decodePatternReport(text: string, baseUrl: string): PatternReport {
  const body = parseJsonExactly(text);
  if (!isRecord(body) || !Array.isArray(body.patterns))
    throw new CliError(`${baseUrl} answered about patterns with something else: is it an obs server?`);
  return {
    body,
    patterns: recordsOf(body.patterns).map((item) => ({
      pattern: textOf(item.pattern),
      count: numberOf(item.count),
      share: numberOf(item.share),
      levels: namesOf(item.levels),
      services: namesOf(item.services),
      trend: Array.isArray(item.trend) ? item.trend.map(numberOf) : [],
      isNew: item.new === true,
    })),
    vanished: recordsOf(body.vanished).map((item) => ({
      pattern: textOf(item.pattern),
      previousCount: numberOf(item.previousCount),
    })),
    otherPatterns: isRecord(body.other) ? numberOf(body.other.patterns) : 0,
    total: numberOf(body.total),
  };
}

function recordsOf(list: unknown): JsonRecord[] {
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

/** The values of a list of `{value, count}`; those of entries that have none are left out. */
function namesOf(counts: unknown): string[] {
  return recordsOf(counts)
    .toSorted((a, b) => numberOf(b.count) - numberOf(a.count))
    .flatMap(({ value }) => (typeof value === "string" ? [value] : []));
}

function numberOf(value: unknown): number {
  return cellNumber(value ?? null) ?? 0;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
