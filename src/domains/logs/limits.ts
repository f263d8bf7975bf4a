import { DECORATION_BUDGET, type QueryBudget } from "../../../query/index.ts";

/** The bounds of reading logs. Every number says what it protects; those of the wire are the specification's. */

export const PAGE_MAX_ENTRIES = 1000;
export const PAGE_DEFAULT_ENTRIES = 100;
export const SERVICE_MAX_CHARS = 255;
export const CURSOR_MAX_CHARS = 64;

/** Entries counted for `total`; what matters beyond it is only that there are more. */
export const TOTAL_MAX_ENTRIES = 10_000;

/**
 * What the count of a search may cost: the answer is complete without it, so it must not double the time of a search
 * for something frequent. Bytes rather than time, so that the same data gives the same answer on a busy machine:
 * some 700 000 messages of ordinary length, or a hundred million levels.
 */
export const TOTAL_BUDGET: QueryBudget = { ...DECORATION_BUDGET, maxReadBytes: 128 * 1024 * 1024 };

/** Statements at a time: each may take every core and its share of memory in the store, beside inserts and merges. */
export const QUERIES_MAX_RUNNING = 16;
/** Statements that wait for those: a burst of dashboards. Beyond it, a refusal at once beats a wait in vain. */
export const QUERIES_MAX_WAITING = 256;
