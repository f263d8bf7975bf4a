/** The bounds of pattern mining. Every number says what it protects. */

/** Tokens of a message that count; a message with more is known by its first ones. Bounds the time of one message. */
export const TOKENS_MAX_COUNT = 512;

/** Words of a form that are tried as places of values: a form of more words is long enough to be known by the others. */
export const PLACES_MAX_COUNT = 64;

/** Names of a form of which each two are tried together: pairs grow with the square. */
export const PAIRED_NAMES_MAX_COUNT = 10;

/** Rounds of generalisation: each one turns at least one word into a value, and ordinary logs are done after two. */
export const ROUNDS_MAX_COUNT = 6;

/** Messages that a template is drawn from: more show nothing new. */
export const EXAMPLES_MAX_COUNT = 8;

/** Patterns with the same words between their values that a form is held against: keeps that linear in the forms. */
export const STRAGGLER_PATTERNS_MAX_COUNT = 32;

/** Tokens that stand in the place of a single value: `name(0)` has four, and a whole list is something else. */
export const STRAGGLER_VALUE_TOKENS_MAX_COUNT = 8;
