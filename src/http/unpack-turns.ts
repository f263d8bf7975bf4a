import { TurnQueue } from "../../ingest/index.ts";
import { FairShare, type ShareKey } from "../concurrency/fair-share.ts";
import { ApiError } from "../errors.ts";
import { UNPACKING_MAX_RUNNING, UNPACKING_MAX_WAITING_BYTES, UNPACKING_RETRY_SEC } from "./limits.ts";

/** Of those that wait and those that are still coming. */
const packed = new FairShare(UNPACKING_MAX_WAITING_BYTES);
const queue = new TurnQueue<() => void>({
  maxBytes: UNPACKING_MAX_WAITING_BYTES,
  maxBytesOfOne: UNPACKING_MAX_WAITING_BYTES,
});
let running = 0;

/**
 * The right of one request to hold large bodies unpacked. Few have it at a time, the organisations in turns; all others
 * wait packed, which takes less memory. A request that has it keeps it until it is released, for whatever else it unpacks.
 */
export class UnpackTurn {
  readonly #owner: ShareKey;
  readonly #signal: AbortSignal | undefined;
  #isHeld = false;
  /** Packed bytes that this request has room for until its turn comes. */
  #roomBytes = 0;

  /** `owner` takes turns with others; once `signal` has aborted nobody waits for what would be unpacked. */
  constructor(owner: ShareKey, signal?: AbortSignal) {
    this.#owner = owner;
    this.#signal = signal;
  }

  /**
   * Takes the room in which so many packed bytes wait for the turn: before they come, so that none come to be refused. Throws
   * RATE_LIMITED when too many of the organisation wait, UNAVAILABLE when too many do.
   */
  expect(packedBytes: number): void {
    const more = packedBytes - this.#roomBytes;
    if (this.#isHeld || more <= 0) return;
    const taking = packed.take([this.#owner], more);
    if (taking === "share_used_up")
      throw refusal("RATE_LIMITED", "Too many of your bodies wait to be unpacked.");
    if (taking === "all_used_up") throw refusal("UNAVAILABLE", "Too many bodies wait to be unpacked.");
    this.#roomBytes = packedBytes;
  }

  /** Resolves when it is held. Throws as `expect`, and UNAVAILABLE when nobody waits any more for what would be unpacked. */
  async take(packedBytes: number): Promise<void> {
    if (this.#isHeld) return;
    if (running < UNPACKING_MAX_RUNNING) running++;
    else await this.#wait(packedBytes);
    this.#isHeld = true;
    this.#giveBackRoom();
    if (this.#signal?.aborted === true) {
      this.release();
      throw refusal("UNAVAILABLE", "The caller went away.");
    }
  }

  release(): void {
    this.#giveBackRoom();
    if (!this.#isHeld) return;
    this.#isHeld = false;
    const begin = queue.take();
    if (begin === undefined) running--;
    else begin();
  }

  #wait(packedBytes: number): Promise<void> {
    this.expect(packedBytes);
    const { promise, resolve } = Promise.withResolvers<void>();
    if (!queue.add(this.#owner, resolve, packedBytes)) throw new Error("room was taken and is not there");
    return promise;
  }

  #giveBackRoom(): void {
    packed.giveBack([this.#owner], this.#roomBytes);
    this.#roomBytes = 0;
  }
}

function refusal(code: "RATE_LIMITED" | "UNAVAILABLE", message: string): ApiError {
  return new ApiError(code, message, { retryAfterSeconds: UNPACKING_RETRY_SEC });
}
