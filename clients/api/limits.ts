/** The bounds of the client. */

/** One request, from its first byte to its answer. */
export const REQUEST_TIMEOUT_MS = 60_000;
/** Waits between attempts grow from the first to the second. */
export const RETRY_MIN_MS = 100;
export const RETRY_MAX_MS = 15_000;

/** Characters of one event of a stream, above the largest entry: a peer that never ends an event does not fill the memory. */
export const EVENT_MAX_CHARS = 32 * 1024 * 1024;

/** Problems of a refused request that its message lists; all of them are in `fields`. */
export const FIELDS_SHOWN_MAX = 5;
/** Characters of a server's own words in a message. */
export const ERROR_TEXT_MAX_CHARS = 500;
