import { ApiError } from "../errors.ts";
import type { FairShare, ShareKey, Taking } from "./fair-share.ts";

type Refused = Exclude<Taking, "taken">;

/** What one answer holds of the bytes that all answers may hold until their readers have them. Whoever opens it closes it. */
export class MemoryShare {
  readonly #all: FairShare;
  readonly #holder: readonly ShareKey[];
  #usedBytes = 0;
  #reservedBytes = 0;
  #heldBytes = 0;
  #isClosed = false;
  #isHandedOver = false;

  /** Of nothing yet. */
  constructor(all: FairShare, holder: readonly ShareKey[]) {
    this.#all = all;
    this.#holder = holder;
  }

  /** Counted for it at this moment. */
  get bytes(): number {
    return this.#heldBytes;
  }

  /** Whether the body of the answer closes it, which is read when the request is answered already. */
  get isHandedOver(): boolean {
    return this.#isHandedOver;
  }

  handOver(): void {
    this.#isHandedOver = true;
  }

  /** False, and nothing is taken, when there is no room. */
  tryTake(bytes: number): boolean {
    return this.#take(bytes) === "taken";
  }

  /** Throws RATE_LIMITED when the caller or the organisation holds too much already, UNAVAILABLE when all do. */
  take(bytes: number): void {
    const taking = this.#take(bytes);
    if (taking !== "taken") throw refusal(taking);
  }

  /** Counts so much until the end, so that there is room whenever no more than that is taken. Throws as `take` does. */
  reserve(bytes: number): void {
    if (this.#isClosed) return;
    const more = Math.max(0, bytes - this.#heldBytes);
    const taking = this.#all.take(this.#holder, more);
    if (taking !== "taken") throw refusal(taking);
    this.#reservedBytes = bytes;
    this.#heldBytes += more;
  }

  giveBack(bytes: number): void {
    this.#usedBytes = Math.max(0, this.#usedBytes - bytes);
    const spare = this.#heldBytes - Math.max(this.#usedBytes, this.#reservedBytes);
    this.#heldBytes -= spare;
    this.#all.giveBack(this.#holder, spare);
  }

  /** Gives everything back; what is taken afterwards, by work that ends late, is not counted any more. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#reservedBytes = 0;
    this.giveBack(this.#usedBytes);
  }

  #take(bytes: number): Taking {
    if (this.#isClosed) return "taken";
    const more = Math.max(0, this.#usedBytes + bytes - this.#heldBytes);
    const taking = this.#all.take(this.#holder, more);
    if (taking !== "taken") return taking;
    this.#usedBytes += bytes;
    this.#heldBytes += more;
    return taking;
  }
}

function refusal(taking: Refused): ApiError {
  return taking === "all_used_up"
    ? new ApiError("UNAVAILABLE", "Too many answers wait for their readers.", { retryAfterSeconds: 1 })
    : new ApiError("RATE_LIMITED", "Too much of your answers waits to be read; read them first.", {
        retryAfterSeconds: 1,
      });
}
