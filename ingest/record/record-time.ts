import type { Int64Column } from "../native/number-column.ts";
import { appendIsoTimestamp, appendNanoseconds, NANOS_MAX_DIGITS, subSecondDigits } from "../timestamp.ts";

/** The longest date-time that makes sense, with room for more digits than a nanosecond has. */
const ISO_MAX_CHARS = 64;
const NANO_DIGITS = 9;
const POINT = 0x2e;
/** Digits of the largest unsigned integer of 64 bits. */
const UNIX_NANO_MAX_DIGITS = 20;
const EPOCH = /^(\d+)(?:\.(\d+))?$/;

const isoBytes = new Uint8Array(ISO_MAX_CHARS);

/** Appends an RFC 3339 date-time with an offset; false, and appends nothing, when it is none the store can hold. */
export function appendIsoText(column: Int64Column, text: string): boolean {
  if (text.length > ISO_MAX_CHARS) return false;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0x80) return false;
    isoBytes[i] = unit;
  }
  return appendIsoTimestamp(column, isoBytes, 0, text.length);
}

/**
 * Appends a positive number of seconds, milli-, micro- or nanoseconds since 1970, told apart by their magnitude, with
 * or without a fraction. False, and appends nothing, when it is none the store can hold.
 */
export function appendEpoch(column: Int64Column, value: number | string): boolean {
  const parts = epochParts(value);
  return parts !== null && appendNanoseconds(column, parts.seconds, parts.nanos);
}

/** The same for digits, perhaps with a point among them: `source[start, end)`. */
export function appendEpochBytes(
  column: Int64Column,
  source: Uint8Array,
  start: number,
  end: number,
): boolean {
  let wholeEnd = start;
  while (wholeEnd < end && source[wholeEnd] !== POINT) wholeEnd++;
  if (wholeEnd - start < 1 || wholeEnd - start > NANOS_MAX_DIGITS) return false;
  const secondsEnd = wholeEnd - subSecondDigits(wholeEnd - start);
  let seconds = 0;
  let nanos = 0;
  let missing = NANO_DIGITS;
  for (let at = start; at < end; at++) {
    if (at === wholeEnd) continue;
    const digit = (source[at] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) return false;
    if (at < secondsEnd) seconds = seconds * 10 + digit;
    else if (missing > 0) {
      nanos = nanos * 10 + digit;
      missing--;
    }
  }
  for (; missing > 0; missing--) nanos *= 10;
  return (seconds > 0 || nanos > 0) && appendNanoseconds(column, seconds, nanos);
}

/** Such a number in seconds since 1970 and nanoseconds; null when it is none. */
export function epochParts(value: number | string): { seconds: number; nanos: number } | null {
  const [, whole = "", fraction = ""] = EPOCH.exec(String(value)) ?? [];
  const digits = whole.length;
  if (digits === 0 || digits > NANOS_MAX_DIGITS) return null;
  const subDigits = subSecondDigits(digits);
  const seconds = Number(whole.slice(0, digits - subDigits));
  const nanos = Number(
    (whole.slice(digits - subDigits) + fraction).padEnd(NANO_DIGITS, "0").slice(0, NANO_DIGITS),
  );
  return seconds > 0 || nanos > 0 ? { seconds, nanos } : null;
}

/** Appends a positive whole number of nanoseconds since 1970; false, and appends nothing, when it is none. */
export function appendUnixNano(column: Int64Column, value: number | string): boolean {
  const text = String(value);
  if (!/^\d{1,20}$/.test(text)) return false;
  const seconds = Number(text.slice(0, -NANO_DIGITS));
  const nanos = Number(text.slice(-NANO_DIGITS));
  return (seconds > 0 || nanos > 0) && appendNanoseconds(column, seconds, nanos);
}

/** The same for ASCII digits `source[start, end)`. */
export function appendUnixNanoBytes(
  column: Int64Column,
  source: Uint8Array,
  start: number,
  end: number,
): boolean {
  const count = end - start;
  if (count < 1 || count > UNIX_NANO_MAX_DIGITS) return false;
  const wholeEnd = end - NANO_DIGITS;
  let seconds = 0;
  let nanos = 0;
  for (let i = start; i < end; i++) {
    const digit = (source[i] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) return false;
    if (i < wholeEnd) seconds = seconds * 10 + digit;
    else nanos = nanos * 10 + digit;
  }
  return (seconds > 0 || nanos > 0) && appendNanoseconds(column, seconds, nanos);
}
