import { ATTRIBUTE_KEY_MAX_CHARS, JSON_MAX_DEPTH } from "../../limits.ts";
import { ByteBuffer } from "../../native/byte-buffer.ts";
import type { InheritedFields } from "../../record/inherited-fields.ts";
import { RecordWriter } from "../../record/record-writer.ts";
import { JSON_STRING, type JsonTape } from "../json-tape.ts";
import { type AnyValues, KEY_VALUES, type KeyValues, LIST, NOTHING, PLAIN, TEXT } from "./any-values.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const DOT = 0x2e;
/** Memory kept between requests. */
const KEEP_BYTES = 1024 * 1024;
const NULL = new TextEncoder().encode("null");
/** Bytes of a flattened name; its characters beyond the limit of a name are cut anyway. */
const NAME_MAX_BYTES = ATTRIBUTE_KEY_MAX_CHARS * 4;

/**
 * Writes AnyValues, which were found valid before, as attributes of the present record, or of what records inherit:
 * key-value lists flattened with dots, arrays as JSON arrays of plain values.
 */
export class AttributeOutput {
  readonly #values: AnyValues;
  readonly #tape: JsonTape;
  readonly #name = new ByteBuffer(256);
  readonly #json = new ByteBuffer(1024);
  #jsonDepth = 0;
  #writer = new RecordWriter();
  #inherited: InheritedFields | null = null;

  constructor(values: AnyValues) {
    this.#values = values;
    this.#tape = values.tape;
  }

  open(writer: RecordWriter): void {
    this.#writer = writer;
    this.#name.shrink(KEEP_BYTES);
    this.#json.shrink(KEEP_BYTES);
  }

  /** What is written goes to `inherited` from now on, or to the present record when null. */
  writeTo(inherited: InheritedFields | null): void {
    this.#inherited = inherited;
  }

  /** Writes all but the ones at two positions, -1 for none. */
  writeAll(all: KeyValues, except: number, exceptToo: number): void {
    const { names, kinds, tokens, count } = all;
    const tape = this.#tape;
    for (let i = 0; i < count; i++) {
      if (i === except || i === exceptToo) continue;
      const name = names[i] ?? 0;
      const kind = kinds[i] ?? NOTHING;
      const token = tokens[i] ?? 0;
      if (kind <= PLAIN && tape.kinds[name] === JSON_STRING) {
        this.#writeScalar(tape.source, tape.starts[name] ?? 0, tape.ends[name] ?? 0, kind, token);
        continue;
      }
      this.#name.clear();
      this.#appendName(name);
      this.#writeNamed(kind, token, 0);
    }
  }

  /** Writes the members of a list of KeyValues under a name, except the one whose value is the token `except`. */
  writeMembers(name: Uint8Array, list: number, except: number): void {
    if (list === 0) return;
    this.#name.clear();
    this.#name.writeSlice(name, 0, name.length);
    this.#writeMembers(list, 0, except);
  }

  /** Writes a value under a name. */
  write(name: Uint8Array, kind: number, token: number): void {
    if (kind <= PLAIN) {
      this.#writeScalar(name, 0, name.length, kind, token);
      return;
    }
    this.#name.clear();
    this.#name.writeSlice(name, 0, name.length);
    this.#writeNamed(kind, token, 0);
  }

  /** Writes the value `source[start, end)` under a name. */
  writeBytes(name: Uint8Array, source: Uint8Array, start: number, end: number, isJson: boolean): void {
    this.#put(name, 0, name.length, source, start, end, isJson);
  }

  /** The JSON text of a list, until the next call. */
  jsonOf(kind: number, list: number): ByteBuffer {
    this.#json.clear();
    this.#jsonDepth = 0;
    this.#render(kind, list, 1);
    return this.#json;
  }

