import { INTERACTIVE_BUDGET, type QueryBudget } from "../../../../query/index.ts";
import { QUERIES_STORE_SHARE } from "../limits.ts";

/** The bounds of live tails. Every number says what it protects. */

/** Nothing younger is archived, so that a reader who was away for less need not be told of the archive. */
export const ARCHIVED_MIN_AGE_MS = 24 * 3_600_000;

const MEBIBYTE = 1024 * 1024;

/** A session's life after its last use, and so how long a break may last. */
export const SESSION_LIFE_MS = 60 * 60 * 1000;
/** Sessions of one organization that have not expired: a row each, most of them an hour's worth of forgotten ones. */
export const SESSIONS_PER_ORGANIZATION_MAX = 1024;
/** Of one person, so that nobody takes them all. */
export const SESSIONS_PER_PERSON_MAX = 512;
/** How often the use of an open session is written down; far below its life. */
export const SESSION_TOUCH_MS = 60 * 1000;

/** Streams of one session at a time on one server: a few windows, and connections that died without a word. */
export const STREAMS_PER_TOKEN_MAX = 4;
/** Streams of one server: each holds a connection and up to a queue. */
export const STREAMS_MAX = 1024;
/** Of one organization and of one person in it: far more than anybody looks at, and most are left to others. */
export const STREAMS_PER_ORGANIZATION_MAX = 256;
export const STREAMS_PER_PERSON_MAX = 64;

/** Entries that wait for one reader: a second of the fastest flow a person could not follow anyway. */
export const QUEUE_MAX_ENTRIES = 10_000;
/** Characters that wait for one reader, beside the 4 MB that the kernel holds for its connection. */
export const QUEUE_MAX_CHARS = 4 * MEBIBYTE;
/** Characters that wait for the readers of a server. Shared like answers: a person alone gets a third, 64 MiB. */
export const QUEUES_MEMORY_CHARS = 192 * MEBIBYTE;

/** Characters sent in one piece: large enough to be cheap, small enough to stay near the reader's speed. */
export const WRITE_MAX_CHARS = 64 * 1024;

/**
 * From one piece to the next of a reader, unless that one is full: each costs a call of the system on either side, and
 * nobody sees the difference. The first after a pause goes out at once. It grows from the first to the second with the
 * number of readers that have something to read, so that no more than so many pieces go out in a second.
 */
export const WRITE_INTERVAL_MIN_MS = 20;
export const WRITE_INTERVAL_MAX_MS = 250;
export const WRITES_PER_SECOND = 1_000;

/** Time between comments: proxies cut a silent connection after a minute, some after ten seconds. */
export const COMMENT_INTERVAL_MS = 5_000;
/** How long a reader waits before it comes back. */
export const RETRY_MS = 2_000;
/** The same after a refusal that a quick return would only repeat. */
export const REFUSED_RETRY_MS = 30_000;
/** A reader that takes nothing for so long is gone, even if its connection is not. */
export const STALLED_READER_MS = 120_000;

/**
 * How often it is checked that the credentials behind the streams are still valid, wherever they are revoked: so that a
 * stream ends within a second of that. One statement for all of them.
 */
export const CREDENTIAL_CHECK_MS = 500;
/**
 * A stream whose credential could not be checked for so long ends: an outage must not keep a revoked one alive, and a
 * restart of Postgres must not end all of them.
 */
export const CREDENTIAL_TRUST_MS = 30_000;
/** Bytes of batches that wait to be matched: some half a second of the fastest ingest. Beyond it they are given up. */
export const BACKLOG_MAX_BYTES = 32 * MEBIBYTE;
/** Of a busy thread's time that matching takes at most; the rest is for taking in and answering. */
export const MATCHING_THREAD_SHARE = 0.2;
/** Milliseconds of matching that may be done at once after a pause. */
export const MATCHING_BURST_MS = 50;
/** From one pause of matching to the next: what an acknowledgement may have to wait for it. */
export const MATCHING_SLICE_MS = 4;
/** Time after which matching looks again whether the thread is free; far below what a reader notices. */
export const MATCHING_MAX_WAIT_MS = 10;
/** A timer that is later than this has waited for other work. */
export const IDLE_THREAD_MAX_LATE_MS = 2;

