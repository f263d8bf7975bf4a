const INITIAL_BYTES = 64 * 1024;

/**
 * A body that comes in pieces. They are copied one by one, as they come, so that there is no turn in which a large body
 * is put together, and no second copy of it. Memory that is not written to is not taken, so that the whole length may be
 * allocated when it is only announced.
 */
export class BodyBytes {
  #bytes: Uint8Array<ArrayBuffer> | null = null;
  readonly #expectedBytes: number;
  length = 0;

  /** `expectedBytes` is the length if it is known; a body may still be shorter or longer. */
  constructor(expectedBytes = INITIAL_BYTES) {
    this.#expectedBytes = expectedBytes;
  }

  add(piece: Uint8Array): void {
    const needed = this.length + piece.length;
    let bytes = this.#bytes;
    if (bytes === null || needed > bytes.length) {
      const grown = new Uint8Array(Math.max(needed, bytes === null ? this.#expectedBytes : bytes.length * 2));
      if (bytes !== null) grown.set(bytes.subarray(0, this.length));
      bytes = grown;
      this.#bytes = grown;
    }
    bytes.set(piece, this.length);
    this.length = needed;
  }

  /** All pieces, without a copy. */
  whole(): Uint8Array {
    return this.#bytes?.subarray(0, this.length) ?? new Uint8Array(0);
  }
}
