import type { Int64Column } from "./native/number-column.ts";

/** 1900-01-01 and 2262-04-11: the whole days that DateTime64(9) can hold. In seconds since 1970. */
const MIN_SECONDS = -2_208_988_800;
const MAX_SECONDS = 9_223_286_400;

/** An integer timestamp of so many digits is seconds (until the year 5138), then milli-, micro- and nanoseconds. */
const SECONDS_MAX_DIGITS = 11;
const MILLIS_MAX_DIGITS = 14;
const MICROS_MAX_DIGITS = 17;
export const NANOS_MAX_DIGITS = 19;

const DAYS_BEFORE_MONTH = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
const DAYS_IN_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

export const TIMESTAMP_RULE =
  "an RFC 3339 date-time with an offset, or a positive integer of epoch seconds, milli-, micro- or nanoseconds, between 1900 and 2262";

/** Whether the store can hold a time of so many seconds since 1970. */
export function isStorable(seconds: number): boolean {
  return seconds >= MIN_SECONDS && seconds < MAX_SECONDS;
}

/** Appends `seconds * 10^9 + nanos` as 64 bits; false when the store cannot hold the time. */
export function appendNanoseconds(column: Int64Column, seconds: number, nanos: number): boolean {
  if (!isStorable(seconds)) return false;
  // Milliseconds leave room in 53 bits for the factor of a million on their lower half.
  const millis = seconds * 1000 + Math.floor(nanos / 1_000_000);
  const millisHigh = Math.floor(millis / 2 ** 32);
  const lowPart = (millis - millisHigh * 2 ** 32) * 1_000_000 + (nanos % 1_000_000);
  const carry = Math.floor(lowPart / 2 ** 32);
  column.append(lowPart - carry * 2 ** 32, millisHigh * 1_000_000 + carry);
  return true;
}

/**
 * Appends an RFC 3339 date-time given as ASCII bytes `source[start, end)`, for example
 * `2026-01-31T23:59:60.123456789+01:00`. Digits past the nanosecond are cut; a leap second counts into the next
 * minute. Returns false, and appends nothing, when it is no such time.
 */
export function appendIsoTimestamp(
  column: Int64Column,
  source: Uint8Array,
  start: number,
  end: number,
): boolean {
  if (end - start < 20) return false;
  const year = digits(source, start, 4);
  const month = digits(source, start + 5, 2);
  const day = digits(source, start + 8, 2);
  const hour = digits(source, start + 11, 2);
  const minute = digits(source, start + 14, 2);
  const second = digits(source, start + 17, 2);
  const separator = source[start + 10];
  if (
    (year | month | day | hour | minute | second) < 0 ||
    source[start + 4] !== 0x2d ||
    source[start + 7] !== 0x2d ||
    source[start + 13] !== 0x3a ||
    source[start + 16] !== 0x3a ||
    (separator !== 0x54 && separator !== 0x74 && separator !== 0x20) ||
    month < 1 ||
    month > 12 ||
    day < 1 ||
    day > daysInMonth(year, month) ||
    hour > 23 ||
    minute > 59 ||
    second > 60
  )
    return false;

  let at = start + 19;
  let nanos = 0;
  if (source[at] === 0x2e) {
    let scale = 100_000_000;
    const first = ++at;
    for (let c = source[at] ?? 0; at < end && c >= 0x30 && c <= 0x39; c = source[++at] ?? 0) {
      nanos += (c - 0x30) * scale;
      scale = Math.floor(scale / 10);
    }
    if (at === first) return false;
  }
  const offsetSeconds = readOffset(source, at, end);
  if (Number.isNaN(offsetSeconds)) return false;
  const seconds =
    daysFromEpoch(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offsetSeconds;
  return appendNanoseconds(column, seconds, nanos);
}

/** How many of the digits of an integer timestamp are fractions of a second, by how many there are. */
export function subSecondDigits(digits: number): number {
  if (digits <= SECONDS_MAX_DIGITS) return 0;
  if (digits <= MILLIS_MAX_DIGITS) return 3;
  return digits <= MICROS_MAX_DIGITS ? 6 : 9;
}

/**
 * Appends a positive integer given as ASCII digits `source[start, end)`; its magnitude tells the unit.
 * Returns false, and appends nothing, when it is zero or beyond the range of the store.
 */
export function appendEpochTimestamp(
  column: Int64Column,
  source: Uint8Array,
  start: number,
  end: number,
): boolean {
  const count = end - start;
  if (count < 1 || count > NANOS_MAX_DIGITS) return false;
  const perSecondDigits = subSecondDigits(count);
  const wholeEnd = end - perSecondDigits;
  let seconds = 0;
  for (let i = start; i < wholeEnd; i++) seconds = seconds * 10 + (source[i] ?? 0) - 0x30;
  let nanos = 0;
  for (let i = wholeEnd; i < end; i++) nanos = nanos * 10 + (source[i] ?? 0) - 0x30;
  for (let i = perSecondDigits; i < 9; i++) nanos *= 10;
  if (seconds === 0 && nanos === 0) return false;
  return appendNanoseconds(column, seconds, nanos);
}

/** Appends milliseconds since 1970. */
export function appendMilliseconds(column: Int64Column, epochMs: number): void {
  const seconds = Math.floor(epochMs / 1000);
  appendNanoseconds(column, seconds, (epochMs - seconds * 1000) * 1_000_000);
}

/** `count` decimal digits as a number, or -1. */
function digits(source: Uint8Array, start: number, count: number): number {
  let value = 0;
  for (let i = start; i < start + count; i++) {
    const digit = (source[i] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}

/** Seconds east of UTC of `Z`, `+01:00` or `-0730`, which must fill `source[start, end)`; NaN otherwise. */
function readOffset(source: Uint8Array, start: number, end: number): number {
  const sign = source[start];
  if (sign === 0x5a || sign === 0x7a) return start + 1 === end ? 0 : Number.NaN;
  if (sign !== 0x2b && sign !== 0x2d) return Number.NaN;
  const minuteStart = source[start + 3] === 0x3a ? start + 4 : start + 3;
  const hours = digits(source, start + 1, 2);
  const minutes = digits(source, minuteStart, 2);
  if ((hours | minutes) < 0 || hours > 23 || minutes > 59 || minuteStart + 2 !== end) return Number.NaN;
  return (sign === 0x2d ? -1 : 1) * (hours * 3600 + minutes * 60);
}

function isLeapYear(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
}

/** Of a month from 1 to 12. */
export function daysInMonth(year: number, month: number): number {
  return month === 2 && isLeapYear(year) ? 29 : (DAYS_IN_MONTH[month - 1] ?? 0);
}

/** Days from 1970-01-01 to a date of the Gregorian calendar. */
export function daysFromEpoch(year: number, month: number, day: number): number {
  const before = year - 1;
  const leapDays = Math.floor(before / 4) - Math.floor(before / 100) + Math.floor(before / 400);
  const leapToday = month > 2 && isLeapYear(year) ? 1 : 0;
  return before * 365 + leapDays + (DAYS_BEFORE_MONTH[month - 1] ?? 0) + leapToday + day - 1 - 719_162;
}