  /** Writes a value under the name in `#name`. */
  #writeNamed(kind: number, token: number, depth: number): void {
    const name = this.#name;
    if (kind <= PLAIN) {
      this.#writeScalar(name.bytes, 0, name.length, kind, token);
      return;
    }
    const isFlattened = kind === KEY_VALUES && depth < JSON_MAX_DEPTH && name.length <= NAME_MAX_BYTES;
    if (isFlattened && token !== 0 && (this.#tape.ends[token] ?? 0) > token + 1) {
      this.#writeMembers(token, depth + 1, 0);
      return;
    }
    const json = this.jsonOf(kind, token);
    // Readers of JSON stop at this depth; such a value is kept as a text.
    this.#put(name.bytes, 0, name.length, json.bytes, 0, json.length, this.#jsonDepth <= JSON_MAX_DEPTH);
  }

  /** Writes the members of a list of KeyValues under the name in `#name`, which is the same afterwards. */
  #writeMembers(list: number, depth: number, except: number): void {
    const tape = this.#tape;
    const end = tape.ends[list] ?? 0;
    const prefix = this.#name.length;
    for (let item = list + 1; item < end; item = tape.next(item)) {
      const name = this.#values.readKeyValue(item);
      const { kind, token } = this.#values;
      if (except !== 0 && token === except) continue;
      this.#name.writeByte(DOT);
      this.#appendName(name);
      this.#writeNamed(kind, token, depth);
      this.#name.length = prefix;
    }
  }

  #appendName(name: number): void {
    if (name === 0) return;
    const tape = this.#tape;
    tape.readText(name);
    this.#name.writeSlice(tape.textBytes, tape.textStart, tape.textEnd);
  }

  #writeScalar(name: Uint8Array, nameStart: number, nameEnd: number, kind: number, token: number): void {
    const tape = this.#tape;
    if (kind === NOTHING) {
      this.#put(name, nameStart, nameEnd, name, 0, 0, true);
      return;
    }
    tape.readText(token);
    this.#put(name, nameStart, nameEnd, tape.textBytes, tape.textStart, tape.textEnd, kind === PLAIN);
  }

  #put(
    name: Uint8Array,
    nameStart: number,
    nameEnd: number,
    source: Uint8Array,
    start: number,
    end: number,
    isJson: boolean,
  ): void {
    if (this.#inherited === null)
      this.#writer.attributeBytes(name, nameStart, nameEnd, source, start, end, isJson);
    else
      this.#writer.inheritedAttribute(this.#inherited, name, nameStart, nameEnd, source, start, end, isJson);
  }

  /** Appends the JSON text of a value; strings and names as they are written in the source. */
  #render(kind: number, token: number, depth: number): void {
    const json = this.#json;
    if (kind === TEXT) this.#renderString(token);
    else if (kind === PLAIN) {
      this.#tape.readText(token);
      json.writeSlice(this.#tape.textBytes, this.#tape.textStart, this.#tape.textEnd);
    } else if (kind === NOTHING) json.writeSlice(NULL, 0, NULL.length);
    else this.#renderList(kind, token, depth);
  }

  #renderList(kind: number, list: number, depth: number): void {
    const tape = this.#tape;
    const json = this.#json;
    const values = this.#values;
    if (depth > this.#jsonDepth) this.#jsonDepth = depth;
    json.writeByte(kind === LIST ? 0x5b : 0x7b);
    const end = list === 0 ? 0 : (tape.ends[list] ?? 0);
    for (let item = list + 1; item < end; item = tape.next(item)) {
      if (item > list + 1) json.writeByte(COMMA);
      if (kind === LIST) values.read(item);
      else {
        this.#renderString(values.readKeyValue(item));
        json.writeByte(COLON);
      }
      this.#render(values.kind, values.token, depth + 1);
    }
    json.writeByte(kind === LIST ? 0x5d : 0x7d);
  }

  /** A string of the source in quotes, 0 for the empty one. */
  #renderString(string: number): void {
    const json = this.#json;
    json.writeByte(QUOTE);
    if (string !== 0)
      json.writeSlice(this.#tape.source, this.#tape.starts[string] ?? 0, this.#tape.ends[string] ?? 0);
    json.writeByte(QUOTE);
  }
}
