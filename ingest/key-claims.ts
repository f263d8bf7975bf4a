import { EventKeySet } from "./dedupe/event-key-set.ts";
import { Serial } from "./wal/serial.ts";

/** The keys of a request that are being looked for. */
interface Claim {
  readonly keySet: EventKeySet;
  readonly ended: Promise<unknown>;
}

/**
 * Large requests have more keys than can be looked for while others wait. They look for them in several turns of the event
 * loop, one request at a time, and what one has claimed nobody else may until it has joined a commit or was refused.
 */
export class KeyClaims {
  readonly #serial = new Serial();
  #present: Claim | null = null;

  /** Whether the request whose turn it is has claimed the key at `keys[at, at + 4)`. */
  has(keys: Uint32Array, at: number): boolean {
    return this.#present?.keySet.has(keys, at) === true;
  }

  get size(): number {
    return this.#present?.keySet.size ?? 0;
  }

  /** Resolves when the request whose turn it is has ended it. */
  async ended(): Promise<void> {
    await this.#present?.ended;
  }

  /** Runs `turn` with a set for what it claims, when it is the only one. */
  run<T>(turn: (keySet: EventKeySet) => Promise<T>): Promise<T> {
    return this.#serial.run(async () => {
      const ended = Promise.withResolvers<void>();
      const keySet = new EventKeySet();
      this.#present = { keySet, ended: ended.promise };
      try {
        return await turn(keySet);
      } finally {
        this.#present = null;
        ended.resolve();
      }
    });
  }
}
