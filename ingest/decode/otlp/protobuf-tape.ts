import { IngestRejectedError } from "../../errors.ts";
import {
  JSON_ARRAY,
  JSON_ESCAPED_STRING,
  JSON_FALSE,
  JSON_NUMBER,
  JSON_OBJECT,
  JSON_STRING,
  JSON_TRUE,
  type JsonTape,
} from "../json-tape.ts";
import { FIXED64, LENGTH, ProtobufReader, VARINT } from "../protobuf-reader.ts";
import type { NamePlace, ProtobufField, ProtobufMessage } from "./protobuf-schema.ts";
import * as schema from "./protobuf-schema.ts";
import { ESCAPED_TEXT, NO_TEXT, ProtobufText, textKind } from "./protobuf-text.ts";

/** Values within one another, as many as the JSON encoding may have. */
const VALUES_MAX_DEPTH = 100;
/** What a JSON body of the largest size can hold; a field that repeats needs two bytes for as many tokens. */
const TOKENS_MAX_COUNT = 10_000_000;
/** Bytes of a body and of what it says otherwise than JSON: several times the largest body. */
const TEXT_MAX_BYTES = 96 * 1024 * 1024;

/** The fields of an AnyValue, and of a KeyValue. */
const STRING = 1;
const BOOL = 2;
const INT = 3;
const DOUBLE = 4;
const ARRAY = 5;
const KVLIST = 6;
const BYTES = 7;
const KEY_NUMBER = 1;
const VALUE_NUMBER = 2;

/**
 * Puts a protobuf message on a tape as its JSON encoding would be read: the same tokens in the same order, so that
 * whoever reads the tape need not know which it was. Fields that the schema does not name are left out; of a oneof
 * that is given several times the last one counts.
 */
export class ProtobufTape {
  readonly #tape: JsonTape;
  readonly #reader = new ProtobufReader();
  readonly #text = new ProtobufText();

  constructor(tape: JsonTape) {
    this.#tape = tape;
  }

  /** Throws IngestRejectedError for bytes that are no such message. */
  read(message: ProtobufMessage, body: Uint8Array): void {
    this.#tape.clear();
    this.#text.open(schema.NAMES, body);
    this.#reader.open(body);
    try {
      this.#readMessage(message, 0, body.length);
      this.#tape.use(this.#text.view());
    } finally {
      this.#reader.release();
    }
  }

  #readMessage(message: ProtobufMessage, start: number, end: number): void {
    const tape = this.#tape;
    const reader = this.#reader;
    const object = tape.add(JSON_OBJECT, 0, 0);
    let listed = 0;
    reader.at = start;
    while (reader.next(end)) {
      const field = message[reader.field];
      if (field === undefined || (listed & field.bit) !== 0) continue;
      reader.expect(field.wire);
      listed |= field.bit;
      const { at } = reader;
      this.#readField(field, end);
      reader.at = at;
    }
    tape.ends[object] = tape.count;
    if (tape.count > TOKENS_MAX_COUNT || this.#text.length > TEXT_MAX_BYTES) throw tooMuch();
  }

