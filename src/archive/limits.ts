/** The bounds of archiving; each says what it protects. */

/** Entries of one file: its ids are held in memory while it is written and while the log store lets go of it. */
export const UNIT_MAX_ROWS = 2_000_000;

/** Entries that the log store deletes at once: their ids are held in memory by every part that is looked at. */
export const DELETION_MAX_ROWS = 4_000_000;
/** Units of one deletion: each is checked again before, and named in it. */
export const DELETION_MAX_UNITS = 200;
/**
 * Between a file's being named in the ledger and the deletion of its entries: whoever has read the ledger less than this
 * ago finds in the log store all that no file of his list has.
 */
export const DELETION_WAIT_MS = 10_000;
/** A deletion rewrites parts of any size; one that takes longer is stuck. */
export const DELETION_MAX_MS = 1_800_000;
/** How often a deletion is asked whether it is done. */
export const DELETION_POLL_MIN_MS = 5;
export const DELETION_POLL_MAX_MS = 2_000;

/** One statement of the work; below the client's own limit on an answer, so that the store is the one that gives up. */
export const STATEMENT_MAX_MS = 110_000;

/** Memory of one statement of the work in the store, beside searches, inserts and merges. */
export const STATEMENT_MAX_MEMORY_BYTES = 1024 * 1024 * 1024;

/** Cores that the work may take: it has time, whoever searches has not. */
export const STATEMENT_MAX_THREADS = 2;

/**
 * Entries of a row group, the unit that a search of the archive skips or reads. Of twice as many an attribute takes twice as
 * long to be read, of half as many nothing is faster.
 */
export const ROW_GROUP_ROWS = 32_768;
/** Bytes of a row group before it is compressed: it is held in memory by whoever writes it. */
export const ROW_GROUP_BYTES = 64 * 1024 * 1024;

/** How long a day must be over before it can be archived: clocks of several instances differ, inserts are late. */
export const DAY_MARGIN_MS = 3_600_000;

/** Files in which entries are looked up in one statement: its text and what it holds open stay small. */
export const LOOKUP_FILES = 64;

/** How far the machine's clock may be ahead of the time that is believed before the server says so: some time off is usual. */
export const CLOCK_AHEAD_MAX_MS = 7 * 86_400_000;

/** How often the log store is asked what there is to archive: it is one look at its oldest days. */
export const SWEEP_EVERY_MS = 600_000;
/** How often the ledger is asked for units whose time to be tried again has come. */
export const POLL_MS = 30_000;

/** Days of organisations that one sweep plans; the next one goes on. */
export const SWEEP_MAX_DAYS = 1_000;
/** Organisations with rules of their own that are looked at in one statement of Postgres. */
export const RETENTION_PAGE = 500;
/** Leftovers of attempts that one sweep removes. */
export const SWEEP_MAX_LEFTOVERS = 200;
/** Archived files whose time is over that one sweep gives up. */
export const SWEEP_MAX_EXPIRED = 200;
/** For how long a unit is believed to be worked on by an instance that is not heard of. */
export const UNIT_LEASE_MS = 60_000;
/** How often its holder says that it lives: twice within a lease may fail. */
export const UNIT_RENEW_MS = 20_000;
/** Units of one round, between which the loop looks for what else there is. */
export const ROUND_MAX_UNITS = 100;

/** Until then an attempt that was given up may still be writing: longer than any of its statements lasts. */
export const LEFTOVER_AGE_MS = 3_600_000;

/** The pauses before a unit that failed is tried again. */
export const BACKOFF = { baseMs: 30_000, maxMs: 3_600_000 };

/** What a statement under way gets when the server stops; what is cut off is done again. */
export const ARCHIVE_STOP_MS = 1_000;

/** Statements of Postgres, which wait for nobody. */
export const LEDGER_TIMEOUT_MS = 10_000;
