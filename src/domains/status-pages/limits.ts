/** Bounds of status pages. */

/** Pages of one organisation. */
export const PAGES_MAX = 50;
/** How long a page is shown without being read anew. */
export const FRESH_MS = 10_000;
/** How long somebody waits for a page that is being read while there is an older one. */
export const WAIT_MS = 1_000;
/** After a failure the database is not asked again for so long. */
export const RETRY_MS = 1_000;
/** Answers kept in memory, those that there is no such page included; one that nobody asks for goes first. */
export const CACHED_MAX = 2_000;
/** Pages of which an instance keeps copies. */
export const COPIES_MAX = 2_000;
/** How often copies are brought up to date, whether or not somebody reads the pages. */
export const KEEP_EVERY_MS = 15_000;
/** A copy is not older than this while the database answers. */
export const COPY_EVERY_MS = 60_000;
/** What an unlocked page stays open for. */
export const UNLOCKED_MS = 24 * 60 * 60 * 1000;
/** Bytes of a form or of the body of an unlock or a subscription. */
export const FORM_MAX_BYTES = 16 * 1024;
