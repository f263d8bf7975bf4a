import {
  JSON_ARRAY,
  JSON_ESCAPED_STRING,
  JSON_NULL,
  JSON_NUMBER,
  JSON_OBJECT,
  JSON_STRING,
  type JsonTape,
} from "../json-tape.ts";
import { FieldName, FieldNames } from "./field-names.ts";

/** What an AnyValue holds. */
export const NOTHING = 0;
/** Text: the token is a string. */
export const TEXT = 1;
/** A number or a boolean: the token's text is its JSON text. */
export const PLAIN = 2;
/** The token is the array of the AnyValues, 0 for none. */
export const LIST = 3;
/** The token is the array of the KeyValues, 0 for none. */
export const KEY_VALUES = 4;

const VALUE_FIELDS = new FieldNames([
  "stringValue",
  "intValue",
  "doubleValue",
  "boolValue",
  "bytesValue",
  "arrayValue",
  "kvlistValue",
]);
const INT_VALUE = 1;
const DOUBLE_VALUE = 2;
const ARRAY_VALUE = 5;
const KEY_VALUE_FIELDS = new FieldNames(["key", "value"]);
const KEY = 0;
const VALUE = 1;
const KEY_NAME = new FieldName("key");
const VALUE_NAME = new FieldName("value");
const STRING_VALUE_NAME = new FieldName("stringValue");
const LIST_FIELDS = new FieldNames(["values"]);

/** KeyValues as they were found valid: for each the token of its name, what its value holds and that one's token. */
export class KeyValues {
  count = 0;
  names = new Uint32Array(64);
  kinds = new Uint8Array(64);
  tokens = new Uint32Array(64);

  add(name: number, kind: number, token: number): void {
    const at = this.count++;
    if (at === this.names.length) this.#grow();
    this.names[at] = name;
    this.kinds[at] = kind;
    this.tokens[at] = token;
  }

  /** Twice the room. There is never more than a token in the tape for each. */
  #grow(): void {
    const { names, kinds, tokens } = this;
    this.names = new Uint32Array(names.length * 2);
    this.names.set(names);
    this.kinds = new Uint8Array(names.length * 2);
    this.kinds.set(kinds);
    this.tokens = new Uint32Array(names.length * 2);
    this.tokens.set(tokens);
  }
}

/**
 * Reads the AnyValues and KeyValues of OTLP from a tape. What is of another shape than the protocol's is a problem;
 * a scalar of another type than its field says keeps its own type, because nothing is lost with that.
 */
export class AnyValues {
  readonly tape: JsonTape;
  /** After `read`: what the value holds, and where. */
  kind = NOTHING;
  token = 0;
  /** After a false answer: what is wrong, and where below the token that was read. */
  problem = "";
  place = "";

  readonly #keyValue = new Uint32Array(KEY_VALUE_FIELDS.count);
  readonly #list = new Uint32Array(LIST_FIELDS.count);

  constructor(tape: JsonTape) {
    this.tape = tape;
  }

  /** Reads the array of KeyValues at `token`, 0 for none, with everything below it. False for a problem. */
  readAll(token: number, into: KeyValues): boolean {
    into.count = 0;
    if (token === 0) return true;
    const { tape } = this;
    if (tape.kinds[token] !== JSON_ARRAY) return this.#fail("is not an array");
    const end = tape.ends[token] ?? 0;
    for (let item = token + 1; item < end; item = tape.next(item)) {
      // Almost all are written alike; what is not, or wrong, is looked at again with care.
      const isUsual = this.#isUsual(item);
      if (isUsual && this.#isUsualText(item + 4)) {
        into.add(item + 2, TEXT, item + 6);
        continue;
      }
      const name = isUsual && this.read(item + 4) ? item + 2 : this.readKeyValue(item);
      if (name < 0) return this.#failAt(String(into.count));
      into.add(name, this.kind, this.token);
      if (this.kind >= LIST && !this.check(this.kind, this.token))
        return this.#failAt(`${into.count - 1}/value`);
    }
    return true;
  }

