/** Unpacked bytes of a body. What OTLP/HTTP recommends receivers accept; the largest legitimate batch is far below it. */
export const MAX_BODY_BYTES = 20 * 1024 * 1024;

/**
 * Unpacked bytes of a JSON body of a route that does not say otherwise: it is parsed and validated in one turn, in which
 * nobody else is answered. No schema of ours needs a tenth of it.
 */
export const MAX_JSON_BODY_BYTES = 1024 * 1024;

/** Bodies packed up to this size are unpacked on the spot: cheaper than a trip to the thread pool, and at worst a few milliseconds. */
export const MAX_INLINE_UNPACK_BYTES = 64 * 1024;

/**
 * Bodies announced up to this size are read in one piece, larger ones as they come. In
 * one piece is 7 µs cheaper, and hides for as long as the bytes are worth how much has come: here 16 s.
 */
export const MAX_WHOLE_READ_BYTES = 16 * 1024;

/**
 * Large bodies that are unpacked at a time, and not yet answered: one is decoded while the next one is unpacked. Each takes
 * up to 20 MiB, and a window of up to 8 MiB.
 */
export const UNPACKING_MAX_RUNNING = 2;

/**
 * Packed bytes that wait for it or are still coming, shared by organisations: one alone gets half of it, as much as is decoded
 * while a sender that was refused waits to come again, a dozen bodies that are 20 MiB unpacked.
 */
export const UNPACKING_MAX_WAITING_BYTES = 64 * 1024 * 1024;

/** Seconds after which a body for which there is no such room may come again: until then some of those that wait are decoded. */
export const UNPACKING_RETRY_SEC = 5;

/** Bytes of a body that are copied before others may have the thread: a millisecond or two, where the memory is new. */
export const COPY_SLICE_BYTES = 1024 * 1024;

/**
 * What the kernel is told to take of a connection before the server reads it; it takes up to twice as much. As much as an
 * ordinary Linux lets any program ask for, so that it is the same everywhere: a batch of logs fits, and a sender that is 20
 * milliseconds away still gets through with some 10 MB/s.
 */
export const RECEIVED_AHEAD_BYTES = 208 * 1024;

/** How long a body may take to arrive. */
export const BODY_TIMEOUT_MS = 60_000;

/** How long it may take besides what its bytes are given: a lost packet or two, sent again, and a slow hand-over. */
export const BODY_GRACE_MS = 5_000;

/** What a body has to bring on average. A satellite or mobile link at its worst brings more. */
export const BODY_MIN_BYTES_PER_SEC = 1024;

/** Window of a zstd frame. RFC 9659 limits the content coding to 8 MB; a larger one only serves to exhaust memory. */
export const MAX_ZSTD_WINDOW_BYTES = 8 * 1024 * 1024;

/** Changes at a time: each holds one of ten connections to Postgres, and the rest is for everything that reads. */
export const CHANGES_MAX_RUNNING = 6;
/** Of one organisation: they are made one after the other, and the next one may prepare itself meanwhile. */
export const CHANGES_MAX_RUNNING_OF_ONE = 2;
/** Changes that wait for those: some seconds of work, beyond which a refusal at once beats a wait in vain. */
export const CHANGES_MAX_WAITING = 1024;
export const CHANGES_MAX_WAITING_OF_ONE = 256;

/** Levels of arrays and objects in a JSON body. Parsing and validation recurse; no schema of ours needs a quarter of it. */
export const MAX_JSON_DEPTH = 64;

/** Raw errors TypeBox collects before it stops; above MAX_FIELD_ISSUES because several map to one issue. */
export const MAX_SCHEMA_ERRORS = 400;

/** Characters of the path of an issue. Names in it may be the caller's, which nobody needs back at full length. */
export const MAX_PATH_CHARS = 256;

/**
 * Requests whose answer is being made; above it the answer is 503, before queues grow that nobody waits for. Shared by
 * organisations and their callers: one alone gets a third of it.
 */
export const MAX_IN_FLIGHT_REQUESTS = 1024;

/** Probes that are being answered, beside those: many balancers ask at once, each answer takes seconds at the worst. */
export const MAX_IN_FLIGHT_PROBES = 64;

/** Seconds after which a request that found no slot comes back: most are held for milliseconds. */
export const SLOT_RETRY_SEC = 1;

/**
 * Bytes of bodies, packed and unpacked, held by all requests together. Above it the answer is 503. Shared by
 * organisations: one alone gets half of it.
 */
export const MAX_BODY_MEMORY_BYTES = 256 * 1024 * 1024;

/** The listener's own bound, which answers without our envelope; far above every route's, so that 413 is ours. */
export const MAX_LISTENER_BODY_BYTES = 1024 * 1024 * 1024;

/** Seconds a connection may be silent, also while a handler works. Longer than the slowest ordinary answer. */
export const IDLE_TIMEOUT_SEC = 60;

/** Characters of an X-Request-Id taken over from the caller. */
export const MAX_REQUEST_ID_CHARS = 64;

/** Hops of X-Forwarded-For looked at, from the right; a longer chain is not a deployment but an attack. */
export const MAX_FORWARDED_HOPS = 16;

/** Hops of which it is remembered what they are, some 100 bytes each; when there are more, all are judged anew. */
export const REMEMBERED_HOPS_MAX = 10_000;

/** A hop that is longer is judged each time: it is no address, or in no form that a proxy writes. */
export const REMEMBERED_HOP_MAX_CHARS = 64;

/** Seconds after which to come back, where whoever answered 503 did not say. Short, because most outages are restarts. */
export const UNAVAILABLE_RETRY_SEC = 5;

/**
 * Bytes that wait for readers. Shared by organisations and their callers: one alone gets a third, one and a half of the
 * largest answers, and beside one that holds as much, another still gets the largest.
 */
export const MAX_ANSWER_MEMORY_BYTES = 288 * 1024 * 1024;

/** Answers up to this size are sent whole and not counted: the kernel takes about as much for a connection. */
export const WHOLE_ANSWER_MAX_BYTES = 64 * 1024;

/** Bytes of a larger one that are sent at a time: that much more than the kernel takes waits outside of our count. */
export const ANSWER_PIECE_BYTES = 64 * 1024;

/** A reader that takes nothing of its answer for so long loses it, and with it what the answer holds. */
export const ANSWER_STALL_MS = 30_000;

/** How long a reader may take for an answer in all: the largest needs no more than 110 KB a second. */
export const ANSWER_MAX_MS = 600_000;
