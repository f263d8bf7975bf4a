/** The log's fixed bounds. What an operator chooses (`maxBytes`, `segmentBytes`, `keyRetentionMs`) is in `WalOptions`. */

const KIB = 1024;
const MIB = 1024 * KIB;

/**
 * Records written and synced together. Measured on ext4: a synced megabyte costs 0.5 ms, four of them four times
 * that, so a larger group only adds latency for the records in it.
 */
export const GROUP_BYTES = MIB;

/** One record, header included. A reader must hold a whole record in memory to check it. */
export const RECORD_BYTES_MAX = 32 * MIB;

/** The records of one append, which lie in one segment. Whoever flushes holds them in memory together. */
export const APPEND_BYTES_MAX = 32 * MIB;

/** Keys of one append: half of what a segment may hold, so that one always fits an empty segment. */
export const APPEND_KEY_BYTES_MAX = 4 * MIB;

/** Keys of one segment. Bounds the key file written at its release, hence the space kept in reserve for it. */
export const SEGMENT_KEY_BYTES_MAX = 8 * MIB;

/** Below this a segment is mostly file handling. Small values serve tests. */
export const SEGMENT_BYTES_MIN = 4 * KIB;

/** Waiting for the disk, in memory. At 250 MB/s this is a quarter of a second; beyond it the caller is told to retry. */
export const QUEUE_BYTES_MAX = 64 * MIB;

/** Keys put into one record of a key file. Keeps the headers of a full key file within `KEY_FILE_OVERHEAD_BYTES`. */
export const KEY_RECORD_BYTES = 64 * KIB;

/** Headers and padding of a full key file: 129 records of 64 bytes, rounded up to whole disk blocks. */
export const KEY_FILE_OVERHEAD_BYTES = 64 * KIB;

/** Read at once while a segment is surveyed: large enough for sequential disk speed, small in memory. */
export const SURVEY_WINDOW_BYTES = 4 * MIB;

/** Kept in `damaged/`. Evidence is useful, filling the disk with it is not; what exceeds this is only counted. */
export const DAMAGED_BYTES_MAX = 256 * MIB;

/** Precision of the age of the oldest unflushed record. Bounds the memory for it by the backlog's seconds. */
export const AGE_RESOLUTION_MS = 1_000;

/** Entries of the age index before its resolution is halved. */
export const AGE_ENTRIES_MAX = 8_192;

/**
 * How far positions jump when the ledger was lost: farther than any log could have written within the life of the
 * files that are left, so that no token of the past is made again.
 */
export const LOST_LEDGER_JUMP_BYTES = 2 ** 40;

/** Positions are exact in a JavaScript number up to here: 8 PiB, three centuries at a megabyte a second. */
export const POSITION_MAX = Number.MAX_SAFE_INTEGER;

/** Names kept: one for each copy of a copy. Those that are forgotten would be of records flushed long ago. */
export const NAMES_MAX = 16;
