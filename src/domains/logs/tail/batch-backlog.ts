/** A batch that waits to be matched. */
export interface WaitingBatch {
  readonly organizations: ReadonlySet<number>;
  readonly block: Uint8Array;
  /** Counts batches from 1. */
  readonly number: number;
}

/** Buffers start at this size: what requests that arrive together come to. */
const BUFFER_MIN_BYTES = 1024 * 1024;
/** Buffers kept for the next batches: more wait only while matching falls behind. */
const BUFFERS_KEPT = 4;

/**
 * Copies of batches that wait to be matched, in order. Their memory is used again and again: new memory for each would
 * cost ten times what the copying does.
 */
export class BatchBacklog {
  readonly #waiting: WaitingBatch[] = [];
  readonly #spare: Uint8Array[] = [];
  #bytes = 0;

  get length(): number {
    return this.#waiting.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  push(organizations: ReadonlySet<number>, block: Uint8Array, number: number): void {
    const copy = this.#buffer(block.length).subarray(0, block.length);
    copy.set(block);
    this.#waiting.push({ organizations, block: copy, number });
    this.#bytes += block.length;
  }

  /** The next batch, which the caller gives back when nothing refers to it any more. */
  shift(): WaitingBatch | undefined {
    const batch = this.#waiting.shift();
    if (batch !== undefined) this.#bytes -= batch.block.length;
    return batch;
  }

  giveBack({ block }: WaitingBatch): void {
    if (this.#spare.length < BUFFERS_KEPT) this.#spare.push(new Uint8Array(block.buffer));
  }

  #buffer(bytes: number): Uint8Array {
    const at = this.#spare.findIndex((buffer) => buffer.length >= bytes);
    const [spare] = at === -1 ? [] : this.#spare.splice(at, 1);
    if (spare !== undefined) return spare;
    // One that is too small makes room for its successor.
    this.#spare.shift();
    let size = BUFFER_MIN_BYTES;
    while (size < bytes) size *= 2;
    return new Uint8Array(size);
  }
}
