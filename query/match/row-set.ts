const WORD_BITS = 32;
const HOLDS = 1;
const HOLDS_NOT = 2;

/** Rows of a batch, as one bit each. */
export class RowSet {
  readonly rows: number;
  readonly #words: Uint32Array;

  private constructor(rows: number, words: Uint32Array) {
    this.rows = rows;
    this.#words = words;
  }

  static none(rows: number): RowSet {
    return new RowSet(rows, new Uint32Array(Math.ceil(rows / WORD_BITS)));
  }

  static all(rows: number): RowSet {
    return RowSet.none(rows).not();
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
    const known = new Uint8Array(values);
    for (let row = 0; row < within.rows; row++) {
      if (((words[row >>> 5] ?? 0) & (1 << (row & 31))) === 0) continue;
      const value = indexes[row] ?? 0;
      if (known[value] === 0) known[value] = holds(value) ? HOLDS : HOLDS_NOT;
      if (known[value] === HOLDS) set.#words[row >>> 5] = (set.#words[row >>> 5] ?? 0) | (1 << (row & 31));
    }
    return set;
  }

  add(row: number): void {
    const word = row >>> 5;
    this.#words[word] = (this.#words[word] ?? 0) | (1 << (row & 31));
  }

  has(row: number): boolean {
    return ((this.#words[row >>> 5] ?? 0) & (1 << (row & 31))) !== 0;
  }

  and(other: RowSet): RowSet {
    return this.#combine((word, at) => word & (other.#words[at] ?? 0));
  }

  or(other: RowSet): RowSet {
    return this.#combine((word, at) => word | (other.#words[at] ?? 0));
  }

  not(): RowSet {
    return this.#combine((word) => ~word);
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

  #combine(combined: (word: number, at: number) => number): RowSet {
    return new RowSet(this.rows, this.#words.map(combined));
  }
}
