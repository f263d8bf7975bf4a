import { ATTRIBUTES_MAX_COUNT } from "../limits.ts";
import type { LogBatch } from "../log-batch.ts";
import { ByteBuffer } from "../native/byte-buffer.ts";

const NO_BYTES = new Uint8Array(0);

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
  /** Those texts, UTF-8. */
  readonly names = { service: NO_BYTES, source: NO_BYTES, host: NO_BYTES };
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
  /** The names one after the other, UTF-8, and where each one ends. */
  readonly nameBytes = new ByteBuffer(1024);
  readonly nameEnds = new Uint32Array(ATTRIBUTES_MAX_COUNT);

  clear(): void {
    this.service = 0;
    this.source = 0;
    this.host = 0;
    this.count = 0;
    this.dropped = 0;
    this.truncated = false;
    this.values.clear();
    this.nameBytes.clear();
    Object.assign(this.names, { service: NO_BYTES, source: NO_BYTES, host: NO_BYTES });
  }

  /** The name is `name[nameStart, nameEnd)`. */
  add(
    { key, jsonKey }: { readonly key: number; readonly jsonKey: number },
    name: Uint8Array,
    nameStart: number,
    nameEnd: number,
    source: Uint8Array,
    start: number,
    end: number,
  ): void {
    this.keys[this.count] = key;
    this.jsonKeys[this.count] = jsonKey;
    this.nameBytes.writeSlice(name, nameStart, nameEnd);
    this.nameEnds[this.count] = this.nameBytes.length;
    this.values.writeVarUint(end - start);
    this.values.writeSlice(source, start, end);
    this.ends[this.count++] = this.values.length;
  }

  /** Looks the numbers up again in a batch whose columns have begun anew. */
  renumber({ service, source, host, attrs, attrJsonKeys }: LogBatch): void {
    const { names, nameBytes } = this;
    this.service = service.numberOfSlice(names.service, 0, names.service.length, 0);
    this.source = source.numberOfSlice(names.source, 0, names.source.length, 0);
    this.host = host.numberOfSlice(names.host, 0, names.host.length, 0);
    let start = 0;
    for (let i = 0; i < this.count; i++) {
      const end = this.nameEnds[i] ?? 0;
      this.keys[i] = attrs.keys.numberOfSlice(nameBytes.bytes, start, end, 0);
      if (this.jsonKeys[i] !== NO_JSON_KEY)
        this.jsonKeys[i] = attrJsonKeys.elements.numberOfSlice(nameBytes.bytes, start, end, 0);
      start = end;
    }
  }
}