/** Entries a second that one reader gets in the long run: a hundred screens, far beyond what can be read. */
export const READER_ENTRIES_PER_SECOND = 5_000;
/** Entries a second for all readers of a server, in fair shares: each is put together and sent for its reader alone. */
export const SERVER_ENTRIES_PER_SECOND = 50_000;

/** Servers a position tells apart. A server's number is forgotten when it is older than the horizon. */
export const POSITION_MAX_SOURCES = 16;
/** How far behind the present an entry may come from a server that was not heard of: also what clocks may differ by. */
export const POSITION_HORIZON_MS = 60_000;

/** Entries shown of what came during a break; of more, the newest are shown and the others are counted. */
export const GAP_MAX_ENTRIES = 10_000;
/** Entries looked at to fill a break. Beyond it the break is too large. */
export const GAP_SCAN_MAX_ENTRIES = 100_000;
/** Entries read at a time to fill a break. */
export const GAP_PAGE_ENTRIES = 1_000;
/** Bytes of them, which wait for the reader; of larger entries fewer are read. */
export const GAP_PAGE_MAX_BYTES = MEBIBYTE;
/** How long a reader that comes back waits until the store has everything that was acknowledged before. */
export const GAP_STORE_WAIT_MS = 15_000;
/** How often it is looked whether the store has it. */
export const GAP_STORE_POLL_MS = 20;
export const GAP_BUDGET: QueryBudget = INTERACTIVE_BUDGET;
/** Breaks that are filled at a time: after a restart all readers come back at once. */
export const GAP_QUERIES_MAX_RUNNING = 4;
/** Of the store's memory for statements; one reads a page of entries in the order in which they lie. */
export const GAP_QUERIES_STORE_SHARE = 1 - QUERIES_STORE_SHARE;
export const GAP_QUERIES_MAX_WAITING = STREAMS_MAX;
/** The same of one organization, each of whose streams asks for one thing at a time. */
export const GAP_QUERIES_MAX_RUNNING_OF_ONE = 2;
export const GAP_QUERIES_MAX_WAITING_OF_ONE = STREAMS_PER_ORGANIZATION_MAX;

/** How often a server says that it is there and what its streams want. */
export const HELLO_INTERVAL_MS = 2_000;
/** A server that was not heard of for so long is missing: three hellos. */
export const PEER_SILENT_MS = 7_000;
/** A stream's wish waits so long for others of the same moment before it is sent. */
export const HELLO_DELAY_MS = 10;
/** Characters of one message between servers: Redis hands on a message whole. */
export const LETTER_MAX_CHARS = 256 * 1024;
/** Characters on their way to one server. Beyond it entries are dropped and counted. */
export const LETTERS_MAX_CHARS = 8 * MEBIBYTE;
/** Wishes taken from one server: as many streams as it can have. */
export const INTERESTS_MAX = STREAMS_MAX;
/** Other servers: their numbers are among the ids of 1024. */
export const PEERS_MAX = 64;

/** Characters of a query: what the specification allows where a query is kept. */
export const TAIL_QUERY_MAX_CHARS = 2048;
/** Time between two looks into the store, for queries that only the store can evaluate. */
export const POLL_INTERVAL_MS = 400;
/** How far behind the present entries of other servers may be stored and are still found by such a look. */
export const POLL_HORIZON_MS = 5_000;
/** Streams that look into the store: each look is a statement. */
export const POLLED_STREAMS_MAX = 32;
/** Of one organization. */
export const POLLED_STREAMS_PER_ORGANIZATION_MAX = 8;
