/** The bounds of uploads of the journal. Every number says what it protects. */

/** Bytes of an entry, and so of what one upload holds: more than any log, less than a core dump in the journal. */
export const ENTRY_MAX_BYTES = 4 * 1024 * 1024;
/** Bytes of whole entries that are stored together. */
export const BATCH_MIN_BYTES = 256 * 1024;
/** How long whole entries wait for others; with it, they are found within a second. */
export const BATCH_MAX_WAIT_MS = 200;
/** Silence after which an upload that has nothing to say is ended, the most that the listener allows; it begins anew. */
export const IDLE_SEC = 255;
