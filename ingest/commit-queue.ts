import { bytesOf, type Commit, holdsKey, keyCountOf, newCommit, rowsOf } from "./commit.ts";
import { CommitWriter } from "./commit-writer.ts";
import { IngestUnavailableError } from "./errors.ts";
import { BATCH_MAX_BYTES } from "./limits.ts";
import { LogBatch } from "./log-batch.ts";
import { LOG_ID_STEP } from "./log-id.ts";
import type { IngestPipelineOptions } from "./pipeline-options.ts";

/**
 * Commits, one after the other: while one is being synced all requests that arrive gather in the next, so the disk is never
 * idle and never asked twice at the same time.
 */
export class CommitQueue {
  readonly #options: IngestPipelineOptions;
  readonly #writer: CommitWriter;
  #spareBatch = new LogBatch();
  #open = newCommit(new LogBatch());
  #syncing: Commit | null = null;
  #scheduled = false;
  #closing = false;

  constructor(options: IngestPipelineOptions) {
    this.#options = options;
    this.#writer = new CommitWriter(options);
  }

  /** Takes requests; whoever adds one tells with `added`. */
  get open(): Commit {
    return this.#open;
  }

  get syncing(): Commit | null {
    return this.#syncing;
  }

  /** Keys that wait to be remembered. */
  get keyCount(): number {
    return keyCountOf(this.#open) + (this.#syncing === null ? 0 : keyCountOf(this.#syncing));
  }

  /** The batches committed so far have ids at or below it, all later ones ids above it. */
  get idMark(): bigint {
    return (this.#writer.firstId ?? this.#options.ids.mark()) - BigInt(LOG_ID_STEP);
  }

  /**
   * Whether a request of so many bytes has to wait until the open commit is closed. Those that wait are first in the next
   * one, in their order, so that a large request is not kept waiting by small ones.
   */
  isFullFor(bytes: number): boolean {
    return this.#open.requests > 0 && bytesOf(this.#open) + bytes > BATCH_MAX_BYTES;
  }

  /** The commit that holds a key and is not durable yet. */
  holderOf(keys: Uint32Array, at: number): Commit | null {
    if (this.#syncing !== null && holdsKey(this.#syncing, keys, at)) return this.#syncing;
    return holdsKey(this.#open, keys, at) ? this.#open : null;
  }

  /** The open commit has one request more. */
  added(): void {
    this.#open.requests++;
    this.#schedule();
  }

  refuseWhenUnable(): void {
    const { log, ids } = this.#options;
    if (this.#closing) throw new IngestUnavailableError("closing", "the server is shutting down");
    if (!ids.isReady)
      throw new IngestUnavailableError(
        "no_instance",
        "the server has been without its database for too long to make ids",
      );
    if (log.bytes >= log.maxBytes)
      throw new IngestUnavailableError(
        "log_full",
        "the write-ahead log is full because the log store does not keep up",
      );
  }

  /** Throws when `count` more keys cannot be remembered. */
  refuseKeys(count: number): void {
    if (count === 0 || this.#options.events.hasRoomFor(this.keyCount + count)) return;
    throw new IngestUnavailableError(
      "duplicates_full",
      "more event ids arrived within the deduplication window than the server may remember",
    );
  }

  /** Refuses new requests and resolves when all earlier ones are answered. */
  async close(): Promise<void> {
    this.#closing = true;
    while (this.#syncing !== null || this.#open.requests > 0)
      await (this.#syncing ?? this.#open).outcome.promise.catch(() => undefined);
  }

  #schedule(): void {
    if (this.#scheduled || this.#syncing !== null) return;
    this.#scheduled = true;
    // One turn of the event loop lets requests that arrived together share a sync.
    setImmediate(() => {
      this.#scheduled = false;
      void this.#commitNext();
    });
  }

  async #commitNext(): Promise<void> {
    const commit = this.#open;
    const { observer } = this.#options;
    const startedAt = performance.now();
    this.#syncing = commit;
    this.#open = newCommit(this.#spareBatch);
    commit.closed.resolve();
    const rows = rowsOf(commit);
    try {
      if (rows > 0) await this.#writer.write(commit);
      observer.committed(rows, commit.requests, performance.now() - startedAt);
      commit.outcome.resolve();
    } catch (error) {
      observer.commitFailed(commit.requests, error);
      commit.outcome.reject(
        new IngestUnavailableError("write_failed", "the entries could not be made durable", { cause: error }),
      );
    } finally {
      commit.batch.clear();
      this.#spareBatch = commit.batch;
      this.#syncing = null;
      if (this.#open.requests > 0) this.#schedule();
    }
  }
}
