import { daysFromEpoch, daysInMonth } from "../../timestamp.ts";
import { zoneOffset } from "./time-zones.ts";

/** A point in time as it was read from a text. */
export interface ClockTime {
  /** Since 1970. */
  readonly seconds: number;
  /** From 0 to 999 999 999. */
  readonly nanos: number;
  /** Where the text goes on behind it. */
  readonly end: number;
}

const MONTHS = new Map(
  ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"].map((name, index) => [
    name,
    index + 1,
  ]),
);

/** Month and day, with the year before them, behind them, behind the time, or nowhere. */
const MONTH_TIME =
  /(?:(\d{4}) )?([A-Za-z]{3}) +(\d{1,2})(?:,? (\d{4}))?,? +(\d{1,2}):(\d{2}):(\d{2})(?:[.,](\d{1,9}))?(?: (\d{4})(?![^ :]))?/y;
const ISO_TIME =
  /(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:[.,](\d+))?(?:([Zz])|([+-]\d{2}:?\d{2}))?/y;
const EPOCH_TIME = /(\d{9,11})(?:\.(\d{1,9}))?(?= |$)/y;
const NANO_DIGITS = 9;
const DAY_SECONDS = 86_400;
/** A time without a year may be this far ahead: zones are up to 14 hours ahead, and clocks are wrong by days. */
const FUTURE_MAX_MS = 7 * 86_400_000;
/** Across the turn of a century that is no leap year, eight years lie between two leap days. */
const LEAP_YEARS = 8;

/**
 * `Mmm dd hh:mm:ss` at a place of a text, also with fraction and year: RFC 3164 and what devices made of it. A missing
 * year is the newest that does not bring the time more than a week past `nowMs`. It is read as UTC.
 */
export function readMonthTime(text: string, at: number, nowMs: number): ClockTime | null {
  MONTH_TIME.lastIndex = at;
  const match = MONTH_TIME.exec(text);
  if (match === null) return null;
  const [whole, yearBefore, monthName = "", day, yearWithin, hour, minute, second, fraction, yearBehind] =
    match;
  const month = MONTHS.get(monthName.toLowerCase());
  if (month === undefined) return null;
  const clock = {
    month,
    day: Number(day),
    hour: Number(hour),
    minute: Number(minute),
    second: Number(second),
  };
  const year = yearBefore ?? yearWithin ?? yearBehind;
  const seconds = year === undefined ? likeliestSeconds(clock, nowMs) : secondsOf(Number(year), clock);
  return seconds === null ? null : { seconds, nanos: nanosOf(fraction), end: at + whole.length };
}

/** `yyyy-mm-ddThh:mm:ss` at a place of a text, also with a blank, a fraction and an offset; without one it is UTC. */
export function readIsoTime(text: string, at: number): ClockTime | null {
  ISO_TIME.lastIndex = at;
  const match = ISO_TIME.exec(text);
  if (match === null) return null;
  const [whole, year, month, day, hour, minute, second, fraction, , offset] = match;
  const seconds = secondsOf(Number(year), {
    month: Number(month),
    day: Number(day),
    hour: Number(hour),
    minute: Number(minute),
    second: Number(second),
  });
  const east = offset === undefined ? 0 : zoneOffset(offset);
  if (seconds === null || east === null) return null;
  return { seconds: seconds - east, nanos: nanosOf(fraction), end: at + whole.length };
}

/** Seconds since 1970 at a place of a text, also with a fraction, in front of a blank or at its end. */
export function readEpochTime(text: string, at: number): ClockTime | null {
  EPOCH_TIME.lastIndex = at;
  const match = EPOCH_TIME.exec(text);
  if (match === null) return null;
  const [whole, seconds, fraction] = match;
  return { seconds: Number(seconds), nanos: nanosOf(fraction), end: at + whole.length };
}

interface Clock {
  /** From 1. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

/** Seconds since 1970, or null when there is no such day or time; a leap second counts into the next minute. */
function secondsOf(year: number, { month, day, hour, minute, second }: Clock): number | null {
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return null;
  if (hour > 23 || minute > 59 || second > 60) return null;
  return daysFromEpoch(year, month, day) * DAY_SECONDS + hour * 3600 + minute * 60 + second;
}

/** In the newest year that does not put it into the future: logs are of the past, give or take a clock and a zone. */
function likeliestSeconds(clock: Clock, nowMs: number): number | null {
  const year = new Date(nowMs).getUTCFullYear();
  const latest = (nowMs + FUTURE_MAX_MS) / 1000;
  for (let candidate = year + 1; candidate >= year - LEAP_YEARS; candidate--) {
    const seconds = secondsOf(candidate, clock);
    if (seconds !== null && seconds <= latest) return seconds;
  }
  return null;
}

/** Digits past the nanosecond are cut. */
function nanosOf(fraction: string | undefined): number {
  return fraction === undefined ? 0 : Number(fraction.slice(0, NANO_DIGITS).padEnd(NANO_DIGITS, "0"));
}
