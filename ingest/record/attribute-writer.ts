import { isDeeperThan, isRawNumber } from "../decode/json-body.ts";
import {
  ATTRIBUTE_KEY_MAX_CHARS,
  ATTRIBUTE_VALUE_MAX_BYTES,
  ATTRIBUTES_MAX_COUNT,
  JSON_MAX_DEPTH,
} from "../limits.ts";
import { type LogBatch, NO_BATCH } from "../log-batch.ts";
import { type InheritedFields, NO_JSON_KEY } from "./inherited-fields.ts";
import { cutToBytes, cutToChars, endOfBytes, endOfChars } from "./text-limits.ts";

/** Set on an entry of which something was cut. */
const TRUNCATED = "_truncated";
/** How many attributes an entry had beyond those that are kept. */
const DROPPED_ATTRIBUTES = "_dropped_attributes";
/** The two above always have room. */
const OWN_ATTRIBUTES_MAX_COUNT = ATTRIBUTES_MAX_COUNT - 2;

/**
 * Writes the attributes of one record after the other. Of an attribute given again the first value stays; what is too
 * long is cut and marked, what is too much is counted.
 */
export class AttributeWriter {
  /** Something of the present record was cut; also set by those who cut its other fields. */
  truncated = false;
  #batch: LogBatch = NO_BATCH;
  /** What records of the request inherit: a few at a time, used again and again. */
  readonly #inherited = new Set<InheritedFields>();
  #count = 0;
  #dropped = 0;
  /** Number of an attribute's name in the batch -> the record that used it last; finds a name given twice. */
  #keyUses = new Uint32Array(1024);
  #recordSerial = 0;
  /** The name that the record before had at each position: records of a request are often alike. */
  readonly #usualKeys = new Uint32Array(ATTRIBUTES_MAX_COUNT);

  open(batch: LogBatch): void {
    this.#batch = batch;
    this.#inherited.clear();
  }

  beginRecord(): void {
    this.truncated = false;
    this.#count = 0;
    this.#dropped = 0;
    // Serial 0 means "never used"; when the counter wraps, old marks must not look new.
    if (this.#recordSerial === 0xffffffff) {
      this.#keyUses.fill(0);
      this.#recordSerial = 0;
    }
    this.#recordSerial++;
  }

