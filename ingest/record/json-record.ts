import { isJsonObject, type JsonObject, numberText } from "../decode/json-body.ts";
import type { Level } from "../log-batch.ts";
import {
  dialectOf,
  type KnownKey,
  knownIn,
  knownInside,
  type LevelScale,
  type RecordDialect,
  type RecordField,
  scaleIn,
} from "./json-record-keys.ts";
import { levelOfNumber, levelOfText } from "./levels.ts";
import type { RecordFields } from "./record-fields.ts";

/** Nothing but durations and counters are below: as seconds it is March 1973. */
const EPOCH_MIN = 100_000_000;
/** Whole digits with which no number is below it. */
export const EPOCH_MIN_DIGITS = 9;

/** A date-time without an offset: `2026-01-31 23:59:59,123`, as many loggers write it. */
const WITHOUT_OFFSET = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?$/;

/** log4j2's JsonLayout writes the time as an object of seconds and nanoseconds. */
export const INSTANT = "instant";
const INSTANT_KEY: KnownKey = { field: "time", rank: 0, scale: "words" };

const NOTHING: ReadonlySet<RecordField> = new Set();

/** A place in the object that may say a field of the entry. */
interface Candidate {
  readonly known: KnownKey;
  readonly key: string;
  /** The key inside the object under `key`; null when the value stands right there. */
  readonly inner: string | null;
  readonly value: unknown;
}

/**
 * Writes a JSON log object of any logger into the record that is open in `writer`: what its keys say in one of the
 * well-known ways goes to the fields of the entry, everything else becomes attributes, flattened with dots. A value that
 * does not say its field (a time that cannot be read, a level nobody knows, a number of an uncertain scale) stays an
 * attribute under its own name. A date-time without an offset counts as UTC. Without a message the whole object, as
 * compact JSON, is the message. The fields in `given` have been written by the caller: here their keys are attributes.
 * The caller begins and ends the record. Answers the fields that are written now, those given included.
 */
export function writeJsonRecord(
  writer: RecordFields,
  record: JsonObject,
  given: ReadonlySet<RecordField> = NOTHING,
): ReadonlySet<RecordField> {
  const done = new Set(given);
  const used: Candidate[] = [];
  const dialect = dialectOf((key) => Object.hasOwn(record, key));
  for (const candidate of candidatesOf(record, dialect)) {
    const { field } = candidate.known;
    const scale = scaleIn(candidate.known, dialect);
    if (done.has(field) || !writeField(writer, field, scale, candidate.value)) continue;
    done.add(field);
    used.push(candidate);
  }
  if (!done.has("message")) writer.message(JSON.stringify(record));
  done.add("message");
  // Keys rather than entries, here and below: twice as fast, and this runs for every record.
  for (const key of Object.keys(record)) {
    const value = record[key];
    if (!used.some((candidate) => candidate.key === key)) writeAttribute(writer, key, value);
    else if (isJsonObject(value)) writeRest(writer, key, value, used);
  }
  return done;
}

/** Every place that may say a field, best first. */
function candidatesOf(record: JsonObject, dialect: RecordDialect): Candidate[] {
  const candidates: Candidate[] = [];
  for (const key of Object.keys(record)) {
    const value = record[key];
    if (!isJsonObject(value)) {
      const known = knownIn(key, dialect);
      if (known !== undefined) candidates.push({ known, key, inner: null, value });
      continue;
    }
    if (key === INSTANT && instantOf(value) !== null) {
      candidates.push({ known: INSTANT_KEY, key, inner: null, value });
      continue;
    }
    const inside = knownInside(key);
    if (inside === undefined) continue;
    for (const inner of Object.keys(value)) {
      const known = inside(inner);
      if (known !== undefined) candidates.push({ known, key, inner, value: value[inner] });
    }
  }
  return candidates.sort((a, b) => a.known.rank - b.known.rank);
}

