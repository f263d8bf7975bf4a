import { type CommittedBatch, type CommittedBatches, CommittedBlock } from "../../../../ingest/index.ts";
import { messageConditions, TermFinder, termsOf } from "../../../../query/index.ts";
import type { Logger } from "../../../log.ts";
import { BatchBacklog, type WaitingBatch } from "./batch-backlog.ts";
import { BatchMatcher } from "./batch-matcher.ts";
import {
  BACKLOG_MAX_BYTES,
  IDLE_THREAD_MAX_LATE_MS,
  MATCHING_BURST_MS,
  MATCHING_MAX_WAIT_MS,
  MATCHING_SLICE_MS,
  MATCHING_THREAD_SHARE,
} from "./limits.ts";
import type { MatchedEntries, TailFilter } from "./tail-filter.ts";
import type { TailMetrics } from "./tail-metrics.ts";
import { ThreadShare } from "./thread-share.ts";

/** Whoever gets the entries that a filter lets through. */
export interface TailReader {
  /** Entries of one server, each call beyond the one before; takes as many as there is room for. Returns at once. */
  deliver(entries: MatchedEntries): void;
  /** So many entries, some of which the filter may have let through, could not be looked at. */
  lose(count: number): void;
  /** Only the store can tell which entries of a batch the filter lets through: from here on it has to be asked. */
  askStore(): void;
}

interface Group {
  readonly organizationId: number;
  readonly filter: TailFilter;
  /** With the number of the last batch that was committed before they came. */
  readonly readers: Map<TailReader, number>;
}

/** A batch on its way through the groups that listen to it. */
interface Matching {
  readonly batch: WaitingBatch;
  readonly block: CommittedBlock;
  readonly matcher: BatchMatcher;
  readonly groups: readonly Group[];
  next: number;
}

interface TailHubOptions {
  readonly log: Logger;
  readonly metrics: TailMetrics;
  /** Milliseconds of a clock that does not jump. */
  readonly monotonicMs?: () => number;
}

/**
 * Hands the entries of committed batches to the readers whose filter lets them through. A batch of organizations that
 * nobody listens to costs a look into a map; any other is copied, so that the acknowledgement goes out first, and
 * matched once for every distinct filter. Matching takes a bounded share of a busy thread. When that is not enough and
 * too much waits, what waits is given up and counted for the readers: ingest never waits for a tail.
 */
export class TailHub implements CommittedBatches {
  readonly #log: Logger;
  readonly #metrics: TailMetrics;
  readonly #monotonicMs: () => number;
  readonly #organizations = new Map<number, Map<string, Group>>();
  readonly #backlog = new BatchBacklog();
  readonly #share: ThreadShare;
  #matching: Matching | null = null;
  #isScheduled = false;
  #committed = 0;
  /** For the terms of all filters; made when it is needed, null when there are few. */
  #finder: TermFinder | null | undefined;

  constructor({ log, metrics, monotonicMs = () => performance.now() }: TailHubOptions) {
    this.#log = log;
    this.#metrics = metrics;
    this.#monotonicMs = monotonicMs;
    this.#share = new ThreadShare({ share: MATCHING_THREAD_SHARE, burstMs: MATCHING_BURST_MS, monotonicMs });
  }

  /** Whether every batch committed so far has been handed on. */
  get isIdle(): boolean {
    return this.#backlog.length === 0 && this.#matching === null;
  }

