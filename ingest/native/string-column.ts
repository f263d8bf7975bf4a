import type { EncodedTexts } from "./block-reader.ts";
import { ByteBuffer } from "./byte-buffer.ts";
import type { Column } from "./column.ts";
import type { RowRuns } from "./row-runs.ts";
import { WrittenTexts } from "./written-texts.ts";

/** The memory a string column keeps between batches. */
const KEEP_BYTES = 8 * 1024 * 1024;

/** String: every value is its length as a variable-length integer and its bytes. */
export class StringColumn implements Column {
  readonly type = "String";
  rows = 0;
  /** The encoded values; decoders write into it and then count the row with `rows++`. */
  readonly data = new ByteBuffer(16 * 1024);
  #bookmarkRows = 0;
  #bookmarkBytes = 0;

  append(text: string): void {
    this.data.writeString(text);
    this.rows++;
  }

  /** Appends `source[start, end)`, which the caller knows to be valid UTF-8. */
  appendSlice(source: Uint8Array, start: number, end: number): void {
    this.data.writeVarUint(end - start);
    this.data.writeSlice(source, start, end);
    this.rows++;
  }

  /** Appends `rows` values that are encoded already, each behind its length: `source[start, end)`. */
  appendEncoded(source: Uint8Array, start: number, end: number, rows: number): void {
    this.data.writeSlice(source, start, end);
    this.rows += rows;
  }

  /** Appends the texts of rows `from` to `to` of a block's column. */
  appendRows({ bytes, start, ends }: EncodedTexts, from: number, to: number): void {
    const end = (row: number): number => (row === 0 ? start : (ends[row - 1] ?? start));
    this.appendEncoded(bytes, end(from), end(to), to - from);
  }

  appendEmpty(): void {
    this.data.writeByte(0);
    this.rows++;
  }

  /** Appends empty values until the column has `rows` rows. */
  fillTo(rows: number): void {
    const missing = rows - this.rows;
    if (missing <= 0) return;
    this.data.reserve(missing);
    this.data.bytes.fill(0, this.data.length, this.data.length + missing);
    this.data.length += missing;
    this.rows = rows;
  }

  /** The rows since the bookmark, as they lie here until the next change. */
  sinceBookmark(): WrittenTexts {
    const { bytes, length } = this.data;
    return new WrittenTexts(bytes, this.#bookmarkBytes, length, this.rows - this.#bookmarkRows);
  }

  /** Forgets the rows since the bookmark but those in the runs. */
  keepRuns(runs: RowRuns): void {
    const { data } = this;
    const texts = this.sinceBookmark();
    const { start } = texts;
    // An empty text is nothing but its length.
    const ends = texts.end - start === texts.count ? null : texts.ends;
    const endOf = (row: number): number =>
      ends === null ? start + row : row === 0 ? start : (ends[row - 1] ?? start);
    this.rows = this.#bookmarkRows;
    data.length = start;
    for (const [from, to] of runs) {
      const [first, last] = [endOf(from), endOf(to)];
      if (first !== data.length) data.bytes.copyWithin(data.length, first, last);
      data.length += last - first;
      this.rows += to - from;
    }
  }

  bookmark(): void {
    this.#bookmarkRows = this.rows;
    this.#bookmarkBytes = this.data.length;
  }

  rewind(): void {
    this.rows = this.#bookmarkRows;
    this.data.length = this.#bookmarkBytes;
  }

  writePrefix(): void {}

  writeData(out: ByteBuffer): void {
    out.writeBytes(this.data.view());
  }

  clear(): void {
    this.rows = 0;
    this.data.clear();
    this.data.shrink(KEEP_BYTES);
  }
}
