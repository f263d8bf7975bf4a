import type { RecognisedEntry } from "./entry-joiner.ts";
import type { Instant } from "./time/line-clock.ts";

/** What was recognised as an entry of the native format; JSON keeps the digits of its numbers. */
export interface NativeEntry {
  readonly message: string;
  /** RFC 3339, as many digits as the time has. */
  readonly ts?: string;
  readonly level?: string;
  readonly service?: string;
  readonly source?: string;
  readonly host?: string;
  readonly event_id?: string;
  readonly attrs?: Readonly<Record<string, unknown>>;
}

/**
 * The entry that the native format takes, but for what is longer than it may be, and for a message that is empty. It has no
 * field for traces: their ids are attributes.
 */
export function nativeEntryOf(entry: RecognisedEntry): NativeEntry {
  const { time, level, service, source, host, traceId, spanId, eventId, message, attributes } = entry;
  const attrs = new Map(attributes);
  if (traceId !== null) attrs.set("trace_id", traceId);
  if (spanId !== null) attrs.set("span_id", spanId);
  return {
    message,
    ...(time === null ? {} : { ts: isoText(time) }),
    ...(level === null ? {} : { level }),
    ...(service === null ? {} : { service }),
    ...(source === null ? {} : { source }),
    ...(host === null ? {} : { host }),
    ...(eventId === null ? {} : { event_id: eventId }),
    ...(attrs.size === 0 ? {} : { attrs: Object.fromEntries(attrs) }),
  };
}

const SECONDS_PER_DAY = 86_400;
const NANOS_PER_MILLI = 1_000_000;
const THREE_DIGITS = Array.from({ length: 1000 }, (_, number) => String(number).padStart(3, "0"));
const TWO_DIGITS = Array.from({ length: 100 }, (_, number) => String(number).padStart(2, "0"));

/** The latest date and how it is written, as lines that follow each other are of one day. */
let latestDay = 0;
let latestDate = "1970-01-01T";

/** RFC 3339, for years of four digits. */
export function isoText({ seconds, nanos }: Instant): string {
  const day = Math.floor(seconds / SECONDS_PER_DAY);
  const second = seconds - day * SECONDS_PER_DAY;
  const hours = TWO_DIGITS[Math.floor(second / 3600)];
  const minutes = TWO_DIGITS[Math.floor(second / 60) % 60];
  if (day !== latestDay) {
    latestDay = day;
    latestDate = `${dateText(day)}T`;
  }
  return `${latestDate}${hours}:${minutes}:${TWO_DIGITS[second % 60]}.${fractionText(nanos)}Z`;
}

/**
 * The date of a day counted from 1970-01-01. Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms",
 * `civil_from_days`.
 */
function dateText(days: number): string {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return `${String(year).padStart(4, "0")}-${TWO_DIGITS[month]}-${TWO_DIGITS[day]}`;
}

function fractionText(nanos: number): string {
  if (nanos % NANOS_PER_MILLI === 0) return THREE_DIGITS[nanos / NANOS_PER_MILLI] ?? "";
  return String(nanos).padStart(9, "0").replace(/0+$/, "");
}
