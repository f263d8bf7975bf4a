/** The bounds of reading and checking the audit log. */

export const PAGE_MAX_ROWS = 1000;
export const PAGE_DEFAULT_ROWS = 100;
export const CURSOR_MAX_CHARS = 128;
export const ACTION_MAX_CHARS = 64;

/** Rows of one statement of an export: half a megabyte as a rule, held until the client has taken them. */
export const EXPORT_PAGE_ROWS = 500;
/** An export that takes longer is cut: its client is too slow or gone. */
export const EXPORT_MAX_MS = 3_600_000;

/** Rows that a verification holds at a time; hashing them takes the thread for some ten milliseconds. */
export const VERIFY_BATCH_ROWS = 500;
/** After this a verification answers how far it came: below the half minute after which many clients give up. */
export const VERIFY_MAX_MS = 20_000;
/** Verifications at a time, for each keeps a core busy, and organisations that wait for their turn. */
export const VERIFY_MAX_RUNNING = 1;
export const VERIFY_MAX_WAITING = 64;
/** Verifications of one organisation that wait for its own one, so that none fills the queue of all. */
export const VERIFY_MAX_WAITING_OF_ONE = 4;

/** One statement over the audit log; Postgres stops it just before nobody waits for it any more. */
export const STATEMENT_TIMEOUT_MS = 4_500;
/** One question to ClickHouse about anchors: it reads a few granules. */
export const ANCHOR_QUERY_TIMEOUT_MS = 10_000;

/** How long changes are gathered before their heads are anchored: one insert for all of them, within a second. */
export const ANCHOR_GATHER_MS = 500;
/** How often heads are looked for that no change of this instance told of, such as those a crash has left. */
export const ANCHOR_SWEEP_MS = 5_000;
/** First pause after a failure, doubled up to the maximum: ClickHouse restarts in seconds, an outage is not hurried. */
export const ANCHOR_RETRY_BASE_MS = 500;
export const ANCHOR_RETRY_MAX_MS = 30_000;
/** Heads of one insert. */
export const ANCHOR_BATCH_HEADS = 500;
/** Inserts of one pass; the next pass goes on, after those who also want to know about their heads had a chance. */
export const ANCHOR_MAX_BATCHES = 20;
/** One insert of anchors. */
export const ANCHOR_INSERT_TIMEOUT_MS = 10_000;
/** A whole pass, for which a connection is held: all of its inserts may be slow, but not one after the other. */
export const ANCHOR_PASS_TIMEOUT_MS = 30_000;
/** What the last pass gets when the server stops; what it does not manage, another instance or the next start does. */
export const ANCHOR_STOP_MS = 1_500;
/** Heads looked at for the metrics; behind an outage there may be any number. */
export const ANCHOR_LAG_MAX_HEADS = 1_000;
