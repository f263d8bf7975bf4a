/** The bounds of keeping, reading and replaying quarantined records. */

const DAY_MS = 86_400_000;

/** How long a record waits for its mapping. */
export const RECORD_KEPT_MS = 30 * DAY_MS;
/** How long it is remembered that a record was replayed: longer than any sender retries the request it came with. */
export const REPLAYED_KEPT_MS = DAY_MS;
/** A claim of that age belongs to no replay that still runs: with it a record may leave when its time is over. */
export const ABANDONED_CLAIM_MS = DAY_MS;

/** Records of one INSERT, and bytes of them: a statement is built in memory, twice as large as what it carries. */
export const INSERT_MAX_RECORDS = 1_000;
export const INSERT_MAX_BYTES = 4 * 2 ** 20;
/** For what one request brings, which is at most a body: some statements and a commit. */
export const KEEP_TIMEOUT_MS = 20_000;
/**
 * Requests whose records are being written at a time: those of one organisation wait for each other, and each has one
 * of the server's connections to Postgres meanwhile. And those that wait for their turn.
 */
export const KEEPS_MAX_RUNNING = 4;
export const KEEPS_MAX_WAITING = 1_000;
/** The same of one organisation, whose records are written one after the other in any case. */
export const KEEPS_MAX_RUNNING_OF_ONE = 2;
export const KEEPS_MAX_WAITING_OF_ONE = 250;
/** Characters of a place; longer ones are no help to anybody. */
export const PLACE_MAX_CHARS = 500;

export const PAGE_MAX_RECORDS = 200;
export const PAGE_DEFAULT_RECORDS = 50;
export const CURSOR_MAX_CHARS = 64;
/** Bytes of a record shown in a list. */
export const SHOWN_RAW_BYTES = 1_024;
/** Pairs of source and reason in a summary, those with the most records; reasons may carry pieces of the records. */
export const SUMMARY_MAX_GROUPS = 200;

/** Records named in one request. */
export const IDS_MAX_COUNT = 1_000;

/** What one step of a replay takes on: it is in memory at once and becomes one request of the ingest pipeline. */
export const STEP_MAX_RECORDS = 500;
export const STEP_MAX_BYTES = 4 * 2 ** 20;
/** A replay begins no step after this, and answers what is left: well before a connection that is silent is closed. */
export const REPLAY_MAX_MS = 20_000;
/** The same for a dry run, which nobody should have to wait for. */
export const DRY_RUN_MAX_MS = 8_000;
/** Replays and dry runs at a time, for each keeps the thread busy in its steps, and those that wait for their turn. */
export const REPLAYS_MAX_RUNNING = 2;
export const REPLAYS_MAX_WAITING = 16;
/** The same of one organisation. */
export const REPLAYS_MAX_RUNNING_OF_ONE = 1;
export const REPLAYS_MAX_WAITING_OF_ONE = 8;
export const EXAMPLE_ENTRIES_MAX = 5;
export const REPORTED_REASONS_MAX = 20;

/** Records of one transaction that discards. */
export const DISCARD_MAX_RECORDS = 10_000;

/** Between two looks for claims whose replay was interrupted. */
export const RECOVERY_POLL_MS = 30_000;
/** A claim of another log that is younger may well be ended by its own server: that takes seconds after a restart. */
export const TAKE_OVER_AFTER_MS = 3_600_000;
/** Claims settled in a round. */
export const RECOVERY_MAX_CLAIMS = 100;
/** What the flush of the write-ahead log gets before the next round waits for it. */
export const RECOVERY_FLUSH_MS = 10_000;
/** How far the clock may have been set back between a claim and its append. */
export const CLOCK_MARGIN_MS = DAY_MS;
/** A question to the log store about the entries of one claim. */
export const STORED_ENTRIES_TIMEOUT_MS = 30_000;
/** How long settling interrupted replays may take when the server stops; the next start goes on with it. */
export const STOP_MS = 1_000;
