import {
  ATTRIBUTE_KEY_MAX_CHARS,
  ATTRIBUTE_VALUE_MAX_BYTES,
  ATTRIBUTES_MAX_COUNT,
  BATCH_MAX_ENTRIES,
  EVENT_ID_MAX_CHARS,
  HOST_MAX_CHARS,
  MESSAGE_MAX_CHARS,
  SERVICE_MAX_CHARS,
  SOURCE_MAX_CHARS,
} from "../limits.ts";
import type { LogBatch } from "../log-batch.ts";
import { LEVEL_NUMBERS } from "../log-batch.ts";
import { ByteBuffer } from "../native/byte-buffer.ts";
import type { LowCardinalityColumn } from "../native/low-cardinality-column.ts";
import { levelOfBytes } from "../record/levels.ts";
import { appendEpochTimestamp, appendIsoTimestamp } from "../timestamp.ts";
import { JsonScanner } from "./json-scanner.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const LETTER_N = 0x6e;

/** Levels around an attribute's value: the array, the entry, its attributes. */
const ATTRIBUTE_DEPTH = 3;

/** One bit for every field of an entry, to notice a field that comes twice. */
const FIELDS = {
  message: 1,
  ts: 2,
  level: 4,
  service: 8,
  source: 16,
  host: 32,
  attrs: 64,
  event_id: 128,
} as const;
type FieldName = keyof typeof FIELDS;

const FIELD_NAMES = asciiTable(Object.keys(FIELDS) as FieldName[]);

/**
 * Decodes the native format, one entry or an array of 1 to 500, straight from the request's bytes into columns.
 *
 * It accepts what is plainly right and says nothing about the rest: anything invalid, and the few valid things that
 * need thought (a key given twice, a timestamp in exponent form), end in `false`. The caller then takes the rows back
 * and lets `explain` find out, slowly, what is the matter. So the common path carries no error handling at all.
 */
export class NativeJsonDecoder {
  readonly #scanner = new JsonScanner();
  readonly #value = new ByteBuffer(1024);
  /** Key number in the batch's dictionary -> the entry that used it last; finds a key given twice. */
  #keyUses = new Uint32Array(1024);
  #entrySerial = 0;

  /** Appends the body's entries to `batch`. False when the body needs explaining; rows may have been appended then. */
  decode(body: Uint8Array, batch: LogBatch): boolean {
    const scanner = this.#scanner;
    scanner.reset(body);
    if (scanner.peek() !== OPEN_BRACKET) return this.#readEntry(batch) && scanner.peek() === -1;
    scanner.at++;
    for (let entries = 1; entries <= BATCH_MAX_ENTRIES; entries++) {
      if (!this.#readEntry(batch)) return false;
      const next = scanner.peek();
      scanner.at++;
      if (next === CLOSE_BRACKET) return scanner.peek() === -1;
      if (next !== COMMA) return false;
    }
    return false;
  }

  #readEntry(batch: LogBatch): boolean {
    const scanner = this.#scanner;
    if (!scanner.take(OPEN_BRACE)) return false;
    this.#startEntry();
    let seen = 0;
    for (;;) {
      if (scanner.peek() !== QUOTE || !scanner.readString()) return false;
      const field = lookUp(FIELD_NAMES, scanner);
      if (field === undefined || !scanner.take(COLON)) return false;
      const bit = FIELDS[field];
      if ((seen & bit) !== 0) return false;
      seen |= bit;
      if (!this.#readField(field, batch)) return false;
      const next = scanner.peek();
      scanner.at++;
      if (next === CLOSE_BRACE) break;
      if (next !== COMMA) return false;
    }
    if ((seen & FIELDS.message) === 0) return false;
    batch.endRow();
    return true;
  }

  #startEntry(): void {
    // Serial 0 means "never used"; when the counter wraps, old marks must not look new.
    if (this.#entrySerial === 0xffffffff) {
      this.#keyUses.fill(0);
      this.#entrySerial = 0;
    }
    this.#entrySerial++;
  }

