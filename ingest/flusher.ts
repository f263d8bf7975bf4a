import {
  INSERT_INTERVAL_MS,
  INSERT_MAX_BYTES,
  INSERT_MAX_RECORDS,
  INSERT_RETRY_MAX_MS,
  INSERT_RETRY_MIN_MS,
} from "./limits.ts";
import type { LogStore } from "./log-store.ts";
import type { IngestObserver } from "./observer.ts";
import type { Wal } from "./wal/wal.ts";

export interface FlusherOptions {
  wal: Wal;
  store: LogStore;
  observer: IngestObserver;
}

/**
 * Moves durable records from the write-ahead log into the store, in order, each exactly once. Before an insert the
 * ledger notes its end; after a crash in between, the same range goes out again under the same token and the store
 * drops it if it had arrived. A failing store is asked again for as long as the server lives.
 */
export class Flusher {
  readonly #options: FlusherOptions;
  /** Fired by `drain`: no more pauses between inserts. */
  readonly #draining = new AbortController();
  /** Fired at the deadline: gives up the insert under way, which will be replayed. */
  readonly #stopping = new AbortController();
  readonly #ended = Promise.withResolvers<void>();

  constructor(options: FlusherOptions) {
    this.#options = options;
  }

  /** Flushes until `drain`. Rejects when the log itself fails: then nothing can go on. */
  async run(): Promise<void> {
    try {
      await this.#flushUntilStopped();
    } finally {
      this.#ended.resolve();
    }
  }

  /**
   * Flushes what is in the log and stops, after `deadlineMs` at the latest. What is left stays in the log and is
   * flushed at the next start. Call it when nothing appends any more.
   */
  async drain(deadlineMs: number): Promise<void> {
    this.#draining.abort();
    const timer = setTimeout(() => this.#stopping.abort(), deadlineMs);
    await this.#ended.promise;
    clearTimeout(timer);
  }

  async #flushUntilStopped(): Promise<void> {
    const { wal } = this.#options;
    const stop = this.#stopping.signal;
    let nextInsertAt = 0;
    while (!stop.aborted) {
      const from = wal.ledger.flushedThrough;
      if (wal.durableEnd <= from) {
        if (this.#draining.signal.aborted) return;
        await settledOrAborted(wal.waitFor(from), this.#draining.signal);
        continue;
      }
      await pause(nextInsertAt - performance.now(), this.#draining.signal);
      nextInsertAt = performance.now() + INSERT_INTERVAL_MS;
      await this.#flushFrom(from);
    }
  }

  /** Inserts the next range of records, or the one that a crash interrupted. */
  async #flushFrom(from: number): Promise<void> {
    const { wal } = this.#options;
    const interrupted = wal.ledger.intentEnd > from;
    const range = interrupted
      ? {
          maxBytes: Number.MAX_SAFE_INTEGER,
          maxRecords: Number.MAX_SAFE_INTEGER,
          through: wal.ledger.intentEnd,
        }
      : { maxBytes: INSERT_MAX_BYTES, maxRecords: INSERT_MAX_RECORDS };
    const { records, end } = await wal.read(from, range);
    if (records.length > 0) {
      if (!interrupted) await wal.ledger.setIntent(end);
      const rows = records.reduce((sum, record) => sum + record.rows, 0);
      const blocks = records.map((record) => record.block);
      if (!(await this.#insertUntilDone(blocks, rows, wal.token(from, end)))) return;
    }
    await wal.ledger.setFlushed(end);
    try {
      await wal.release(end);
    } catch (error) {
      this.#options.observer.releaseFailed(error);
    }
  }

  /** Repeats the insert until it succeeds; false when the flusher is stopped before. */
  async #insertUntilDone(blocks: readonly Uint8Array[], rows: number, token: string): Promise<boolean> {
    const { store, observer } = this.#options;
    const stop = this.#stopping.signal;
    for (let attempt = 1; !stop.aborted; attempt++) {
      const startedAt = performance.now();
      try {
        await store.insert(blocks, token, stop);
        const bytes = blocks.reduce((sum, block) => sum + block.length, 0);
        observer.inserted(rows, bytes, performance.now() - startedAt);
        return true;
      } catch (error) {
        const waitMs = Math.min(INSERT_RETRY_MAX_MS, INSERT_RETRY_MIN_MS * 2 ** Math.min(attempt - 1, 10));
        observer.insertFailed(error, attempt, waitMs);
        await pause(waitMs, stop);
      }
    }
    return false;
  }
}

/** Waits for the promise or the signal, and leaves nothing attached to the signal, which lives as long as the server. */
function settledOrAborted(promise: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (): void => {
      signal.removeEventListener("abort", done);
      resolve();
    };
    signal.addEventListener("abort", done, { once: true });
    promise.then(done, (error) => {
      signal.removeEventListener("abort", done);
      reject(error);
    });
  });
}

/** Waits, or less when the signal fires. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0 || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
  });
}
