import type { IndexedTexts } from "./block-reader.ts";
import type { ByteBuffer } from "./byte-buffer.ts";
import type { Column } from "./column.ts";
import { LowCardinalityColumn } from "./low-cardinality-column.ts";
import { Int64Column } from "./number-column.ts";
import { elementRuns, type RowRuns } from "./row-runs.ts";
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

  /** Whether every text of some rows since the bookmark was in the column before it. */
  areOfOlder(rows: ReadonlySet<number>): boolean {
    const { ends } = this.sinceBookmark();
    return [...rows].every((row) => this.elements.isOfOlder(ends[row - 1] ?? 0, ends[row] ?? 0));
  }

  /** Forgets the rows since the bookmark but those in the runs; the texts of all stay. */
  keepRuns(runs: RowRuns): void {
    const { ends } = this.sinceBookmark();
    this.elements.keepRuns(elementRuns(ends, runs));
    keepEnds(this.#ends, this.elements.bookmarkRows, ends, runs);
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

  /** Whether every key of some rows since the bookmark was in the column before it. */
  areOfOlder(rows: ReadonlySet<number>): boolean {
    const { ends } = this.sinceBookmark();
    return [...rows].every((row) => this.keys.isOfOlder(ends[row - 1] ?? 0, ends[row] ?? 0));
  }

  /** Forgets the rows since the bookmark but those in the runs; the keys of all stay. */
  keepRuns(runs: RowRuns): void {
    const { ends } = this.sinceBookmark();
    const elements = elementRuns(ends, runs);
    this.keys.keepRuns(elements);
    this.values.keepRuns(elements);
    keepEnds(this.#ends, this.keys.bookmarkRows, ends, runs);
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

/** The ends of the rows in the runs, where their elements follow each other from `first` on. */
function keepEnds(column: Int64Column, first: number, ends: Uint32Array, runs: RowRuns): void {
  column.rewind();
  let kept = first;
  for (const [from, to] of runs) {
    const start = ends[from - 1] ?? 0;
    for (let row = from; row < to; row++) column.append(kept + (ends[row] ?? 0) - start, 0);
    kept += (ends[to - 1] ?? 0) - start;
  }
}
