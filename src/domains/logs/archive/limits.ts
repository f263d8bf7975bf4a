/** The bounds of searching the archive. */

/** Files of the first statement of a page: the newest entries are in few of them. */
export const FIRST_FILES = 4;
/** Each further statement takes so many times as many files, */
export const FILES_GROWTH = 4;
/** up to this: each file is opened, and named in the statement. */
export const STATEMENT_MAX_FILES = 256;
/** Files among which a search finds its own: their names and times are held in memory. */
export const SEARCH_MAX_FILES = 8192;

/**
 * Pages among whose entries the page is looked for first, before whole files: filters let few through, and entries do not lie evenly.
 * Of a page of 100 that is less than a row group, below which nothing is saved.
 */
export const LIKELY_PAGES = 200;
/** Of fewer parts than that, one is not worth a statement of its own. */
export const LIKELY_PARTS_MIN = 8n;

/** Units of a page of the list. */
export const UNITS_PAGE_DEFAULT = 100;
export const UNITS_PAGE_MAX = 500;
/** Longer than any cursor of it. */
export const UNITS_CURSOR_MAX_CHARS = 64;
