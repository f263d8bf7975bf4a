/** Monitors of one organisation: the list is one answer. */
export const MONITORS_MAX = 10_000;
/** Monitors of one bulk call. */
export const BULK_MAX = 100;
/** Steps of one check. */
export const STEPS_MAX = 20;
/** A bulk call whose monitors have twenty steps with the largest bodies would be larger; nobody has such. */
export const BULK_MAX_BYTES = 20 * 1024 * 1024;

/** Headers of one request of a check. */
export const HEADERS_MAX = 50;
/** Characters of the body of a request of a check. */
export const BODY_MAX_CHARS = 65_536;