  /** The reader gets what is committed from now on, until the returned function is called. */
  add(organizationId: number, filter: TailFilter, reader: TailReader): () => void {
    const groups = this.#organizations.get(organizationId) ?? new Map<string, Group>();
    this.#organizations.set(organizationId, groups);
    const group = groups.get(filter.key) ?? { organizationId, filter, readers: new Map() };
    groups.set(filter.key, group);
    group.readers.set(reader, this.#committed);
    this.#finder = undefined;
    return () => {
      this.#finder = undefined;
      group.readers.delete(reader);
      if (group.readers.size === 0 && groups.get(filter.key) === group) groups.delete(filter.key);
      if (groups.size === 0 && this.#organizations.get(organizationId) === groups)
        this.#organizations.delete(organizationId);
    };
  }

  committed({ organizations, block }: CommittedBatch): void {
    this.#committed++;
    if (this.#organizations.size === 0 || !this.#isWanted(organizations)) return;
    if (this.#backlog.bytes + block.length > BACKLOG_MAX_BYTES) this.#giveUpBacklog();
    this.#backlog.push(organizations, block, this.#committed);
    this.#schedule();
  }

  #isWanted(organizations: ReadonlySet<number>): boolean {
    for (const organizationId of organizations) if (this.#organizations.has(organizationId)) return true;
    return false;
  }

  /** In turns of the event loop of their own, so that requests and readers get theirs in between. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const waitMs = Math.min(this.#share.waitMs, MATCHING_MAX_WAIT_MS);
    if (waitMs === 0) setImmediate(() => this.#work());
    else {
      const dueMs = this.#monotonicMs() + waitMs;
      setTimeout(() => this.#workWhenFree(dueMs), waitMs);
    }
  }

  /** A timer that is called in time says that nobody else wants the thread: then the share does not matter. */
  #workWhenFree(dueMs: number): void {
    const isFree = this.#monotonicMs() - dueMs < IDLE_THREAD_MAX_LATE_MS;
    if (isFree || this.#share.waitMs === 0) this.#work();
    else {
      this.#isScheduled = false;
      this.#schedule();
    }
  }

  #work(): void {
    const startMs = this.#monotonicMs();
    let workedMs = 0;
    while (!this.isIdle && workedMs < MATCHING_SLICE_MS) {
      this.#matchNext();
      workedMs = this.#monotonicMs() - startMs;
    }
    this.#share.spend(workedMs);
    this.#isScheduled = false;
    if (!this.isIdle) this.#schedule();
  }

  /** One group's share of a batch. */
  #matchNext(): void {
    const matching = this.#matching ?? this.#beginBatch();
    const group = matching?.groups[matching.next++];
    if (matching === null || group === undefined) {
      this.#matching = null;
      if (matching !== null) this.#backlog.giveBack(matching.batch);
      return;
    }
    this.#matching = matching;
    const { batch, block, matcher } = matching;
    try {
      this.#handOn(group, batch.number, matcher.entriesOf(group.organizationId, group.filter));
    } catch (error) {
      this.#log.error({ err: error }, "a batch could not be handed to live tails");
      for (const reader of readersOf(group, batch.number)) reader.lose(block.rows);
    }
  }

  #beginBatch(): Matching | null {
    const batch = this.#backlog.shift();
    if (batch === undefined) return null;
    const groups = this.#groupsOf(batch);
    const block = new CommittedBlock(batch.block);
    return { batch, block, matcher: new BatchMatcher(block, this.#termFinder()), groups, next: 0 };
  }

  #groupsOf({ organizations }: WaitingBatch): Group[] {
    return [...organizations].flatMap((organizationId) => [
      ...(this.#organizations.get(organizationId)?.values() ?? []),
    ]);
  }

  /** All of it: one long gap, after which readers are at the present again, instead of many short ones. */
  #giveUpBacklog(): void {
    for (let batch = this.#backlog.shift(); batch !== undefined; batch = this.#backlog.shift()) {
      const matcher = new BatchMatcher(new CommittedBlock(batch.block), null);
      for (const group of this.#groupsOf(batch))
        for (const reader of readersOf(group, batch.number))
          reader.lose(matcher.countOf(group.organizationId));
      this.#backlog.giveBack(batch);
    }
  }

  #termFinder(): TermFinder | null {
    if (this.#finder !== undefined) return this.#finder;
    const filters = [...this.#organizations.values()].flatMap((groups) => [...groups.values()]);
    const terms = new Set(filters.flatMap(({ filter }) => searchTermsOf(filter)));
    this.#finder = terms.size === 0 ? null : new TermFinder(terms);
    return this.#finder;
  }

  #handOn(group: Group, number: number, entries: MatchedEntries | null): void {
    if (entries === null) for (const reader of readersOf(group, number)) reader.askStore();
    if (entries === null || entries.count === 0) return;
    this.#metrics.matched.inc(entries.count);
    for (const reader of readersOf(group, number)) reader.deliver(entries);
  }
}

function searchTermsOf({ filter, bound }: TailFilter): string[] {
  const conditions = bound === null ? [] : messageConditions(bound);
  if (filter.search !== null) conditions.push(filter.search);
  return conditions.flatMap(termsOf);
}

/** Those that were there when the batch was committed. */
function readersOf({ readers }: Group, batchNumber: number): TailReader[] {
  return [...readers].filter(([, joined]) => joined < batchNumber).map(([reader]) => reader);
}
