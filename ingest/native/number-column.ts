import type { ByteBuffer } from "./byte-buffer.ts";
import type { Column } from "./column.ts";
import type { RowRuns } from "./row-runs.ts";

const INITIAL_ROWS = 1024;

/** UInt32, four bytes a row. */
export class UInt32Column implements Column {
  readonly type = "UInt32";
  rows = 0;
  #values = new Uint32Array(INITIAL_ROWS);
  #bookmark = 0;

  append(value: number): void {
    this.fillTo(this.rows + 1, value);
  }

  /** Appends `value` until the column has `rows` rows. */
  fillTo(rows: number, value: number): void {
    if (rows > this.#values.length) {
      const grown = new Uint32Array(Math.max(rows, this.#values.length * 2));
      grown.set(this.#values.subarray(0, this.rows));
      this.#values = grown;
    }
    this.#values.fill(value, this.rows, rows);
    this.rows = rows;
  }

  bookmark(): void {
    this.#bookmark = this.rows;
  }

  rewind(): void {
    this.rows = this.#bookmark;
  }

  writePrefix(): void {}

  writeData(out: ByteBuffer): void {
    out.writeBytes(new Uint8Array(this.#values.buffer, 0, this.rows * 4));
  }

  clear(): void {
    this.rows = 0;
  }
}

/** Enum8: one signed byte a row; `type` carries the names, for example `Enum8('' = 0, 'info' = 3)`. */
export class Enum8Column implements Column {
  readonly type: string;
  rows = 0;
  #values = new Uint8Array(INITIAL_ROWS);
  #bookmark = 0;

  constructor(type: string) {
    this.type = type;
  }

  append(value: number): void {
    if (this.rows === this.#values.length) {
      const grown = new Uint8Array(this.rows * 2);
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[this.rows++] = value;
  }

  /** Appends values as they lie in a block, one byte each. */
  appendBytes(bytes: Uint8Array): void {
    const rows = this.rows + bytes.length;
    if (rows > this.#values.length) {
      const grown = new Uint8Array(Math.max(rows, this.#values.length * 2));
      grown.set(this.#values.subarray(0, this.rows));
      this.#values = grown;
    }
    this.#values.set(bytes, this.rows);
    this.rows = rows;
  }

  /** The rows since the bookmark, as they lie here until the next change. */
  sinceBookmark(): DataView {
    return new DataView(this.#values.buffer, this.#bookmark, this.rows - this.#bookmark);
  }

  /** Forgets the rows since the bookmark but those in the runs. */
  keepRuns(runs: RowRuns): void {
    const first = this.#bookmark;
    let rows = first;
    for (const [from, to] of runs) {
      if (rows !== first + from) this.#values.copyWithin(rows, first + from, first + to);
      rows += to - from;
    }
    this.rows = rows;
  }

  bookmark(): void {
    this.#bookmark = this.rows;
  }

  rewind(): void {
    this.rows = this.#bookmark;
  }

  writePrefix(): void {}

  writeData(out: ByteBuffer): void {
    out.writeBytes(this.#values.subarray(0, this.rows));
  }

  clear(): void {
    this.rows = 0;
  }
}

/** UInt64, Int64 and DateTime64, kept as 32-bit halves because a bigint per row would be an allocation per row. */
export class Int64Column implements Column {
  readonly type: string;
  rows = 0;
  #halves = new Uint32Array(INITIAL_ROWS * 2);
  #bookmark = 0;

  constructor(type: string) {
    this.type = type;
  }

  /** Appends `high * 2^32 + low`; `low` is unsigned, `high` may be negative for the signed types. */
  append(low: number, high: number): void {
    const at = this.rows * 2;
    if (at === this.#halves.length) {
      const grown = new Uint32Array(at * 2);
      grown.set(this.#halves);
      this.#halves = grown;
    }
    this.#halves[at] = low;
    this.#halves[at + 1] = high;
    this.rows++;
  }

  /** Appends values as they lie in a block, eight bytes each. */
  appendBytes(bytes: Uint8Array): void {
    const rows = this.rows + bytes.length / 8;
    if (rows * 2 > this.#halves.length) {
      const grown = new Uint32Array(Math.max(rows * 2, this.#halves.length * 2));
      grown.set(this.#halves.subarray(0, this.rows * 2));
      this.#halves = grown;
    }
    new Uint8Array(this.#halves.buffer).set(bytes, this.rows * 8);
    this.rows = rows;
  }

  /** Appends an integer of at most 53 bits and sign. */
  appendNumber(value: number): void {
    const high = Math.floor(value / 2 ** 32);
    this.append(value - high * 2 ** 32, high);
  }

  /** The rows since the bookmark, as they lie here until the next change. */
  sinceBookmark(): DataView {
    return new DataView(this.#halves.buffer, this.#bookmark * 8, (this.rows - this.#bookmark) * 8);
  }

  /** What the rows since the bookmark are above `base`, where that is less than 2^32. */
  lowSinceBookmark(base: number): Uint32Array {
    const count = this.rows - this.#bookmark;
    const first = this.#bookmark * 2;
    const halves = this.#halves;
    const found = new Uint32Array(count);
    for (let row = 0; row < count; row++) found[row] = (halves[first + row * 2] ?? 0) - base;
    return found;
  }

  /** Forgets the rows since the bookmark but those in the runs. */
  keepRuns(runs: RowRuns): void {
    const first = this.#bookmark;
    let rows = first;
    for (const [from, to] of runs) {
      if (rows !== first + from) this.#halves.copyWithin(rows * 2, (first + from) * 2, (first + to) * 2);
      rows += to - from;
    }
    this.rows = rows;
  }

  bookmark(): void {
    this.#bookmark = this.rows;
  }

  rewind(): void {
    this.rows = this.#bookmark;
  }

  writePrefix(): void {}

  writeData(out: ByteBuffer): void {
    out.writeBytes(new Uint8Array(this.#halves.buffer, 0, this.rows * 8));
  }

  clear(): void {
    this.rows = 0;
  }
}
