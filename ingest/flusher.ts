import { lastIdOf } from "./committed-block.ts";
import { entriesOfRequests } from "./given-away.ts";
import { Insertion } from "./insertion.ts";
import {
  INSERT_INTERVAL_MS,
  INSERT_MAX_BYTES,
  INSERT_MAX_RECORDS,
  INSERT_RETRY_MAX_MS,
  INSERT_RETRY_MIN_MS,
} from "./limits.ts";
import type { EntryIds, LogStore } from "./log-store.ts";
import { freeBuffer } from "./native/free-bytes.ts";
import type { IngestObserver } from "./observer.ts";
import type { WalReadLimits, WalRecord } from "./wal/types.ts";
import type { Wal } from "./wal/wal.ts";

interface FlusherOptions {
  wal: Wal;
  store: LogStore;
  observer: IngestObserver;
  /** Requests whose entries somebody else has stored, by their identity. */
  takenOver: () => Promise<readonly Uint32Array[]>;
  /** Hears that the store has all entries up to this one that were made with its number. */
  stored?: ((lastId: bigint) => void) | undefined;
}

/**
 * Moves durable records from the write-ahead log into the store, in order, each exactly once. Before an insert the
 * ledger notes its end, so that the same range goes out again under the same token after a crash. Of what an earlier
 * process left in the log the store is asked first what it has. A failing store is asked again for as long as the
 * server lives.
 */
export class Flusher {
  readonly #options: FlusherOptions;
  #takenOver: readonly Uint32Array[] | null = null;
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
    const { wal, store, observer } = this.#options;
    const { records, end } = await wal.read(from, this.#bounds(from));
    if (records.length > 0) {
      const isRecovered = from < wal.recoveredEnd;
      const blocks = isRecovered ? records.map(({ block }) => block) : joinedBlocks(records);
      if (end > wal.ledger.intentEnd) await wal.ledger.setIntent(end);
      const rows = records.reduce((sum, record) => sum + record.rows, 0);
      const lastIds = blocks.map(lastIdOf);
      const insertion = new Insertion({
        store,
        observer,
        blocks,
        rows,
        token: wal.token(from, end),
        recovered: isRecovered ? () => this.#givenAway(records) : undefined,
      });
      if (!(await this.#insertUntilDone(insertion))) return;
      for (const { buffer } of blocks) freeBuffer(buffer);
      for (const lastId of lastIds) this.#options.stored?.(lastId);
    }
    await wal.ledger.setFlushed(end);
    try {
      await wal.release(end);
    } catch (error) {
      observer.releaseFailed(error);
    }
  }

  /** Asked once: while this process lives, nobody takes over what its log holds. */
  async #givenAway(records: readonly WalRecord[]): Promise<EntryIds> {
    this.#takenOver ??= await this.#options.takenOver();
    return entriesOfRequests(records, this.#takenOver);
  }

  /** What an earlier process left is not mixed with what this one wrote, and what it may have inserted comes by itself. */
  #bounds(from: number): WalReadLimits {
    const { ledger, recoveredEnd } = this.#options.wal;
    const bounds = { maxBytes: INSERT_MAX_BYTES, maxRecords: INSERT_MAX_RECORDS };
    if (ledger.intentEnd > from) return { ...bounds, through: ledger.intentEnd };
    return from < recoveredEnd ? { ...bounds, through: recoveredEnd } : bounds;
  }

  /** Goes on until the store has the rows; false when the flusher is stopped before. */
  async #insertUntilDone(insertion: Insertion): Promise<boolean> {
    const stop = this.#stopping.signal;
    for (let attempt = 1; !stop.aborted; attempt++) {
      try {
        while (!stop.aborted) if (await insertion.advance(stop)) return true;
      } catch (error) {
        const waitMs = Math.min(INSERT_RETRY_MAX_MS, INSERT_RETRY_MIN_MS * 2 ** Math.min(attempt - 1, 10));
        this.#options.observer.insertFailed(error, attempt, waitMs);
        await pause(waitMs, stop);
      }
    }
    return false;
  }
}

/**
 * The blocks of records, moved together where they lie in one buffer, so that whoever sends them need not copy them for it.
 * The records are of no further use.
 */
function joinedBlocks(records: readonly WalRecord[]): Uint8Array[] {
  let behind: { readonly buffer: ArrayBufferLike; readonly at: number } | null = null;
  return records.map(({ block }) => {
    const { buffer, byteOffset, length } = block;
    const at: number = behind?.buffer === buffer ? behind.at : byteOffset;
    const joined = new Uint8Array(buffer, at, length);
    if (at < byteOffset) joined.set(block);
    behind = { buffer, at: at + length };
    return joined;
  });
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
