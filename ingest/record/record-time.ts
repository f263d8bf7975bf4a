import type { Int64Column } from "../native/number-column.ts";
import { appendIsoTimestamp, appendNanoseconds } from "../timestamp.ts";

/** The longest date-time that makes sense, with room for more digits than a nanosecond has. */
const ISO_MAX_CHARS = 64;
const NANO_DIGITS = 9;
/** Digits of whole seconds; from here on an integer counts thousandths, millionths or billionths. */
const SECONDS_MAX_DIGITS = 11;
const INTEGER_MAX_DIGITS = 19;
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
  const [, whole = "", fraction = ""] = EPOCH.exec(String(value)) ?? [];
  const digits = whole.length;
  if (digits === 0 || digits > INTEGER_MAX_DIGITS) return false;
  const subDigits = digits <= SECONDS_MAX_DIGITS ? 0 : digits <= 14 ? 3 : digits <= 17 ? 6 : NANO_DIGITS;
  const seconds = Number(whole.slice(0, digits - subDigits));
  const nanos = Number(
    (whole.slice(digits - subDigits) + fraction).padEnd(NANO_DIGITS, "0").slice(0, NANO_DIGITS),
  );
  return (seconds > 0 || nanos > 0) && appendNanoseconds(column, seconds, nanos);
}

/** Appends a positive whole number of nanoseconds since 1970; false, and appends nothing, when it is none. */
export function appendUnixNano(column: Int64Column, value: number | string): boolean {
  const text = String(value);
  if (!/^\d{1,20}$/.test(text)) return false;
  const seconds = Number(text.slice(0, -NANO_DIGITS));
  const nanos = Number(text.slice(-NANO_DIGITS));
  return (seconds > 0 || nanos > 0) && appendNanoseconds(column, seconds, nanos);
}