  /** Whether a KeyValue is written `{"key": ..., "value": {...}}`: its name is the second token after it, its value the fourth. */
  #isUsual(item: number): boolean {
    const { kinds, starts, ends, view } = this.tape;
    return (
      kinds[item] === JSON_OBJECT &&
      kinds[item + 4] === JSON_OBJECT &&
      ends[item] === ends[item + 4] &&
      kinds[item + 1] === JSON_STRING &&
      kinds[item + 2] === JSON_STRING &&
      kinds[item + 3] === JSON_STRING &&
      KEY_NAME.isAt(view, starts[item + 1] ?? 0) &&
      VALUE_NAME.isAt(view, starts[item + 3] ?? 0)
    );
  }

  /** Whether an AnyValue, an object, is written `{"stringValue": ...}`: the text is the second token after it. */
  #isUsualText(value: number): boolean {
    const { kinds, starts, ends, view } = this.tape;
    return (
      ends[value] === value + 3 &&
      kinds[value + 1] === JSON_STRING &&
      kinds[value + 2] === JSON_STRING &&
      STRING_VALUE_NAME.isAt(view, starts[value + 1] ?? 0)
    );
  }

  /** Reads a KeyValue, without what is below it, and answers the token of its name, 0 for the empty one; -1 for a problem. */
  readKeyValue(item: number): number {
    const { tape } = this;
    if (tape.kinds[item] !== JSON_OBJECT) return this.#failToken("is not an object");
    KEY_VALUE_FIELDS.read(tape, item, this.#keyValue);
    const name = this.#keyValue[KEY] ?? 0;
    const value = this.#keyValue[VALUE] ?? 0;
    if (name !== 0 && (tape.kinds[name] ?? 0) > JSON_ESCAPED_STRING) {
      this.place = "/key";
      this.problem = "is not a string";
      return -1;
    }
    if (!this.read(value)) {
      this.#failAt("value");
      return -1;
    }
    return name;
  }

  /** Reads the AnyValue at `token`, 0 for none, without what is below it. False for a problem. */
  read(token: number): boolean {
    this.kind = NOTHING;
    this.token = 0;
    if (token === 0) return true;
    const { tape } = this;
    if (tape.kinds[token] !== JSON_OBJECT) return this.#fail("is not an object");
    const end = tape.ends[token] ?? 0;
    for (let name = token + 1; name < end; name = tape.next(name + 1)) {
      if (tape.kinds[name + 1] === JSON_NULL) continue;
      const field = VALUE_FIELDS.find(tape, name);
      if (field >= 0) return this.#readField(field, name + 1);
    }
    return true;
  }

  /** Whether everything below a list is of the right shape. */
  check(kind: number, list: number): boolean {
    if (list === 0) return true;
    const { tape } = this;
    const end = tape.ends[list] ?? 0;
    let index = 0;
    for (let item = list + 1; item < end; item = tape.next(item)) {
      const isRead = kind === LIST ? this.read(item) : this.readKeyValue(item) >= 0;
      const place = `${kind === LIST ? "arrayValue" : "kvlistValue"}/values/${index}`;
      if (!isRead) return this.#failAt(place);
      if (this.kind >= LIST && !this.check(this.kind, this.token))
        return this.#failAt(kind === LIST ? place : `${place}/value`);
      index++;
    }
    return true;
  }

  #readField(field: number, value: number): boolean {
    const { tape } = this;
    const jsonKind = tape.kinds[value] ?? 0;
    if (field >= ARRAY_VALUE) {
      if (jsonKind !== JSON_OBJECT) return this.#fail("is not an object");
      LIST_FIELDS.read(tape, value, this.#list);
      const list = this.#list[0] ?? 0;
      if (list !== 0 && tape.kinds[list] !== JSON_ARRAY) return this.#fail("has values that are no array");
      this.kind = field === ARRAY_VALUE ? LIST : KEY_VALUES;
      this.token = list;
      return true;
    }
    if (jsonKind >= JSON_OBJECT) return this.#fail("is not a plain value");
    this.token = value;
    const isNumberText =
      jsonKind < JSON_NUMBER && (field === INT_VALUE || field === DOUBLE_VALUE) && this.isNumber(value);
    this.kind = isNumberText || jsonKind >= JSON_NUMBER ? PLAIN : TEXT;
    return true;
  }

  /** Whether a string is a number as JSON writes it. */
  isNumber(string: number): boolean {
    this.tape.readText(string);
    return isJsonNumber(this.tape.textBytes, this.tape.textStart, this.tape.textEnd);
  }

  #fail(problem: string): false {
    this.problem = problem;
    this.place = "";
    return false;
  }

  #failToken(problem: string): -1 {
    this.#fail(problem);
    return -1;
  }

  /** Says that the problem was met further down. */
  #failAt(place: string): false {
    this.place = `/${place}${this.place}`;
    return false;
  }
}

/** Whether `source[start, end)` is a number as JSON writes it. */
function isJsonNumber(source: Uint8Array, start: number, end: number): boolean {
  const integerStart = source[start] === 0x2d ? start + 1 : start;
  let at = digitsEnd(source, integerStart, end);
  const digits = at - integerStart;
  if (digits === 0 || (digits > 1 && source[integerStart] === 0x30)) return false;
  if (at < end && source[at] === 0x2e) {
    const fractionStart = ++at;
    at = digitsEnd(source, at, end);
    if (at === fractionStart) return false;
  }
  if (at < end && (source[at] === 0x65 || source[at] === 0x45)) {
    at++;
    if (at < end && (source[at] === 0x2b || source[at] === 0x2d)) at++;
    const exponentStart = at;
    at = digitsEnd(source, at, end);
    if (at === exponentStart) return false;
  }
  return at === end;
}

function digitsEnd(source: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end) {
    const c = source[at] ?? 0;
    if (c < 0x30 || c > 0x39) break;
    at++;
  }
  return at;
}
