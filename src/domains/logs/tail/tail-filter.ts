import type { LogFilter, RowBound, RowMatcher } from "../../../../query/index.ts";

/** Which entries a tail shows. */
export interface TailFilter {
  /** Filters of one key show the same entries. */
  readonly key: string;
  readonly filter: LogFilter;
  /** What the query asks beside the rest of the filter; null when it asks nothing, or when only the store can tell. */
  readonly matches: RowMatcher | null;
  /** What all entries fulfil that `matches` lets through, quicker to decide; null when nothing is known of them. */
  readonly bound: RowBound | null;
  /** False when only the store can tell what the query lets through. */
  readonly isLive: boolean;
}

/** An entry that a filter let through. Its text is made once, however many readers get it. */
export interface TailEntry {
  readonly id: bigint;
  /** As `GET /logs/:id` answers it. */
  readonly json: string;
}

/** Entries that a filter let through, at least one, in the order of their ids. */
export interface MatchedEntries {
  readonly count: number;
  readonly lastId: bigint;
  /** The first so many. What nobody asks for is never put into text. */
  readonly first: (count: number) => readonly TailEntry[];
}
