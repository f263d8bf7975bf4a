import { EventKeySet } from "./dedupe/event-key-set.ts";
import type { LogBatch } from "./log-batch.ts";
import { ByteBuffer } from "./native/byte-buffer.ts";

/** Requests that share a record of the log. */
export interface Commit<Entries = LogBatch | OwnBlock> {
  readonly entries: Entries;
  readonly keys: ByteBuffer;
  readonly keySet: EventKeySet;
  readonly outcome: PromiseWithResolvers<void>;
  /** Whose entries they are. */
  readonly organizations: Set<number>;
  requests: number;
}

/** The entries of one large request, which are a record of their own: copying them to a batch would take long. */
export interface OwnBlock {
  /** As `LogBatch.writeTo` wrote it, and without event ids. */
  readonly block: Uint8Array;
  readonly rows: number;
  readonly receivedAtMs: number;
}

/** A commit without requests; a batch is empty. */
export function newCommit<Entries>(entries: Entries): Commit<Entries> {
  const outcome = Promise.withResolvers<void>();
  // Whoever waits gets the rejection; a commit that nobody waits for any more is no error of its own.
  outcome.promise.catch(() => undefined);
  return {
    entries,
    keys: new ByteBuffer(256),
    keySet: new EventKeySet(),
    outcome,
    organizations: new Set(),
    requests: 0,
  };
}
