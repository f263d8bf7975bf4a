/** The bounds of pattern mining. Every number says what it protects. */

/** Tokens of a message that count; a message with more is known by its first ones. Bounds the time of one message. */
export const TOKENS_MAX_COUNT = 512;

/** Words of a form that are tried as places of values: a form of more words is long enough to be known by the others. */
export const PLACES_MAX_COUNT = 64;

/** Rounds of generalisation: each one turns at least one word into a value, and ordinary logs are done after two. */
export const ROUNDS_MAX_COUNT = 6;

/** Messages that a template is drawn from: more show nothing new. */
export const EXAMPLES_MAX_COUNT = 8;
