import { EventKeySet } from "./dedupe/event-key-set.ts";
import type { EntrySlice } from "./entry-slice.ts";
import type { LogBatch } from "./log-batch.ts";
import { ByteBuffer } from "./native/byte-buffer.ts";

/** Requests whose entries become durable together. */
export interface Commit {
  /** Entries of small requests. */
  readonly batch: LogBatch;
  /** Whose entries those are. */
  readonly organizations: Set<number>;
  /** Keys of those entries and requests. */
  readonly keys: ByteBuffer;
  /** Entries of large requests, which bring their keys along. */
  readonly slices: EntrySlice[];
  /** Keys that the small requests have claimed. */
  readonly keySet: EventKeySet;
  /** Those, and what each of the large ones has. */
  readonly keySets: EventKeySet[];
  /** Resolves when it takes no further request. */
  readonly closed: PromiseWithResolvers<void>;
  readonly outcome: PromiseWithResolvers<void>;
  requests: number;
}

/** A commit without requests; the batch is empty. */
export function newCommit(batch: LogBatch): Commit {
  const outcome = Promise.withResolvers<void>();
  // Whoever waits gets the rejection; a commit that nobody waits for any more is no error of its own.
  outcome.promise.catch(() => undefined);
  const keySet = new EventKeySet();
  return {
    batch,
    organizations: new Set(),
    keys: new ByteBuffer(256),
    slices: [],
    keySet,
    keySets: [keySet],
    closed: Promise.withResolvers(),
    outcome,
    requests: 0,
  };
}

/** Bytes of the entries, about. */
export function bytesOf({ batch, slices }: Commit): number {
  return slices.reduce((sum, { bytes }) => sum + bytes.length, batch.contentBytes);
}

export function rowsOf({ batch, slices }: Commit): number {
  return slices.reduce((sum, { rows }) => sum + rows, batch.rows);
}

/** Keys that the commit holds. */
export function keyCountOf({ keySets }: Commit): number {
  return keySets.reduce((sum, { size }) => sum + size, 0);
}

export function holdsKey({ keySets }: Commit, key: Uint32Array, at: number): boolean {
  return keySets.some((set) => set.has(key, at));
}
