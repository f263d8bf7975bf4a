import { type EntrySlice, type SliceOwner, takeSlice } from "../entry-slice.ts";
import { SLICE_BYTES } from "../limits.ts";
import { LogBatch } from "../log-batch.ts";

/**
 * The entries of one large request. Whenever so many are there that they make a slice, they leave the columns, which then
 * begin anew: the memory that decoding takes besides the slices does not grow with the request.
 */
export class SlicedBatch extends LogBatch {
  readonly #owner: SliceOwner;
  readonly #receivedAtMs: number;
  readonly #sliceBytes: number;
  #slices: EntrySlice[] = [];
  #slicedRows = 0;
  #slicedBytes = 0;

  /** `sliceBytes`: smaller in tests. */
  constructor(owner: SliceOwner, receivedAtMs: number, sliceBytes = SLICE_BYTES) {
    super();
    this.#owner = owner;
    this.#receivedAtMs = receivedAtMs;
    this.#sliceBytes = sliceBytes;
    this.#begin();
  }

  override get requestRows(): number {
    return this.#slicedRows + super.requestRows;
  }

  override get blockBytes(): number {
    return this.#slicedBytes + this.columnBytes;
  }

  override endRow(): void {
    super.endRow();
    if (this.columnBytes >= this.#sliceBytes) this.#cut();
  }

  override rewindRequest(): void {
    this.#slices = [];
    this.#slicedRows = 0;
    this.#slicedBytes = 0;
    this.clear();
    this.#begin();
  }

  /** All entries, in their order; the batch is of no further use. */
  takeSlices(): readonly EntrySlice[] {
    if (this.rows > 0) this.#cut();
    return this.#slices;
  }

  #begin(): void {
    this.beginRequest(this.#owner.organizationId, this.#receivedAtMs);
  }

  #cut(): void {
    this.#slicedRows += this.rows;
    this.#slicedBytes += this.columnBytes;
    this.#slices.push(takeSlice(this, this.#owner));
    this.#begin();
  }
}
