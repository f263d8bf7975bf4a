import type { LocalZone } from "../../../ingest/recognise/index.ts";

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};
const WITH_SECONDS_AND_OFFSET = /:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:?\d\d)$/;

const DATE = /^\d{4}-\d\d(?:-\d\d)?$/;
const OFFSET = /(?:[Zz]|[+-]\d\d:?\d\d)$/;

/**
 * A moment as an ISO date-time: an age before now such as `15m`, a date, which is its beginning, or a date-time; null for anything
 * else. What names no zone counts in the given one, else in this machine's, as in other programs of a terminal.
 */
export function parseTime(text: string, nowMs: number, zone?: LocalZone): string | null {
  const age = /^(\d{1,6})([smhdw])$/.exec(text);
  if (age !== null) return new Date(nowMs - Number(age[1]) * (UNIT_MS[age[2] ?? ""] ?? 0)).toISOString();
  const moment = DATE.test(text) ? `${text}T00:00:00` : text;
  const isLocal = !OFFSET.test(moment);
  const ms = Date.parse(isLocal && zone !== undefined ? `${moment}Z` : moment);
  if (Number.isNaN(ms) || !/^\d{4}-/.test(text)) return null;
  if (isLocal && zone !== undefined) return new Date(zone.utcSeconds(ms / 1000) * 1000).toISOString();
  // A date-time with an offset goes through as it is, so that its nanoseconds survive.
  return WITH_SECONDS_AND_OFFSET.test(text) ? text : new Date(ms).toISOString();
}
