import type { ByteBuffer } from "./byte-buffer.ts";

/**
 * One column of a block in ClickHouse's Native format. A column is filled row by row and then written out whole;
 * `bookmark` and `rewind` take back the rows of a request that turned out to be invalid.
 *
 * The format follows ClickHouse's `NativeWriter` and its serialization classes: for every column its name, its type,
 * a state prefix (only LowCardinality has one) and its data; all integers are little-endian.
 */
export interface Column {
  /** The ClickHouse type as the Native header spells it. */
  readonly type: string;
  readonly rows: number;
  /** Remembers the present end; there is one bookmark. */
  bookmark(): void;
  /** Forgets everything after the bookmark. */
  rewind(): void;
  /** Appends what precedes the data of this column, nested columns included. */
  writePrefix(out: ByteBuffer): void;
  /** Appends the data of all rows. */
  writeData(out: ByteBuffer): void;
  /** Forgets all rows; keeps memory for the next batch, up to a bound. */
  clear(): void;
}
