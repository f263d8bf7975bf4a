import { EventKeySet } from "./dedupe/event-key-set.ts";
import type { LogBatch } from "./log-batch.ts";
import { ByteBuffer } from "./native/byte-buffer.ts";

/** Requests that share a batch and so one record of the log. */
export interface Commit {
  readonly batch: LogBatch;
  readonly keys: ByteBuffer;
  readonly keySet: EventKeySet;
  readonly outcome: PromiseWithResolvers<void>;
  /** Whose entries are in the batch. */
  readonly organizations: Set<number>;
  requests: number;
}

/** A commit without requests; the batch is empty. */
export function newCommit(batch: LogBatch): Commit {
  const outcome = Promise.withResolvers<void>();
  // Whoever waits gets the rejection; a commit that nobody waits for any more is no error of its own.
  outcome.promise.catch(() => undefined);
  return {
    batch,
    keys: new ByteBuffer(256),
    keySet: new EventKeySet(),
    outcome,
    organizations: new Set(),
    requests: 0,
  };
}
