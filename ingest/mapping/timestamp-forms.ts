import { numberText } from "../decode/json-body.ts";
import { Int64Column } from "../native/number-column.ts";
import type { RecordFields } from "../record/record-fields.ts";
import { appendEpoch, appendIsoText } from "../record/record-time.ts";
import { appendNanoseconds } from "../timestamp.ts";
import type { TimestampParse } from "./mapping.ts";

/** A time that the store can hold, ready to be written into a record. */
export type ReadTime = (writer: RecordFields) => void;

/** Numbers below are durations and counters; as seconds it is March 1973. Only `auto` has to tell them apart. */
const AUTO_EPOCH_MIN = 100_000_000;
const NANO_DIGITS = 9;
const EPOCH = /^(\d{1,19})(?:\.(\d{1,30}))?$/;

/** `2026-01-31T23:59:59,123 +0100`: a blank for the T, a comma, a blank before the offset, or no offset, which is UTC. */
const DATE_TIME =
  /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:[.,](\d{1,30}))? ?([Zz]|UTC|[+-]\d\d(?::?\d\d)?)?$/;
/** The time of access logs: `10/Oct/2026:13:55:36 +0000`. */
const COMMON_LOG = /^(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d{4})$/;
/** RFC 5322 and HTTP: `Tue, 22 Sep 2020 14:53:01 GMT`. */
const MAIL = /^(?:[A-Z][a-z]{2}, )?(\d{1,2}) ([A-Z][a-z]{2}) (\d{4}) (\d\d:\d\d:\d\d) (GMT|UTC|[+-]\d{4})$/;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** Says whether the store can hold a time before a record is begun. */
const probe = new Int64Column("DateTime64(9, 'UTC')");

/** Reads the time that a value says in the given form; null when it says none that the store can hold. */
export function readTimestamp(value: unknown, parse: TimestampParse): ReadTime | null {
  probe.clear();
  const digits = numberText(value) ?? (typeof value === "string" && EPOCH.test(value) ? value : null);
  switch (parse) {
    case "epoch_s":
      return digits === null ? null : readEpoch(digits, 0);
    case "epoch_ms":
      return digits === null ? null : readEpoch(digits, 3);
    case "iso":
      return typeof value === "string" ? readDateTime(value.trim()) : null;
    case "auto":
      if (digits !== null) return readEpochByMagnitude(digits);
      return typeof value === "string" ? readDateTime(value.trim()) : null;
  }
}

function readEpochByMagnitude(digits: string): ReadTime | null {
  if (Number(digits) < AUTO_EPOCH_MIN || !appendEpoch(probe, digits)) return null;
  return (writer) => writer.timeEpoch(digits);
}

/** A positive number whose last `subDigits` whole digits are fractions of a second. */
function readEpoch(digits: string, subDigits: number): ReadTime | null {
  const [, whole = "", fraction = ""] = EPOCH.exec(digits) ?? [];
  if (whole === "") return null;
  const padded = whole.padStart(subDigits + 1, "0");
  const seconds = Number(padded.slice(0, padded.length - subDigits));
  const below = padded.slice(padded.length - subDigits) + fraction;
  const nanos = Number(below.padEnd(NANO_DIGITS, "0").slice(0, NANO_DIGITS));
  if ((seconds === 0 && nanos === 0) || !appendNanoseconds(probe, seconds, nanos)) return null;
  return (writer) => writer.timeParts(seconds, nanos);
}

function readDateTime(text: string): ReadTime | null {
  const iso = isoOf(text);
  if (iso === null || !appendIsoText(probe, iso.hasZone ? iso.text : `${iso.text}Z`)) return null;
  return (writer) => (iso.hasZone ? writer.timeIso(iso.text) : writer.timeLocal(iso.text));
}

/** The same time in the form of RFC 3339, but for an offset that is not there. */
function isoOf(text: string): { readonly text: string; readonly hasZone: boolean } | null {
  const [, date, time, fraction, offset] = DATE_TIME.exec(text) ?? [];
  if (date !== undefined && time !== undefined) {
    const clock = `${date}T${time}${fraction === undefined ? "" : `.${fraction}`}`;
    return offset === undefined
      ? { text: clock, hasZone: false }
      : { text: clock + offsetOf(offset), hasZone: true };
  }
  const [, day = "", month = "", year, clock, zone] = COMMON_LOG.exec(text) ?? MAIL.exec(text) ?? [];
  const number = MONTHS.indexOf(month) + 1;
  if (number === 0) return null;
  const whole = `${year}-${String(number).padStart(2, "0")}-${day.padStart(2, "0")}T${clock}${offsetOf(zone)}`;
  return { text: whole, hasZone: true };
}

function offsetOf(zone: string | undefined): string {
  if (zone === undefined || /^[A-Za-z]/.test(zone)) return "Z";
  return zone.length === 3 ? `${zone}:00` : zone;
}
