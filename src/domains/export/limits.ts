/** Bounds of exports; each holds a connection to Postgres and a snapshot, which keeps the store from clearing up. */

/** Exports of one instance at a time, each of another organisation: the pool has few connections, and everything else needs them too. */
export const EXPORTS_MAX_RUNNING = 2;
/** What a refused caller is told to wait: an export of ordinary size is done by then. */
export const EXPORT_RETRY_AFTER_SECONDS = 30;
/** A client that takes nothing for so long is gone or too slow. */
export const EXPORT_STALL_MS = 60_000;
/** An export that takes longer is cut. */
export const EXPORT_MAX_MS = 1_800_000;
/** Rows fetched at a time, which are held in memory until the client has taken them. */
export const EXPORT_FETCH_ROWS = 500;
