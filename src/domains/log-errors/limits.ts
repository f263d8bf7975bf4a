/** The bounds of what is told of error groups; each says why it has its value. */

export const PAGE_DEFAULT = 50;
export const PAGE_MAX = 200;

/** Hours and days of a group that are counted apart. */
export const HOURS_SHOWN = 24;
export const DAYS_SHOWN = 30;

/** As long as signals are kept: a group that has been quiet for as long has nothing left to show. */
export const KEPT_MS = 400 * 86_400_000;
/** How long it is known what hours have made: the list tells of a day. */
export const HOURS_KEPT_MS = 7 * 86_400_000;

/** Groups that are merged into one: its counts are read for all of them in one statement. */
export const MERGED_MAX = 200;

/** Groups that one is compared with, the most recent ones, and those of them that are suggested. */
export const COMPARED_MAX = 500;
export const SUGGESTED_MAX = 20;

/** Groups that are told of a time at once. */
export const CHANGES_MAX = 20;

/** Words that a query for a group's entries looks for. */
export const QUERY_WORDS_MAX = 4;
export const QUERY_WORD_MIN_CHARS = 3;