  #readField(field: FieldName, batch: LogBatch): boolean {
    const scanner = this.#scanner;
    if (field === "attrs") return this.#readAttributes(batch);
    if (field === "ts") return this.#readTimestamp(batch);
    if (scanner.peek() !== QUOTE || !scanner.readString()) return false;
    switch (field) {
      case "message":
        if (scanner.stringChars < 1 || scanner.stringChars > MESSAGE_MAX_CHARS) return false;
        batch.message.appendSlice(scanner.stringBytes, scanner.stringStart, scanner.stringEnd);
        return true;
      case "event_id":
        if (scanner.stringChars < 1 || scanner.stringChars > EVENT_ID_MAX_CHARS) return false;
        batch.eventId.appendSlice(scanner.stringBytes, scanner.stringStart, scanner.stringEnd);
        return true;
      case "level": {
        const level = levelOfBytes(scanner.stringBytes, scanner.stringStart, scanner.stringEnd);
        if (level === null) return false;
        batch.level.append(LEVEL_NUMBERS[level]);
        return true;
      }
      case "service":
        return this.#appendName(batch.service, 1, SERVICE_MAX_CHARS);
      case "source":
        return this.#appendName(batch.source, 0, SOURCE_MAX_CHARS);
      case "host":
        return this.#appendName(batch.host, 0, HOST_MAX_CHARS);
    }
  }

  #appendName(column: LowCardinalityColumn, minChars: number, maxChars: number): boolean {
    const scanner = this.#scanner;
    if (scanner.stringChars < minChars || scanner.stringChars > maxChars) return false;
    column.appendSlice(scanner.stringBytes, scanner.stringStart, scanner.stringEnd);
    return true;
  }

  #readTimestamp(batch: LogBatch): boolean {
    const scanner = this.#scanner;
    if (scanner.peek() === QUOTE) {
      return (
        scanner.readString() &&
        appendIsoTimestamp(batch.ts, scanner.stringBytes, scanner.stringStart, scanner.stringEnd)
      );
    }
    const start = scanner.at;
    if (!scanner.readNumber()) return false;
    for (let i = start; i < scanner.at; i++) {
      const c = scanner.source[i] ?? 0;
      if (c < 0x30 || c > 0x39) return false;
    }
    return appendEpochTimestamp(batch.ts, scanner.source, start, scanner.at);
  }

  #readAttributes(batch: LogBatch): boolean {
    const scanner = this.#scanner;
    const { keys, values } = batch.attrs;
    if (!scanner.take(OPEN_BRACE)) return false;
    let empty = scanner.take(CLOSE_BRACE);
    for (let count = 0; !empty; count++) {
      if (count === ATTRIBUTES_MAX_COUNT || scanner.peek() !== QUOTE || !scanner.readString()) return false;
      if (scanner.stringChars > ATTRIBUTE_KEY_MAX_CHARS) return false;
      const { stringBytes, stringStart, stringEnd } = scanner;
      if (!this.#markKey(keys.appendSlice(stringBytes, stringStart, stringEnd))) return false;
      // The key is needed a second time for values that are not strings, and reading the value may overwrite it.
      if (stringBytes === scanner.source) {
        if (!scanner.take(COLON)) return false;
        if (scanner.peek() !== QUOTE)
          batch.attrJsonKeys.elements.appendSlice(stringBytes, stringStart, stringEnd);
      } else {
        const key = stringBytes.slice(stringStart, stringEnd);
        if (!scanner.take(COLON)) return false;
        if (scanner.peek() !== QUOTE) batch.attrJsonKeys.elements.appendSlice(key, 0, key.length);
      }
      if (scanner.peek() === QUOTE) {
        if (!scanner.readString() || scanner.stringEnd - scanner.stringStart > ATTRIBUTE_VALUE_MAX_BYTES)
          return false;
        values.appendSlice(scanner.stringBytes, scanner.stringStart, scanner.stringEnd);
      } else {
        this.#value.clear();
        if (
          !scanner.copyValue(this.#value, ATTRIBUTE_DEPTH) ||
          this.#value.length > ATTRIBUTE_VALUE_MAX_BYTES
        )
          return false;
        // A null is an empty text, like a value that is not there: only that its key is among the JSON keys shows it.
        const isNull = this.#value.bytes[0] === LETTER_N;
        values.appendSlice(this.#value.bytes, 0, isNull ? 0 : this.#value.length);
      }
      const next = scanner.peek();
      scanner.at++;
      if (next === CLOSE_BRACE) empty = true;
      else if (next !== COMMA) return false;
    }
    batch.attrs.endRow();
    batch.attrJsonKeys.endRow();
    return true;
  }

  /** Notes that the present entry uses a key; false when it did already. */
  #markKey(key: number): boolean {
    if (key >= this.#keyUses.length) {
      const grown = new Uint32Array(Math.max(key + 1, this.#keyUses.length * 2));
      grown.set(this.#keyUses);
      this.#keyUses = grown;
    }
    if (this.#keyUses[key] === this.#entrySerial) return false;
    this.#keyUses[key] = this.#entrySerial;
    return true;
  }
}

interface AsciiName<N extends string> {
  name: N;
  bytes: Uint8Array;
}

/** The names grouped by length, for a look-up by bytes that compares with one or two candidates only. */
function asciiTable<N extends string>(names: readonly N[]): ReadonlyArray<readonly AsciiName<N>[]> {
  const longest = Math.max(...names.map((name) => name.length));
  const encoder = new TextEncoder();
  return Array.from({ length: longest + 1 }, (_, length) =>
    names.filter((name) => name.length === length).map((name) => ({ name, bytes: encoder.encode(name) })),
  );
}

/** The name that the scanner's last string spells, if it is in the table. */
function lookUp<N extends string>(
  table: ReadonlyArray<readonly AsciiName<N>[]>,
  { stringBytes, stringStart, stringEnd }: JsonScanner,
): N | undefined {
  const length = stringEnd - stringStart;
  if (length >= table.length) return undefined;
  const candidates = table[length];
  if (candidates === undefined) return undefined;
  for (let i = 0; i < candidates.length; i++) {
    const candidate = candidates[i];
    if (candidate === undefined) continue;
    let at = 0;
    while (at < length && candidate.bytes[at] === stringBytes[stringStart + at]) at++;
    if (at === length) return candidate.name;
  }
  return undefined;
}