  endRecord(): void {
    if (this.truncated) this.#append(TRUNCATED, "true", true);
    if (this.#dropped > 0) this.#append(DROPPED_ATTRIBUTES, String(this.#dropped), true);
  }

  /** A string is kept as it is, any other value as its JSON text, and undefined is no value. */
  add(key: string, value: unknown): void {
    if (value === undefined) return;
    if (typeof value === "string") {
      const text = cutToBytes(value, ATTRIBUTE_VALUE_MAX_BYTES);
      if (text.length < value.length) this.truncated = true;
      this.#add(key, text, false);
      return;
    }
    // A null is an empty text, like a value that is not there: only that its key is among the JSON keys shows it.
    if (value === null) {
      this.#add(key, "", true);
      return;
    }
    const json = jsonText(value);
    const text = cutToBytes(json, ATTRIBUTE_VALUE_MAX_BYTES);
    const isWhole = text.length === json.length && !isDeeperThan(value, JSON_MAX_DEPTH);
    if (text.length < json.length) this.truncated = true;
    // Half a JSON text is none.
    this.#add(key, text, isWhole);
  }

  /** The members of an object, those of nested objects under their names joined with dots. */
  addMembers(prefix: string, object: Readonly<Record<string, unknown>>, depth = 0): void {
    // Cut before it is joined with every name: a long one would be copied as often as there are members.
    const kept = this.#cutKey(prefix);
    for (const name of Object.keys(object)) {
      const value = object[name];
      const key = kept + this.#cutKey(name);
      if (isFlattened(value) && depth < JSON_MAX_DEPTH) this.addMembers(`${key}.`, value, depth + 1);
      else this.add(key, value);
    }
  }

  /** The same for a name and a value that are UTF-8; with `isJson` the value is a JSON text, the empty one a null. */
  addBytes(
    name: Uint8Array,
    nameStart: number,
    nameEnd: number,
    source: Uint8Array,
    start: number,
    end: number,
    isJson: boolean,
  ): void {
    if (this.#count >= OWN_ATTRIBUTES_MAX_COUNT) {
      this.#dropped++;
      return;
    }
    const { attrs, attrJsonKeys } = this.#batch;
    const keptNameEnd = endOfChars(name, nameStart, nameEnd, ATTRIBUTE_KEY_MAX_CHARS);
    const key = attrs.keys.numberOfSlice(name, nameStart, keptNameEnd, this.#usualKeys[this.#count] ?? 0);
    if (!this.#markKey(key)) return;
    this.#usualKeys[this.#count] = key;
    const keptEnd = endOfBytes(source, start, end, ATTRIBUTE_VALUE_MAX_BYTES);
    if (keptNameEnd < nameEnd || keptEnd < end) this.truncated = true;
    this.#count++;
    attrs.keys.appendNumber(key);
    attrs.values.appendSlice(source, start, keptEnd);
    // Half a JSON text is none.
    if (isJson && keptEnd === end) attrJsonKeys.elements.appendSlice(name, nameStart, keptNameEnd);
  }

  /** Starts to collect what many records of the request inherit; not between `beginRecord` and `endRecord`. */
  beginInherited(inherited: InheritedFields): void {
    this.beginRecord();
    inherited.clear();
    this.#inherited.add(inherited);
  }

  /** To be called when the columns of the batch have begun anew. */
  renumberInherited(): void {
    for (const inherited of this.#inherited) inherited.renumber(this.#batch);
  }

  /** Adds to what is inherited as `addBytes` adds to a record. */
  addInheritedBytes(
    inherited: InheritedFields,
    name: Uint8Array,
    nameStart: number,
    nameEnd: number,
    source: Uint8Array,
    start: number,
    end: number,
    isJson: boolean,
  ): void {
    if (inherited.count === OWN_ATTRIBUTES_MAX_COUNT) {
      inherited.dropped++;
      return;
    }
    const { attrs, attrJsonKeys } = this.#batch;
    const keptNameEnd = endOfChars(name, nameStart, nameEnd, ATTRIBUTE_KEY_MAX_CHARS);
    const key = attrs.keys.numberOfSlice(name, nameStart, keptNameEnd, 0);
    if (!this.#markKey(key)) return;
    const keptEnd = endOfBytes(source, start, end, ATTRIBUTE_VALUE_MAX_BYTES);
    if (keptNameEnd < nameEnd || keptEnd < end) inherited.truncated = true;
    const jsonKey =
      isJson && keptEnd === end
        ? attrJsonKeys.elements.numberOfSlice(name, nameStart, keptNameEnd, 0)
        : NO_JSON_KEY;
    inherited.add({ key, jsonKey }, name, nameStart, keptNameEnd, source, start, keptEnd);
  }

  /** Adds all that is inherited, except what the present record has under the same names. */
  inherit(inherited: InheritedFields): void {
    if (inherited.truncated) this.truncated = true;
    this.#dropped += inherited.dropped;
    const { count, keys, jsonKeys, values } = inherited;
    const { attrs, attrJsonKeys } = this.#batch;
    if (this.#count + count > OWN_ATTRIBUTES_MAX_COUNT || this.#usesAny(keys, count)) {
      this.#inheritEach(inherited);
      return;
    }
    this.#count += count;
    for (let i = 0; i < count; i++) {
      attrs.keys.appendNumber(keys[i] ?? 0);
      const jsonKey = jsonKeys[i] ?? NO_JSON_KEY;
      if (jsonKey !== NO_JSON_KEY) attrJsonKeys.elements.appendNumber(jsonKey);
    }
    attrs.values.appendEncoded(values.bytes, 0, values.length, count);
  }

  #inheritEach({ count, keys, jsonKeys, ends, values }: InheritedFields): void {
    const { attrs, attrJsonKeys } = this.#batch;
    let start = 0;
    for (let i = 0; i < count; i++) {
      const end = ends[i] ?? 0;
      const key = keys[i] ?? 0;
      if (this.#count >= OWN_ATTRIBUTES_MAX_COUNT) this.#dropped++;
      else if (this.#markKey(key)) {
        this.#count++;
        attrs.keys.appendNumber(key);
        attrs.values.appendEncoded(values.bytes, start, end, 1);
        const jsonKey = jsonKeys[i] ?? NO_JSON_KEY;
        if (jsonKey !== NO_JSON_KEY) attrJsonKeys.elements.appendNumber(jsonKey);
      }
      start = end;
    }
  }

  /** Whether the present record uses one of the names; if not, it does so from now on. */
  #usesAny(keys: Uint32Array, count: number): boolean {
    const uses = this.#keyUses;
    for (let i = 0; i < count; i++) {
      const key = keys[i] ?? 0;
      if (key < uses.length && uses[key] === this.#recordSerial) return true;
    }
    for (let i = 0; i < count; i++) this.#markKey(keys[i] ?? 0);
    return false;
  }

  #add(key: string, text: string, isJson: boolean): void {
    if (this.#count >= OWN_ATTRIBUTES_MAX_COUNT) {
      this.#dropped++;
      return;
    }
    this.#append(this.#cutKey(key), text, isJson);
  }

  #cutKey(key: string): string {
    const kept = cutToChars(key, ATTRIBUTE_KEY_MAX_CHARS);
    if (kept.length < key.length) this.truncated = true;
    return kept;
  }

  #append(key: string, text: string, isJson: boolean): void {
    const { attrs, attrJsonKeys } = this.#batch;
    const number = attrs.keys.numberOf(key);
    if (!this.#markKey(number)) return;
    this.#count++;
    attrs.keys.appendNumber(number);
    attrs.values.append(text);
    if (isJson) attrJsonKeys.elements.append(key);
  }

  /** Notes that the present record uses a name; false when it did already. */
  #markKey(key: number): boolean {
    if (key >= this.#keyUses.length) {
      const grown = new Uint32Array(Math.max(key + 1, this.#keyUses.length * 2));
      grown.set(this.#keyUses);
      this.#keyUses = grown;
    }
    if (this.#keyUses[key] === this.#recordSerial) return false;
    this.#keyUses[key] = this.#recordSerial;
    return true;
  }
}

/** Whether an attribute's value is taken apart: an object that has members. */
function isFlattened(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value) || isRawNumber(value)) return false;
  for (const _ in value) return true;
  return false;
}

/** The JSON text of a parsed value; of one that nests deeper than the runtime can write, a note that it did. */
function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return "(nested too deep)";
    throw error;
  }
}
