import { UsageError } from "../cli-error.ts";
import { parseTime } from "../search/time-argument.ts";

/** The number of a record. Throws UsageError for another text. */
export function recordNumber(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new UsageError(`${text} is no number of a record`);
  return Number(text);
}

export const RULE_KINDS = ["log", "metric", "correlation"] as const;
type RuleKind = (typeof RULE_KINDS)[number];

/** A rule as `log:3`: rules of different kinds have the same numbers. Throws UsageError for another text. */
export function ruleOf(text: string): { readonly kind: RuleKind; readonly id: number } {
  const [, name, number = ""] = /^([a-z]+):(\d+)$/.exec(text) ?? [];
  const kind = RULE_KINDS.find((each) => each === name);
  if (kind === undefined)
    throw new UsageError(`${text} is no rule: write ${RULE_KINDS.map((each) => `${each}:ID`).join(", ")}`);
  return { kind, id: recordNumber(number) };
}

/** A moment ahead: a date-time, or so long from now, such as `2h`. Throws UsageError for another text. */
export function timeAhead(text: string, nowMs: number): string {
  const time = parseTime(text, nowMs);
  if (time === null)
    throw new UsageError(`--for takes a time from now such as 2h, or a date-time, not ${text}`);
  return /^\d+[a-z]$/.test(text) ? new Date(2 * nowMs - Date.parse(time)).toISOString() : time;
}
