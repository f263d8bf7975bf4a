import type { Level } from "../../log-batch.ts";
import { levelOfText } from "../../record/levels.ts";
import type { RecordWriter } from "../../record/record-writer.ts";
import { readIsoTime, readMonthTime } from "../syslog/clock-time.ts";
import { zoneOffset } from "../syslog/time-zones.ts";
import type { CefKind } from "./cef-dictionary.ts";
import type { ByteRange } from "./unescape.ts";

const DIGIT_ZERO = 0x30;
const MINUS = 0x2d;
/** Digits of a 64-bit integer. */
const INTEGER_MAX_DIGITS = 19;
/** Milliseconds since 1970 have so many digits from 2001 to 2286. */
const MILLIS_DIGITS = 13;
/** Longer texts are no numbers, times or words of a severity. */
const SHORT_MAX_BYTES = 64;
const FLOAT = /^-?(?:0|[1-9]\d{0,18})(?:\.\d{1,32})?(?:[eE][+-]?\d{1,3})?$/;
/** Shorter numbers are no time that matters. */
const EPOCH = /^\d{9,19}(?:\.\d{1,9})?$/;

/** By number, 0 to 10. */
const SEVERITY_LEVELS: readonly Level[] = [
  "info",
  "info",
  "info",
  "info",
  "warn",
  "warn",
  "warn",
  "error",
  "error",
  "fatal",
  "fatal",
];
/** The words of the standard; its "Unknown" is none of our levels. */
const SEVERITY_WORDS: ReadonlyMap<string, Level> = new Map([
  ["low", "info"],
  ["medium", "warn"],
  ["high", "error"],
  ["very-high", "fatal"],
  ["very high", "fatal"],
  ["veryhigh", "fatal"],
]);
const SEVERITY_NUMBER = /^\d{1,2}(?:\.\d{1,9})?$/;

const decoder = new TextDecoder();

/** The level of a header's severity: 0-3 info, 4-6 warn, 7-8 error, 9-10 fatal, or a word; null when it says none. */
export function levelOfCefSeverity(range: ByteRange): Level | null {
  const { bytes, start, end } = range;
  if (end - start === 1) {
    const digit = (bytes[start] ?? 0) - DIGIT_ZERO;
    if (digit >= 0 && digit <= 9) return SEVERITY_LEVELS[digit] ?? null;
  }
  const text = shortText(range);
  if (SEVERITY_NUMBER.test(text)) return SEVERITY_LEVELS[Math.floor(Number(text))] ?? null;
  return SEVERITY_WORDS.get(text.toLowerCase()) ?? levelOfText(text);
}

/** Whether a value of this kind is a number as JSON writes them. */
export function isJsonNumber(range: ByteRange, kind: CefKind): boolean {
  if (kind === "text") return false;
  return kind === "integer" ? isInteger(range) : FLOAT.test(shortText(range));
}

function isInteger({ bytes, start, end }: ByteRange): boolean {
  const first = bytes[start] === MINUS ? start + 1 : start;
  const digits = end - first;
  if (digits < 1 || digits > INTEGER_MAX_DIGITS) return false;
  // A leading zero means something to whoever wrote it, and JSON has none.
  if (digits > 1 && bytes[first] === DIGIT_ZERO) return false;
  return areDigits(bytes, first, end);
}

/**
 * Writes the time that a value says: milliseconds since 1970, or `MMM dd [yyyy] HH:mm:ss[.SSS] [zone]`, or ISO 8601. A
 * zone that is not known, or none, counts as UTC. False, and nothing written, when it is no time.
 */
export function writeCefTime(writer: RecordWriter, range: ByteRange, nowMs: number): boolean {
  const { bytes, start, end } = range;
  if (start === end) return false;
  if (end - start === MILLIS_DIGITS && areDigits(bytes, start, end))
    return writer.timeParts(numberOf(bytes, start, end - 3), numberOf(bytes, end - 3, end) * 1_000_000);
  const text = shortText(range).trim();
  if (EPOCH.test(text)) return writer.timeEpoch(text);
  const time = readMonthTime(text, 0, nowMs) ?? readIsoTime(text, 0);
  if (time === null) return false;
  const zone = text.slice(time.end).trim();
  return writer.timeParts(time.seconds - (zoneOffset(zone) ?? 0), time.nanos);
}

/** The text of a range; the empty text when it is long. */
function shortText({ bytes, start, end }: ByteRange): string {
  return end - start > SHORT_MAX_BYTES ? "" : decoder.decode(bytes.subarray(start, end));
}

function areDigits(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const digit = (bytes[at] ?? 0) - DIGIT_ZERO;
    if (digit < 0 || digit > 9) return false;
  }
  return true;
}

function numberOf(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at++) value = value * 10 + (bytes[at] ?? 0) - DIGIT_ZERO;
  return value;
}
