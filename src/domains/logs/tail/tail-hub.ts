import { type CommittedBatch, type CommittedBatches, CommittedBlock } from "../../../../ingest/index.ts";
import { TermFinder, termsOf } from "../../../../query/index.ts";
import type { Logger } from "../../../log.ts";
import type { Metrics } from "../../../ops/metrics.ts";
import { BatchMatcher } from "./batch-matcher.ts";
import { BACKLOG_MAX_BYTES, FINDER_MIN_TERMS } from "./limits.ts";
import type { TailEntry, TailFilter } from "./tail-filter.ts";

/** Whoever gets the entries that a filter lets through. */
export interface TailReader {
  /** Entries of one server, in the order of their ids, each call beyond the one before. Returns at once. */
  deliver(entries: readonly TailEntry[]): void;
  /** So many entries, some of which the filter may have let through, could not be looked at. */
  lose(count: number): void;
  /** Only the store can tell which entries of a batch the filter lets through: from here on it has to be asked. */
  askStore(): void;
}

interface Group {
  readonly filter: TailFilter;
  readonly readers: Set<TailReader>;
}

interface WaitingBatch {
  readonly organizations: ReadonlySet<number>;
  readonly block: Uint8Array;
}

/**
 * Hands the entries of committed batches to the readers whose filter lets them through. A batch of organizations that
 * nobody listens to costs a look into a map; any other is copied, so that the acknowledgement goes out first, and
 * matched once for every distinct filter.
 */
export class TailHub implements CommittedBatches {
  readonly #log: Logger;
  readonly #metrics: Metrics["tail"];
  readonly #organizations = new Map<number, Map<string, Group>>();
  readonly #backlog: WaitingBatch[] = [];
  #backlogBytes = 0;
  /** For the terms of all filters; made when it is needed, null when there are few. */
  #finder: TermFinder | null | undefined;

  constructor(options: { log: Logger; metrics: Metrics["tail"] }) {
    this.#log = options.log;
    this.#metrics = options.metrics;
  }

  /** Whether every batch committed so far has been handed on. */
  get isIdle(): boolean {
    return this.#backlog.length === 0;
  }

  /** The reader gets what is committed from now on, until the returned function is called. */
  add(organizationId: number, filter: TailFilter, reader: TailReader): () => void {
    const groups = this.#organizations.get(organizationId) ?? new Map<string, Group>();
    this.#organizations.set(organizationId, groups);
    const group = groups.get(filter.key) ?? { filter, readers: new Set<TailReader>() };
    groups.set(filter.key, group);
    group.readers.add(reader);
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
    if (this.#organizations.size === 0 || !this.#isWanted(organizations)) return;
    this.#backlog.push({ organizations, block: block.slice() });
    this.#backlogBytes += block.length;
    if (this.#backlog.length === 1) setImmediate(() => this.#handOnNext());
    while (this.#backlogBytes > BACKLOG_MAX_BYTES) this.#handOn();
  }

  #isWanted(organizations: ReadonlySet<number>): boolean {
    for (const organizationId of organizations) if (this.#organizations.has(organizationId)) return true;
    return false;
  }

  /** One batch in each turn of the event loop, so that requests and readers get theirs in between. */
  #handOnNext(): void {
    this.#handOn();
    if (this.#backlog.length > 0) setImmediate(() => this.#handOnNext());
  }

  #handOn(): void {
    const batch = this.#backlog.shift();
    if (batch === undefined) return;
    this.#backlogBytes -= batch.block.length;
    const groups = [...batch.organizations].flatMap((organizationId) =>
      [...(this.#organizations.get(organizationId)?.values() ?? [])].map((group) => ({
        organizationId,
        group,
      })),
    );
    if (groups.length === 0) return;
    const block = new CommittedBlock(batch.block);
    const matcher = new BatchMatcher(block, this.#termFinder());
    for (const { organizationId, group } of groups) {
      try {
        this.#handOnTo(group, matcher.entriesOf(organizationId, group.filter));
      } catch (error) {
        this.#log.error({ err: error }, "a batch could not be handed to live tails");
        for (const reader of group.readers) reader.lose(block.rows);
      }
    }
  }

  #termFinder(): TermFinder | null {
    if (this.#finder !== undefined) return this.#finder;
    const filters = [...this.#organizations.values()].flatMap((groups) => [...groups.values()]);
    const terms = new Set(
      filters.flatMap(({ filter: { filter } }) => (filter.search === null ? [] : termsOf(filter.search))),
    );
    this.#finder = terms.size < FINDER_MIN_TERMS ? null : new TermFinder(terms);
    return this.#finder;
  }

  #handOnTo({ readers }: Group, entries: readonly TailEntry[] | null): void {
    if (entries === null) for (const reader of readers) reader.askStore();
    if (entries === null || entries.length === 0) return;
    this.#metrics.matched.inc(entries.length);
    for (const reader of readers) reader.deliver(entries);
  }
}
