const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};
const WITH_SECONDS_AND_OFFSET = /:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:?\d\d)$/;

/** A moment as an ISO date-time: an age before now such as `15m`, a date, or a date-time; null for anything else. */
export function parseTime(text: string, nowMs: number): string | null {
  const age = /^(\d{1,6})([smhdw])$/.exec(text);
  if (age !== null) return new Date(nowMs - Number(age[1]) * (UNIT_MS[age[2] ?? ""] ?? 0)).toISOString();
  const ms = Date.parse(text);
  if (Number.isNaN(ms) || !/^\d{4}-/.test(text)) return null;
  // A date-time with an offset goes through as it is, so that its nanoseconds survive.
  return WITH_SECONDS_AND_OFFSET.test(text) ? text : new Date(ms).toISOString();
}
