/** The bounds of the ingest library. Every number says what it protects; the wire limits are those of the API. */

/** Entries of one native request. */
export const BATCH_MAX_ENTRIES = 500;
/** Records of one request of any other format: rows are built in memory, and a line may be as short as a byte. */
export const REQUEST_MAX_RECORDS = 100_000;
/**
 * Bytes that the entries of one request of such a format may take: what a request says once, such as the attributes of
 * a resource, every entry repeats. With what other requests have in the batch it stays within a record of the log.
 */
export const REQUEST_MAX_BLOCK_BYTES = 24 * 1024 * 1024;
/** Code points of a message. */
export const MESSAGE_MAX_CHARS = 8192;
export const SERVICE_MAX_CHARS = 255;
export const SOURCE_MAX_CHARS = 255;
export const HOST_MAX_CHARS = 255;
export const NAME_MAX_CHARS = { service: SERVICE_MAX_CHARS, source: SOURCE_MAX_CHARS, host: HOST_MAX_CHARS };
export const EVENT_ID_MAX_CHARS = 128;

/** Attributes of one entry: a map wider than this is a document, and every key costs dictionary space in the store. */
export const ATTRIBUTES_MAX_COUNT = 256;
/** Code points of an attribute's name. */
export const ATTRIBUTE_KEY_MAX_CHARS = 255;
/** Bytes of one attribute's value, as text: room for the deepest stack trace, not for a file. */
export const ATTRIBUTE_VALUE_MAX_BYTES = 64 * 1024;
/** Nesting inside a body. Parsers, here and at the readers, recurse; this keeps every stack shallow. */
export const JSON_MAX_DEPTH = 32;
/** Nesting inside the value of an attribute that was stored: it was part of a body, some formats wrap it once more. */
export const ATTRIBUTE_MAX_DEPTH = 64;

/** Problems listed in one refusal; a client fixes the first ones first. */
export const ISSUES_MAX_COUNT = 100;

/**
 * Bytes of content after which an open batch takes no further request before it is written: a record of the
 * write-ahead log stays far below the log's bound, and beyond some 4 MB the sync time grows faster than the bytes.
 */
export const BATCH_MAX_BYTES = 4 * 1024 * 1024;

/**
 * Bytes of a large request's entries that lie in the columns at once, and are a record of the write-ahead log: whatever is done
 * with them on the thread that answers everybody takes a few milliseconds.
 */
export const SLICE_BYTES = 4 * 1024 * 1024 - 64 * 1024;
/** Event ids looked for among those that came before, until others get a turn: some milliseconds. */
export const EVENT_KEYS_PER_TURN = 4_096;

/**
 * Bytes of a body that is decoded on the thread that answers everybody: some ten milliseconds in the slowest format,
 * ordinary batches of the native one are below it. Larger ones are decoded on a thread of their own.
 */
export const DECODE_IN_PLACE_MAX_BYTES = 256 * 1024;
/** The same of OTLP in JSON, which is read at several times that speed: SDKs send 512 records at a time, some 330 KB. */
export const OTLP_DECODE_IN_PLACE_MAX_BYTES = 512 * 1024;
/** Records of such a body, which may have a byte each: as many as a collector sends at a time, again some ten milliseconds. */
export const DECODE_IN_PLACE_MAX_RECORDS = 8_192;
/**
 * Bytes of bodies that wait for that thread, and those of one organisation among them: as much as a server and an organisation
 * may have of bodies in memory, so that what was read is not refused afterwards. They take turns, so none holds up another.
 */
export const DECODE_MAX_WAITING_BYTES = 256 * 1024 * 1024;
export const DECODE_MAX_WAITING_BYTES_OF_ONE = 128 * 1024 * 1024;
/** Bytes of bodies after which that thread collects what they have left behind. */
export const DECODE_COLLECT_BYTES = 4 * 1024 * 1024;
/** How long that thread waits for another body before it ends and gives its memory back. */
export const DECODE_THREAD_IDLE_MS = 5_000;

/** Bytes of one insert. Larger inserts mean fewer parts to merge; the flusher holds one of them in memory. */
export const INSERT_MAX_BYTES = 32 * 1024 * 1024;
/** Records of one insert, for many small requests. */
export const INSERT_MAX_RECORDS = 20_000;
/**
 * From the start of one insert to the start of the next: with the insert itself it bounds how long an acknowledged
 * entry stays invisible to search, and it keeps the store at a few new parts a second.
 */
export const INSERT_INTERVAL_MS = 250;
/** Waits between attempts of a failing insert grow from the first to the second. */
export const INSERT_RETRY_MIN_MS = 100;
export const INSERT_RETRY_MAX_MS = 5_000;

/**
 * For how long a repeated event is noticed whatever the rate, or the window where that is shorter: longer than senders
 * retry a request. When memory is full of younger ids, new ones are refused rather than these forgotten.
 */
export const DEDUPE_ALWAYS_MS = 600_000;

/**
 * Tokens tried for rows that the store acknowledges and does not have. One more than the first is needed for what a
 * crash leaves; a store that loses rows under several is broken, and asking it slower is all that helps.
 */
export const INSERT_TOKENS_MAX = 4;
