import { ATTRIBUTES_MAX_COUNT } from "../limits.ts";
import { ByteBuffer } from "../native/byte-buffer.ts";

/** In the place of a number among the JSON keys: the value is a plain text. */
export const NO_JSON_KEY = 0xffffffff;

/**
 * What many records of a request have in common, encoded once as it stands in the columns of the batch that is open.
 * Filled and used by the RecordWriter; it counts until the request's decoding ends.
 */
export class InheritedFields {
  /** Numbers of texts in their columns, 0 for none. */
  service = 0;
  source = 0;
  host = 0;
  /** Attributes. */
  count = 0;
  /** Attributes beyond those that an entry can have. */
  dropped = 0;
  /** Something of them was cut. */
  truncated = false;
  /** Their names' numbers in the batch. */
  readonly keys = new Uint32Array(ATTRIBUTES_MAX_COUNT);
  /** The names' numbers among the JSON keys, or NO_JSON_KEY. */
  readonly jsonKeys = new Uint32Array(ATTRIBUTES_MAX_COUNT);
  /** Where each one's value ends in `values`. */
  readonly ends = new Uint32Array(ATTRIBUTES_MAX_COUNT);
  /** The values one after the other, each behind its length. */
  readonly values = new ByteBuffer(1024);

  clear(): void {
    this.service = 0;
    this.source = 0;
    this.host = 0;
    this.count = 0;
    this.dropped = 0;
    this.truncated = false;
    this.values.clear();
  }

  add(key: number, jsonKey: number, source: Uint8Array, start: number, end: number): void {
    this.keys[this.count] = key;
    this.jsonKeys[this.count] = jsonKey;
    this.values.writeVarUint(end - start);
    this.values.writeSlice(source, start, end);
    this.ends[this.count++] = this.values.length;
  }
}
