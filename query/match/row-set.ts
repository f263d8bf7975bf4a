const WORD_BITS = 32;
const ALL_BITS = 0xffff_ffff;
const HOLDS = 1;
const HOLDS_NOT = 2;
/** The words of no row at all: most filters let nothing of a batch through. */
const NO_WORDS = new Uint32Array(0);

/** Rows of a batch, as one bit each. Only who made a set adds to it: what `and` and `or` return may be one of the two. */
export class RowSet {
  readonly rows: number;
  /** As long as the rows take, or `NO_WORDS`. */
  #words: Uint32Array;

  private constructor(rows: number, words: Uint32Array) {
    this.rows = rows;
    this.#words = words;
  }

  static none(rows: number): RowSet {
    return new RowSet(rows, NO_WORDS);
  }

  static all(rows: number): RowSet {
    return new RowSet(rows, new Uint32Array(Math.ceil(rows / WORD_BITS)).fill(ALL_BITS));
  }

  static where(rows: number, holds: (row: number) => boolean): RowSet {
    const set = RowSet.none(rows);
    for (let row = 0; row < rows; row++) if (holds(row)) set.add(row);
    return set;
  }

  /** Those of the rows `within` for whose values it holds, which are below `values`: each is asked about once. */
  static ofIndexes(
    within: RowSet,
    indexes: ArrayLike<number>,
    values: number,
    holds: (value: number) => boolean,
  ): RowSet {
    const words = within.#words;
    const set = RowSet.none(within.rows);
    if (words.length === 0) return set;
    const known = new Uint8Array(values);
    for (let row = 0; row < within.rows; row++) {
      if (((words[row >>> 5] ?? 0) & (1 << (row & 31))) === 0) continue;
      const value = indexes[row] ?? 0;
      if (known[value] === 0) known[value] = holds(value) ? HOLDS : HOLDS_NOT;
      if (known[value] === HOLDS) set.add(row);
    }
    return set;
  }

  add(row: number): void {
    if (this.#words.length === 0) this.#words = new Uint32Array(Math.ceil(this.rows / WORD_BITS));
    const word = row >>> 5;
    this.#words[word] = (this.#words[word] ?? 0) | (1 << (row & 31));
  }

  has(row: number): boolean {
    return ((this.#words[row >>> 5] ?? 0) & (1 << (row & 31))) !== 0;
  }

  and(other: RowSet): RowSet {
    if (this.isEmpty) return this;
    if (other.isEmpty) return other;
    const words = this.#words.slice();
    let any = 0;
    for (let at = 0; at < words.length; at++) {
      const word = (words[at] ?? 0) & (other.#words[at] ?? 0);
      words[at] = word;
      any |= word;
    }
    return any === 0 ? RowSet.none(this.rows) : new RowSet(this.rows, words);
  }

  or(other: RowSet): RowSet {
    if (this.isEmpty) return other;
    if (other.isEmpty) return this;
    const words = this.#words.slice();
    for (let at = 0; at < words.length; at++) words[at] = (words[at] ?? 0) | (other.#words[at] ?? 0);
    return new RowSet(this.rows, words);
  }

  not(): RowSet {
    if (this.isEmpty) return RowSet.all(this.rows);
    return new RowSet(
      this.rows,
      this.#words.map((word) => ~word),
    );
  }

  /** Those of the rows for which it holds. */
  filter(holds: (row: number) => boolean): RowSet {
    const set = RowSet.none(this.rows);
    this.#forEach((row) => {
      if (holds(row)) set.add(row);
    });
    return set;
  }

  /** The rows in ascending order. */
  toArray(): number[] {
    const found: number[] = [];
    this.#forEach((row) => found.push(row));
    return found;
  }

  /** True only where there is none; the rest of a set may be none without its knowing. */
  get isEmpty(): boolean {
    return this.#words.length === 0;
  }

  /** How many they are. */
  get size(): number {
    let size = 0;
    this.#forEach(() => size++);
    return size;
  }

  #forEach(visit: (row: number) => void): void {
    for (let at = 0; at < this.#words.length; at++) {
      for (let word = this.#words[at] ?? 0; word !== 0; word &= word - 1) {
        const row = at * WORD_BITS + 31 - Math.clz32(word & -word);
        if (row < this.rows) visit(row);
      }
    }
  }
}
