import { ApiError } from "../errors.ts";

/** Bytes that all requests together may hold. */
export class MemoryBudget {
  readonly #maxBytes: number;
  #usedBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Throws UNAVAILABLE when there is no room; whoever took bytes gives them back. */
  take(bytes: number): void {
    if (this.#usedBytes + bytes > this.#maxBytes) {
      throw new ApiError("UNAVAILABLE", "Too many bodies are being received.", { retryAfterSeconds: 1 });
    }
    this.#usedBytes += bytes;
  }

  giveBack(bytes: number): void {
    this.#usedBytes -= bytes;
  }
}
