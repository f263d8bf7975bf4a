import { TurnQueue } from "../../ingest/index.ts";
import type { ShareKey } from "../concurrency/fair-share.ts";
import { ApiError } from "../errors.ts";
import { SLOT_RETRY_SEC, UNPACKING_MAX_RUNNING, UNPACKING_WAITING } from "./limits.ts";

const queue = new TurnQueue<() => void>(UNPACKING_WAITING);
let running = 0;

/**
 * The right of one request to hold large bodies unpacked. Few have it at a time, the organisations in turns; all others
 * wait packed, which takes less memory. A request that has it keeps it until it is released, for whatever else it unpacks.
 */
export class UnpackTurn {
  readonly #owner: ShareKey;
  readonly #signal: AbortSignal | undefined;
  #isHeld = false;

  /** `owner` takes turns with others; once `signal` has aborted nobody waits for what would be unpacked. */
  constructor(owner: ShareKey, signal?: AbortSignal) {
    this.#owner = owner;
    this.#signal = signal;
  }

  /** Resolves when it is held. Throws UNAVAILABLE when too many packed bytes wait, and when nobody waits any more. */
  async take(packedBytes: number): Promise<void> {
    if (this.#isHeld) return;
    if (running < UNPACKING_MAX_RUNNING) running++;
    else await this.#wait(packedBytes);
    this.#isHeld = true;
    if (this.#signal?.aborted === true) {
      this.release();
      throw unavailable("The caller went away.");
    }
  }

  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    const begin = queue.take();
    if (begin === undefined) running--;
    else begin();
  }

  #wait(packedBytes: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (queue.add(this.#owner, resolve, packedBytes)) return promise;
    throw unavailable("Too many bodies are being unpacked.");
  }
}

function unavailable(message: string): ApiError {
  return new ApiError("UNAVAILABLE", message, { retryAfterSeconds: SLOT_RETRY_SEC });
}
