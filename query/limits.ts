/** The bounds of the query library. Every number says what it protects. */

/** Code points of a `q` text: the API's own limit. */
export const SEARCH_TEXT_MAX_CHARS = 1024;

/** Terms of a `q` text: each one is a pass over every message that the others did not rule out. */
export const SEARCH_TERMS_MAX_COUNT = 64;

/** Rows of any answer: what a person or a page can use, and what fits in the memory of a request. */
export const RESULT_MAX_ROWS = 100_000;

/** What one statement may cost in the store. */
export interface QueryBudget {
  /** Wall time. Checked by the store between blocks, so that a statement may overrun it by a block. */
  readonly maxExecutionMs: number;
  /**
   * Uncompressed bytes, counted while reading. The store's limit on rows is not used: it is checked against an
   * estimate before the first row is read, which refuses the newest 100 rows of a large table.
   */
  readonly maxReadBytes: number;
  /** Memory of one statement in the store; several run at a time beside inserts and merges. */
  readonly maxMemoryBytes: number;
  /** Bytes of the answer before it is encoded; it is held in memory on both sides. */
  readonly maxResultBytes: number;
  /** Rows that a thread reads at a time: a statement that has found enough reads on by as many. As the store likes when absent. */
  readonly maxBlockRows?: number;
}

const MEBIBYTE = 1024 * 1024;
const GIBIBYTE = 1024 * MEBIBYTE;

/** For a person who waits: longer than anybody does, and about what two cores read in that time. */
export const INTERACTIVE_BUDGET: QueryBudget = {
  maxExecutionMs: 15_000,
  maxReadBytes: 64 * GIBIBYTE,
  maxMemoryBytes: 1 * GIBIBYTE,
  maxResultBytes: 128 * MEBIBYTE,
};

/** For a number that decorates an answer: without it the answer is complete, so it must not hold it up. */
export const DECORATION_BUDGET: QueryBudget = {
  maxExecutionMs: 1_000,
  maxReadBytes: 8 * GIBIBYTE,
  maxMemoryBytes: 256 * MEBIBYTE,
  maxResultBytes: 1 * MEBIBYTE,
};

/** Nodes of a plan, once functions and tables of `let` are put in place of their names: time and memory of a compilation. */
export const PLAN_MAX_NODES = 20_000;

/** Calls of functions made by `let` inside one another; they cannot call themselves. */
export const CALL_MAX_DEPTH = 32;

/** Rows of a `range`. */
export const RANGE_MAX_ROWS = 1_000_000;

/** Tables read by one statement, every mention counted: each is a pass over the data. */
export const SCANS_MAX_COUNT = 32;

/** Files that one `externaldata` reads. */
export const EXTERNAL_FILES_MAX_COUNT = 8;

/** Bare names of one query that are told of. */
export const BARE_NAMES_MAX_COUNT = 64;

/** Tables that `union isfuzzy=true` did not find and that are told of. */
export const MISSING_TABLES_MAX_COUNT = 16;

/** Points of one series of `make-series`: they stand in the statement and in every row of the answer. */
export const SERIES_MAX_POINTS = 100_000;

/** UTF-16 units of a query text: above what any route lets through, so that theirs is the limit that people meet. */
export const QUERY_TEXT_MAX_CHARS = 65_536;

/** Columns that one operator makes of the data. */
export const DISCOVERY_MAX_COLUMNS = 500;

/** Different texts of which a library computes a function: they travel with the statement. */
export const LIBRARY_MAX_TEXTS = 10_000;

/** Columns among which segments are looked for: each is read once, and of two sides twice. */
export const SEGMENT_DIMENSIONS_MAX = 12;

/** Values of a column that a segment may have: others are rarer than what segments are looked for. */
export const SEGMENT_VALUES_MAX = 20;

/** Combinations of values among which segments are looked for: those with most rows. */
export const SEGMENTS_MAX_COMBINATIONS = 5_000;

/** Rows of a look at the data. */
export const DISCOVERY_MAX_ROWS = 2 * LIBRARY_MAX_TEXTS;

/** Points of a series that is filtered, decomposed or searched for periods: the work grows with their square. */
export const SERIES_ANALYSED_MAX_POINTS = 10_000;

/** Numbers of a filter over a series, each of which is a pass over it. */
export const SERIES_FILTER_MAX_COEFFICIENTS = 500;
