import { setImmediate as nextTurn } from "node:timers/promises";
import type { Commit } from "./commit.ts";
import type { CommitQueue } from "./commit-queue.ts";
import { EVENT_KEY_WORDS } from "./dedupe/event-key.ts";
import type { EventKeySet } from "./dedupe/event-key-set.ts";
import type { EventWindow } from "./dedupe/event-window.ts";
import { keysOf } from "./entry-record.ts";
import type { EntryRules } from "./entry-rules.ts";
import type { EntrySlice } from "./entry-slice.ts";
import { IngestKeyReusedError } from "./errors.ts";
import type { IngestRequest, IngestResult } from "./ingest-request.ts";
import { KeyClaims } from "./key-claims.ts";
import { EVENT_KEYS_PER_TURN } from "./limits.ts";
import { LogBatch } from "./log-batch.ts";
import { freeBuffer } from "./native/free-bytes.ts";
import { ruledSlices, withoutEvents } from "./rewrite-slice.ts";

/** What is to be stored of a request. */
interface Unseen {
  readonly slices: readonly EntrySlice[];
  /** Null for a request without keys. */
  readonly keySet: EventKeySet | null;
  /** The whole request repeats an earlier one. */
  readonly replayed: boolean;
}

/**
 * Requests that were decoded on another thread. Their slices become records of the log as they came, but for entries that
 * rules change or that are stored already; nothing is done with more than a slice, or some thousand keys, until others get
 * a turn.
 */
export class LargeRequests {
  readonly #commits: CommitQueue;
  readonly #events: EventWindow;
  readonly claims = new KeyClaims();
  /** For entries that are changed; empty between two turns. */
  readonly #scratch = new LogBatch();

  constructor(commits: CommitQueue, events: EventWindow) {
    this.#commits = commits;
    this.#events = events;
  }

  /** Stores the entries of a request, whose slices are given away. Resolves and rejects as `IngestPipeline.ingest`. */
  async store(
    request: IngestRequest,
    decoded: readonly EntrySlice[],
    rules: EntryRules | null,
    joined: (result: IngestResult) => void,
  ): Promise<IngestResult> {
    const held = new Set(decoded);
    const hold = (slices: readonly EntrySlice[]): void => {
      for (const slice of slices) held.add(slice);
    };
    try {
      const ruled = rules === null ? null : await ruledSlices(decoded, request, rules, this.#scratch);
      const slices = ruled?.slices ?? decoded;
      hold(slices);
      const { unseen, commit } = await this.#joinUnseen(request, slices, hold);
      const rows = rowsIn(slices);
      const accepted = rows + (ruled?.dropped ?? 0);
      const { replayed } = unseen;
      const result = { accepted, duplicates: replayed ? accepted : rows - rowsIn(unseen.slices), replayed };
      joined(result);
      await commit?.outcome.promise;
      if (!replayed) ruled?.applied();
      return result;
    } finally {
      for (const { bytes } of held) freeBuffer(bytes.buffer);
    }
  }

  #joinUnseen(
    request: IngestRequest,
    slices: readonly EntrySlice[],
    hold: (slices: readonly EntrySlice[]) => void,
  ): Promise<{ unseen: Unseen; commit: Commit | null }> {
    const join = async (unseen: Unseen): Promise<{ unseen: Unseen; commit: Commit | null }> => {
      hold(unseen.slices);
      return { unseen, commit: await this.#join(unseen) };
    };
    const hasKeys =
      request.keys !== null || request.isStored === true || slices.some(({ eventKeys }) => eventKeys > 0);
    if (!hasKeys) return join({ slices, keySet: null, replayed: false });
    return this.claims.run(async (keySet) => join(await this.#unseenOf(request, slices, keySet)));
  }

  /** Puts entries in the open commit; null when there are none, and so nothing to wait for. */
  async #join({ slices, keySet }: Unseen): Promise<Commit | null> {
    const bytes = slices.reduce((sum, slice) => sum + slice.bytes.length, 0);
    if (bytes === 0) return null;
    while (this.#commits.isFullFor(bytes)) await this.#commits.open.closed.promise;
    this.#commits.refuseWhenUnable();
    this.#commits.refuseKeys(keySet?.size ?? 0);
    const commit = this.#commits.open;
    commit.slices.push(...slices);
    if (keySet !== null) commit.keySets.push(keySet);
    this.#commits.added();
    return commit;
  }

  /** What was not seen before, once that is decided of every key; all keys that were not are in `keySet` then. */
  async #unseenOf(
    request: IngestRequest,
    slices: readonly EntrySlice[],
    keySet: EventKeySet,
  ): Promise<Unseen> {
    if (await this.#isReplayed(request)) return { slices: [], keySet: null, replayed: true };
    if (request.keys !== null)
      for (const key of [request.keys.identity, request.keys.content]) keySet.add(key, 0);
    const unseen: EntrySlice[] = [];
    for (const slice of slices) {
      const repeated = await this.#repeatedIn(slice, keySet);
      unseen.push(...withoutEvents(slice, request, repeated, this.#scratch));
      if (repeated.size > 0) await nextTurn();
    }
    return { slices: unseen, keySet, replayed: false };
  }

  /** Whether the request came before; throws when only its name did. */
  async #isReplayed({ keys, isStored }: IngestRequest): Promise<boolean> {
    if (isStored === true) return true;
    if (keys === null || !(await this.#isSeen(keys.identity, 0))) return false;
    if (!(await this.#isSeen(keys.content, 0))) throw new IngestKeyReusedError();
    return true;
  }

  /** The positions of keys that were seen before, and adds the others to `keySet`. */
  async #repeatedIn(slice: EntrySlice, keySet: EventKeySet): Promise<ReadonlySet<number>> {
    const repeated = new Set<number>();
    const keys = keysOf(slice);
    for (let key = 0; key < slice.eventKeys; key++) {
      if (key % EVENT_KEYS_PER_TURN === EVENT_KEYS_PER_TURN - 1) await nextTurn();
      const at = key * EVENT_KEY_WORDS;
      const isUndecided = this.#commits.holderOf(keys, at) !== null;
      const isSeen = isUndecided ? await this.#isSeen(keys, at) : this.#events.has(keys, at);
      if (isSeen || !keySet.add(keys, at)) repeated.add(key);
    }
    return repeated;
  }

  /** Whether the key is remembered, once no commit holds it that may fail. */
  async #isSeen(keys: Uint32Array, at: number): Promise<boolean> {
    let holder = this.#commits.holderOf(keys, at);
    for (; holder !== null; holder = this.#commits.holderOf(keys, at))
      await holder.outcome.promise.catch(() => undefined);
    return this.#events.has(keys, at);
  }
}

function rowsIn(slices: readonly EntrySlice[]): number {
  return slices.reduce((sum, { rows }) => sum + rows, 0);
}
