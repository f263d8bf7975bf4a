const NANOS_PER_MILLI = 1_000_000n;
/** The first and the last moment that RFC 3339 can write, whose years have four digits. */
const FIRST_MS = Date.parse("0000-01-01T00:00:00.000Z");
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");

/**
 * An RFC 3339 date-time as nanoseconds since 1970; the text has passed the `date-time` format.
 * Digits past the nanosecond do not occur there.
 */
export function parseDateTimeNs(text: string): bigint {
  const [, whole = "", fraction = "", offset = ""] =
    /^([^.]*?)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/.exec(text) ?? [];
  const wholeMs = Date.parse(whole + offset);
  if (Number.isNaN(wholeMs)) throw new TypeError("not a date-time");
  return BigInt(wholeMs) * NANOS_PER_MILLI + BigInt(fraction.padEnd(9, "0"));
}

/**
 * Nanoseconds since 1970, as decimal text, in ISO 8601: UTC with `Z`, and as many of 3, 6 or 9 digits of fraction as
 * it takes to lose nothing. A time before the year 0 or after 9999 becomes the nearest that can be written; no entry has one.
 */
export function formatNs(nanoseconds: string): string {
  const [millis, subMilli] =
    nanoseconds.startsWith("-") || nanoseconds.length < 7 ? split(nanoseconds) : cut(nanoseconds);
  const iso = new Date(Math.min(Math.max(millis, FIRST_MS), LAST_MS)).toISOString();
  if (subMilli === "000000") return iso;
  return `${iso.slice(0, -1)}${subMilli.endsWith("000") ? subMilli.slice(0, 3) : subMilli}Z`;
}

/** Milliseconds and the six digits below them, rounded down. */
function split(nanoseconds: string): [number, string] {
  const ns = BigInt(nanoseconds);
  const subMilli = ((ns % NANOS_PER_MILLI) + NANOS_PER_MILLI) % NANOS_PER_MILLI;
  return [Number((ns - subMilli) / NANOS_PER_MILLI), subMilli.toString().padStart(6, "0")];
}

/** As `split`, for what is after 1970: a page has thousands of these. */
function cut(nanoseconds: string): [number, string] {
  return [Number(nanoseconds.slice(0, -6)), nanoseconds.slice(-6)];
}
