import type { Logger } from "../log.ts";
import { USAGE_INTERVAL_MS, USAGE_PENDING_MAX } from "./limits.ts";

/** Writes down that the credentials with these row ids were used at a time, unless it was written since `notSinceMs`. */
type TouchCredentials = (ids: readonly number[], atMs: number, notSinceMs: number) => Promise<void>;

interface UsageRecorderOptions {
  touch: TouchCredentials;
  now: () => number;
  log: Logger;
  pendingMax?: number;
}

/**
 * Records the last use of one kind of credential, at most once a minute for each, outside the request that used it.
 * One batch is written at a time and what is used meanwhile forms the next one, so the work never piles up. A
 * batch that cannot be written is logged and dropped: the next use brings it again.
 */
export class UsageRecorder {
  readonly #touch: TouchCredentials;
  readonly #now: () => number;
  readonly #log: Logger;
  readonly #pendingMax: number;
  #pending = new Set<number>();
  #writing: Promise<void> | null = null;

  constructor(options: UsageRecorderOptions) {
    this.#touch = options.touch;
    this.#now = options.now;
    this.#log = options.log;
    this.#pendingMax = options.pendingMax ?? USAGE_PENDING_MAX;
  }

  /** Records a use of a credential last recorded at `lastUsedAtMs`, null for never. Returns at once. */
  record(rowId: number, lastUsedAtMs: number | null): void {
    if (lastUsedAtMs !== null && this.#now() - lastUsedAtMs < USAGE_INTERVAL_MS) return;
    if (this.#pending.size >= this.#pendingMax) return;
    this.#pending.add(rowId);
    this.#writing ??= this.#writePending();
  }

  /** Resolves when everything recorded so far is written or given up. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  async #writePending(): Promise<void> {
    // The first turn ends here, so that the uses of one moment share a batch.
    await Promise.resolve();
    while (this.#pending.size > 0) {
      const ids = [...this.#pending];
      this.#pending = new Set();
      const atMs = this.#now();
      try {
        await this.#touch(ids, atMs, atMs - USAGE_INTERVAL_MS);
      } catch (error) {
        this.#log.error(
          { err: error, credentials: ids.length },
          "the last use of credentials could not be recorded",
        );
      }
    }
    this.#writing = null;
  }
}