  /** Reads the field that the reader has just met, in a message that ends at `end`. */
  #readField(field: ProtobufField, end: number): void {
    const tape = this.#tape;
    const reader = this.#reader;
    const text = this.#text;
    const { low, high, start, stop } = reader;
    tape.add(JSON_STRING, field.nameStart, field.nameEnd);
    switch (field.kind) {
      case schema.TEXT_FIELD:
        this.#addText(start, stop, false);
        break;
      case schema.HEX_FIELD:
        tape.add(JSON_STRING, text.hex(reader.source, start, stop), text.length);
        break;
      case schema.UNSIGNED_FIELD:
        tape.add(JSON_NUMBER, text.unsigned(low, high), text.length);
        break;
      case schema.SIGNED_FIELD:
        tape.add(JSON_NUMBER, text.signed(low, high), text.length);
        break;
      case schema.DOUBLE_FIELD:
        this.#addDouble(reader.view.getFloat64(reader.at - 8, true));
        break;
      case schema.BOOL_FIELD:
        this.#addBool(low !== 0 || high !== 0);
        break;
      case schema.MESSAGE_FIELD:
        this.#readMessage(field.message, start, stop);
        break;
      case schema.ANY_VALUE_FIELD:
        this.#readAnyValue(start, stop, 0);
        break;
      case schema.REPEATED_FIELD:
      case schema.KEY_VALUES_FIELD:
        this.#readList(field, end);
    }
  }

  /** Reads all that a message has of a field that repeats, from the first one, which has just been met. */
  #readList(field: ProtobufField, end: number): void {
    const tape = this.#tape;
    const reader = this.#reader;
    const number = reader.field;
    const list = tape.add(JSON_ARRAY, 0, 0);
    do {
      if (reader.field !== number) continue;
      reader.expect(LENGTH);
      const { start, stop } = reader;
      if (field.kind === schema.KEY_VALUES_FIELD) this.#readKeyValue(start, stop, 0);
      else this.#readMessage(field.message, start, stop);
      reader.at = stop;
    } while (reader.next(end));
    tape.ends[list] = tape.count;
  }

  #readKeyValue(start: number, end: number, depth: number): void {
    const tape = this.#tape;
    const reader = this.#reader;
    const object = tape.add(JSON_OBJECT, 0, 0);
    reader.at = start;
    while (reader.next(end)) {
      if (reader.field === KEY_NUMBER) {
        reader.expect(LENGTH);
        this.#addName(schema.KEY);
        this.#addText(reader.start, reader.stop, depth > 0);
      } else if (reader.field === VALUE_NUMBER) {
        reader.expect(LENGTH);
        const { stop } = reader;
        this.#addName(schema.VALUE);
        this.#readAnyValue(reader.start, stop, depth);
        reader.at = stop;
      }
    }
    tape.ends[object] = tape.count;
  }

  #readAnyValue(start: number, end: number, depth: number): void {
    if (depth > VALUES_MAX_DEPTH)
      throw this.#reader.malformed(`values nest deeper than ${VALUES_MAX_DEPTH} levels`);
    const tape = this.#tape;
    const reader = this.#reader;
    const object = tape.add(JSON_OBJECT, 0, 0);
    let field = 0;
    reader.at = start;
    // Almost every value is one field.
    while (reader.next(end)) if (reader.field >= STRING && reader.field <= BYTES) field = reader.field;
    if (field !== 0) {
      if (reader.field !== field) this.#readLast(field, start, end);
      this.#addAnyValue(field, depth);
    }
    tape.ends[object] = tape.count;
  }

  /** Reads again up to the last field of a number. */
  #readLast(field: number, start: number, end: number): void {
    const reader = this.#reader;
    let last = start;
    reader.at = start;
    for (let at = start; reader.next(end); at = reader.at) if (reader.field === field) last = at;
    reader.at = last;
    reader.next(end);
  }

  #addAnyValue(field: number, depth: number): void {
    const tape = this.#tape;
    const reader = this.#reader;
    const text = this.#text;
    const { low, high, start, stop } = reader;
    switch (field) {
      case STRING:
        reader.expect(LENGTH);
        this.#addName(schema.STRING_VALUE);
        this.#addText(start, stop, depth > 0);
        break;
      case BOOL:
        reader.expect(VARINT);
        this.#addName(schema.BOOL_VALUE);
        this.#addBool(low !== 0 || high !== 0);
        break;
      case INT:
        reader.expect(VARINT);
        this.#addName(schema.INT_VALUE);
        tape.add(JSON_NUMBER, text.signed(low, high), text.length);
        break;
      case DOUBLE:
        reader.expect(FIXED64);
        this.#addName(schema.DOUBLE_VALUE);
        this.#addDouble(reader.view.getFloat64(reader.at - 8, true));
        break;
      case BYTES:
        reader.expect(LENGTH);
        this.#addName(schema.BYTES_VALUE);
        tape.add(JSON_STRING, text.base64(reader.source, start, stop), text.length);
        break;
      default:
        reader.expect(LENGTH);
        this.#addName(field === ARRAY ? schema.ARRAY_VALUE : schema.KVLIST_VALUE);
        this.#readValues(field, start, stop, depth + 1);
    }
  }

  /** Reads an ArrayValue or a KeyValueList: an object with the list of its values. */
  #readValues(field: number, start: number, end: number, depth: number): void {
    const tape = this.#tape;
    const reader = this.#reader;
    const object = tape.add(JSON_OBJECT, 0, 0);
    this.#addName(schema.VALUES);
    const list = tape.add(JSON_ARRAY, 0, 0);
    reader.at = start;
    while (reader.next(end)) {
      if (reader.field !== 1) continue;
      reader.expect(LENGTH);
      const { stop } = reader;
      if (field === KVLIST) this.#readKeyValue(reader.start, stop, depth);
      else this.#readAnyValue(reader.start, stop, depth);
      reader.at = stop;
    }
    tape.ends[list] = tape.count;
    tape.ends[object] = tape.count;
  }

  #addName({ start, end }: NamePlace): void {
    this.#tape.add(JSON_STRING, start, end);
  }

  #addBool(value: boolean): void {
    const { start, end } = value ? schema.TRUE : schema.FALSE;
    this.#tape.add(value ? JSON_TRUE : JSON_FALSE, start, end);
  }

  #addDouble(value: number): void {
    const start = this.#text.ascii(String(value));
    this.#tape.add(Number.isFinite(value) ? JSON_NUMBER : JSON_STRING, start, this.#text.length);
  }

  /** Adds a string of the message; one that may be written into JSON as it stands is escaped where that needs it. */
  #addText(start: number, stop: number, isNested: boolean): void {
    const tape = this.#tape;
    const text = this.#text;
    const { source, view } = this.#reader;
    const kind = textKind(source, view, start, stop);
    if (kind === NO_TEXT) {
      const from = text.readable(source, start, stop);
      if (!isNested) {
        tape.add(JSON_STRING, from, text.length);
        return;
      }
      const escaped = text.escapeFrom(from);
      tape.add(JSON_ESCAPED_STRING, escaped, text.endEscaped());
    } else if (kind === ESCAPED_TEXT && isNested) {
      const escaped = text.escaped(source, start, stop);
      tape.add(JSON_ESCAPED_STRING, escaped, text.endEscaped());
    } else tape.add(JSON_STRING, schema.NAMES.length + start, schema.NAMES.length + stop);
  }
}

function tooMuch(): IngestRejectedError {
  const message = "the request holds too many values; send it in parts";
  return new IngestRejectedError(message, [{ path: "", code: "too_big", message }]);
}