/** Writes a field if the value says it. */
export function writeField(
  writer: RecordFields,
  field: RecordField,
  scale: LevelScale,
  value: unknown,
): boolean {
  switch (field) {
    case "time":
      return isJsonObject(value) ? writeInstant(writer, value) : writeTime(writer, value);
    case "level": {
      const level = levelOf(value, scale);
      if (level !== null) writer.level(level);
      return level !== null;
    }
    case "message": {
      const text = typeof value === "string" ? value.replace(/\r?\n$/, "") : (numberText(value) ?? "");
      if (text !== "") writer.message(text);
      return text !== "";
    }
    case "service":
      return writeText(value, (text) => writer.service(text));
    case "logger":
      return writeText(value, (text) => writer.attribute("logger", text));
    case "source":
      return writeText(value, (text) => writer.source(text));
    case "host":
      return writeText(value, (text) => writer.host(text));
    case "traceId":
      return writeHex(value, TRACE_ID, (text) => writer.traceId(text));
    case "spanId":
      return writeHex(value, SPAN_ID, (text) => writer.spanId(text));
  }
}

const TRACE_ID = /^(?:[0-9a-f]{16}|[0-9a-f]{32})$/i;
const SPAN_ID = /^[0-9a-f]{16}$/i;

function writeText(value: unknown, write: (text: string) => void): boolean {
  if (typeof value !== "string" || value === "") return false;
  write(value);
  return true;
}

function writeHex(value: unknown, form: RegExp, write: (text: string) => void): boolean {
  if (typeof value !== "string" || !form.test(value)) return false;
  write(value.toLowerCase());
  return true;
}

/**
 * Writes the time that a value of a JSON log says: RFC 3339, the same without an offset (UTC), or an epoch number by
 * magnitude, as a number or as text. False, and nothing written, for anything else.
 */
export function writeTime(writer: RecordFields, value: unknown): boolean {
  const digits =
    numberText(value) ?? (typeof value === "string" && /^\d+(?:\.\d+)?$/.test(value) ? value : null);
  if (digits !== null) return Number(digits) >= EPOCH_MIN && writer.timeEpoch(digits);
  if (typeof value !== "string") return false;
  if (WITHOUT_OFFSET.test(value)) return writer.timeLocal(value.replace(",", "."));
  return writer.timeIso(value);
}

function instantOf(value: JsonObject): { seconds: number; nanos: number } | null {
  const { epochSecond: seconds, nanoOfSecond: nanos = 0 } = value;
  if (typeof seconds !== "number" || typeof nanos !== "number" || nanos < 0 || nanos > 999_999_999)
    return null;
  return Number.isInteger(seconds) && Number.isInteger(nanos) ? { seconds, nanos } : null;
}

function writeInstant(writer: RecordFields, value: JsonObject): boolean {
  const instant = instantOf(value);
  return instant !== null && writer.timeParts(instant.seconds, instant.nanos);
}

function levelOf(value: unknown, scale: LevelScale): Level | null {
  const text = numberText(value) ?? (typeof value === "string" ? value : null);
  if (text === null) return null;
  if (!/^\d{1,3}$/.test(text)) return typeof value === "string" ? levelOfText(value) : null;
  return scale === "words" ? null : levelOfNumber(Number(text), scale);
}

function writeAttribute(writer: RecordFields, key: string, value: unknown): void {
  if (isJsonObject(value) && Object.keys(value).length > 0) writer.attributes(`${key}.`, value);
  else writer.attribute(key, value);
}

/** The attributes of the object under a key of which some values have become fields. */
function writeRest(writer: RecordFields, key: string, value: JsonObject, used: readonly Candidate[]): void {
  for (const inner of Object.keys(value)) {
    const isUsed = used.some((candidate) => candidate.key === key && (candidate.inner ?? inner) === inner);
    if (!isUsed) writeAttribute(writer, `${key}.${inner}`, value[inner]);
  }
}
