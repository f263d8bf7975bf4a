import type { LogFilter, RowMatcher } from "../../../../query/index.ts";

/** Which entries a tail shows. */
export interface TailFilter {
  /** Filters of one key show the same entries. */
  readonly key: string;
  readonly filter: LogFilter;
  /** What the query asks beside the rest of the filter; null when it asks nothing, or when only the store can tell. */
  readonly matches: RowMatcher | null;
  /** False when only the store can tell what the query lets through. */
  readonly isLive: boolean;
}

/** An entry that a filter let through. Its text is made once, however many readers get it. */
export interface TailEntry {
  readonly id: bigint;
  /** As `GET /logs/:id` answers it. */
  readonly json: string;
}
