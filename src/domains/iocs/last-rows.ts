/**
 * Which rows of a long list are the last ones of what they name: 12 bytes for each name and as many again while it grows, where a Map
 * of the names themselves takes some two hundred.
 */
export class LastRows {
  /** So that nobody makes names that are taken for each other. */
  readonly #seed = crypto.getRandomValues(new BigUint64Array(1))[0] ?? 0n;
  #hashes = new BigUint64Array(1024);
  #rows = new Int32Array(1024);
  #size = 0;

  /** How many names there are. */
  get size(): number {
    return this.#size;
  }

  /** Rows come in ascending order. */
  add(name: string, row: number): void {
    if (2 * this.#size >= this.#hashes.length) this.#grow();
    // 0 is a place that nobody has taken.
    this.#put(Bun.hash.xxHash64(name, this.#seed) || 1n, row);
  }

  /** A byte for each of so many rows: 1 for a last one. */
  marks(rows: number): Uint8Array {
    const marks = new Uint8Array(rows);
    for (const [place, hash] of this.#hashes.entries()) if (hash !== 0n) marks[this.#rows[place] ?? 0] = 1;
    return marks;
  }

  #put(hash: bigint, row: number): void {
    const mask = this.#hashes.length - 1;
    let place = Number(hash & 0xffff_ffffn) & mask;
    for (let there = this.#hashes[place]; there !== 0n && there !== hash; there = this.#hashes[place])
      place = (place + 1) & mask;
    if (this.#hashes[place] === 0n) this.#size++;
    this.#hashes[place] = hash;
    this.#rows[place] = row;
  }

  #grow(): void {
    const [hashes, rows] = [this.#hashes, this.#rows];
    this.#hashes = new BigUint64Array(2 * hashes.length);
    this.#rows = new Int32Array(2 * hashes.length);
    this.#size = 0;
    for (const [place, hash] of hashes.entries()) if (hash !== 0n) this.#put(hash, rows[place] ?? 0);
  }
}
