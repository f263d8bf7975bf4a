import type { IndexedTexts } from "./block-reader.ts";
import type { ByteBuffer } from "./byte-buffer.ts";
import type { Column } from "./column.ts";
import { LowCardinalityColumn } from "./low-cardinality-column.ts";
import { Int64Column } from "./number-column.ts";
import { StringColumn } from "./string-column.ts";
import type { WrittenTexts } from "./written-texts.ts";

/** Array(LowCardinality(String)): where each row's elements end, then all elements. */
export class StringArrayColumn implements Column {
  readonly type = "Array(LowCardinality(String))";
  /** Append the elements of a row here, then call `endRow`. */
  readonly elements = new LowCardinalityColumn();
  readonly #ends = new Int64Column("UInt64");

  get rows(): number {
    return this.#ends.rows;
  }

  endRow(): void {
    this.#ends.appendNumber(this.elements.rows);
  }

  /** Ends a row whose elements, and perhaps some of later rows, have been appended. */
  endRowAt(end: number): void {
    this.#ends.append(end, 0);
  }

  /** The rows since the bookmark, as they lie here until the next change, and where the elements of each end among these. */
  sinceBookmark(): { elements: IndexedTexts; ends: Uint32Array } {
    return {
      elements: this.elements.sinceBookmark(),
      ends: this.#ends.lowSinceBookmark(this.elements.bookmarkRows),
    };
  }

  bookmark(): void {
    this.elements.bookmark();
    this.#ends.bookmark();
  }

  rewind(): void {
    this.elements.rewind();
    this.#ends.rewind();
  }

  writePrefix(out: ByteBuffer): void {
    this.elements.writePrefix(out);
  }

  writeData(out: ByteBuffer): void {
    this.#ends.writeData(out);
    this.elements.writeData(out);
  }

  clear(): void {
    this.elements.clear();
    this.#ends.clear();
  }
}

/** Map(LowCardinality(String), String): where each row's pairs end, then all keys, then all values. */
export class StringMapColumn implements Column {
  readonly type = "Map(LowCardinality(String), String)";
  /** Append the keys and values of a row to these two, then call `endRow`. */
  readonly keys = new LowCardinalityColumn();
  readonly values = new StringColumn();
  readonly #ends = new Int64Column("UInt64");

  get rows(): number {
    return this.#ends.rows;
  }

  endRow(): void {
    this.#ends.appendNumber(this.keys.rows);
  }

  /** Ends a row whose pairs, and perhaps some of later rows, have been appended. */
  endRowAt(end: number): void {
    this.#ends.append(end, 0);
  }

  /** The rows since the bookmark, as they lie here until the next change, and where the pairs of each end among these. */
  sinceBookmark(): { keys: IndexedTexts; values: WrittenTexts; ends: Uint32Array } {
    const { keys, values } = this;
    return {
      keys: keys.sinceBookmark(),
      values: values.sinceBookmark(),
      ends: this.#ends.lowSinceBookmark(keys.bookmarkRows),
    };
  }

  bookmark(): void {
    this.keys.bookmark();
    this.values.bookmark();
    this.#ends.bookmark();
  }

  rewind(): void {
    this.keys.rewind();
    this.values.rewind();
    this.#ends.rewind();
  }

  writePrefix(out: ByteBuffer): void {
    this.keys.writePrefix(out);
  }

  writeData(out: ByteBuffer): void {
    this.#ends.writeData(out);
    this.keys.writeData(out);
    this.values.writeData(out);
  }

  clear(): void {
    this.keys.clear();
    this.values.clear();
    this.#ends.clear();
  }
}
