/** The bounds of reading archived entries together with those of the log store. */

/** Files of one statement: ClickHouse opens each, and takes a pattern of a thousand names. */
export const STATEMENT_MAX_FILES = 1000;

/** Files that one answer does without because they cannot be read: each costs a statement. */
export const UNREADABLE_MAX_FILES = 8;

/** How often an answer is read again because entries have moved meanwhile, before it says that some may be missing. */
export const READ_MAX_ATTEMPTS = 5;

/**
 * For how long after the ledger was asked an answer from the log store alone lacks nothing: half of `DELETION_WAIT_MS`, as
 * clocks of machines do not run alike.
 */
export const EXTENT_TRUSTED_MS = 5_000;
/** What is older is asked for beside the statement: an organisation that reads all the time asks twice a second. */
export const EXTENT_RENEWED_AFTER_MS = 500;

/** Organisations whose archive is known without asking: a number and two times each. */
export const EXTENTS_MAX_COUNT = 10_000;
