import { DAY_MARGIN_MS } from "./limits.ts";
import type { RetentionRule, RetentionSettings } from "./retention/types.ts";

/** How long entries stay in the log store, in whole days after the day of their receipt; 0 is for ever. */
export interface HotRetention {
  readonly days: number;
  readonly rules: readonly RetentionRule[];
}

/** More days than there are. */
const NEVER_DAYS = 1_000_000;
const DAY_MS = 86_400_000;

/** Settings with the server's default in place of what an organisation has not set. */
export function hotRetentionOf(settings: RetentionSettings | null, defaultDays: number): HotRetention {
  return { days: settings?.days ?? defaultDays, rules: settings?.rules ?? [] };
}

/** The fewest days that any entry stays; null when all stay for ever. */
export function shortestDays({ days, rules }: HotRetention): number | null {
  const limited = [days, ...rules.map((rule) => rule.days)].filter((candidate) => candidate > 0);
  return limited.length === 0 ? null : Math.min(...limited);
}

/** The present day as archiving knows it, `YYYY-MM-DD`: a while after midnight it is still the day before. */
export function archiveToday(nowMs: number): string {
  return new Date(nowMs - DAY_MARGIN_MS).toISOString().slice(0, 10);
}

/** The latest day whose entries are all older than so many days, when `today` is the present one. */
export function lastExpiredDay(today: string, days: number): string {
  return new Date(Date.parse(today) - (days + 1) * DAY_MS).toISOString().slice(0, 10);
}

/** A condition in ClickHouse, with the values that travel beside it. */
export interface Condition {
  readonly sql: string;
  readonly parameters: Readonly<Record<string, string | number>>;
}

/** True for rows of `logs` whose time in the log store is over. */
export function expiredCondition({ days, rules }: HotRetention, today: string): Condition {
  const parameters: Record<string, string | number> = { today, days: days || NEVER_DAYS };
  const cases = rules.map((rule, i) => {
    parameters[`days${i}`] = rule.days || NEVER_DAYS;
    const tests: string[] = [];
    if (rule.service !== null) {
      parameters[`service${i}`] = rule.service;
      tests.push(`service = {service${i}: String}`);
    }
    if (rule.level !== null) {
      parameters[`level${i}`] = rule.level;
      tests.push(`level = {level${i}: String}`);
    }
    return `${tests.length === 0 ? "true" : tests.join(" AND ")}, {days${i}: UInt32}`;
  });
  const kept = cases.length === 0 ? "{days: UInt32}" : `multiIf(${cases.join(", ")}, {days: UInt32})`;
  return { sql: `dateDiff('day', toDate(received_at), {today: Date}) > ${kept}`, parameters };
}
