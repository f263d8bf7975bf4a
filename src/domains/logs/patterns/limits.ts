/** The bounds of counting patterns. Every number says what it protects. */

/** The specification's. */
export const PATTERNS_MAX_COUNT = 200;
export const PATTERNS_DEFAULT_COUNT = 50;

/**
 * Different forms that are told apart: what the store answers with, and what is mined in the server's one thread, some
 * 20 µs each. Ordinary logs have hundreds; the store counts that many exactly before it begins to estimate.
 */
export const FORMS_MAX_COUNT = 10_000;

/** Of messages with more forms, the ones told apart; the rest is counted by kind, of which there may be as many. */
export const FREQUENT_FORMS_MAX_COUNT = 5_000;
export const KINDS_MAX_COUNT = 5_000;

/** Forms that may appear between two statements about the same entries, before they are asked about again. */
export const NEW_FORMS_MAX_COUNT = 5_000;

/** Characters of a message that are looked at and shown: an answer holds three of each form. */
export const TEXT_MAX_CHARS = 2_048;

/** Buckets of a trend: as many as a small chart shows. */
export const TREND_BUCKETS = 24;

export const SAMPLES_MAX_COUNT = 3;

/** Services shown of a pattern. */
export const SERVICES_MAX_COUNT = 10;

/** Services counted of a form; one that more services write counts the most frequent ones. */
export const FORM_SERVICES_MAX_COUNT = 100;

/** Patterns shown that are no more. */
export const VANISHED_MAX_COUNT = 50;

/** The time looked at when a request names no beginning: a day, so that night and day both are in it. */
export const DEFAULT_WINDOW_MS = 24 * 60 * 60 * 1000;

/** Patterns that changed and are told: what a person reads while something is down. */
export const CHANGES_MAX_COUNT = 10;
/** Words of a pattern by which its entries are found, and how short one may be. */
export const PIECES_MAX_COUNT = 5;
export const PIECE_MIN_CHARS = 3;
