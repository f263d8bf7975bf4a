/** Bounds of the storage layer; each says why it has its value. */

/** An engine answers within a second or two; a table-heavy ClickHouse on a slow disk needs more. Past this it is stuck. */
export const ENGINE_START_TIMEOUT_MS = 120_000;

/** How often a starting engine is asked whether it answers: cheap, and late by at most this much. */
export const ENGINE_START_POLL_MS = 20;

/** One question to a starting engine; without it a hung one would hold the start beyond its timeout. */
export const ENGINE_PROBE_TIMEOUT_MS = 2_000;

/** A first start that ends this often in a row is a broken set-up, not bad luck: the start fails and says why. */
export const ENGINE_START_ATTEMPTS = 5;

/** First pause before a crashed engine is started again; doubled after each further crash. */
export const ENGINE_RESTART_BASE_DELAY_MS = 100;

/** Ceiling of that pause: an operator who repairs the cause waits no longer than this for the engine. */
export const ENGINE_RESTART_MAX_DELAY_MS = 10_000;

/** An engine that lived this long has recovered; its next crash starts again from the base delay. */
export const ENGINE_STABLE_AFTER_MS = 30_000;

/**
 * Clean shutdown takes a tenth of a second; an open connection holds ClickHouse for 5 s, and Postgres' watcher goes
 * from asking to killing in as much. With the clients' second it stays below the 10 s in which the server has to end.
 */
export const ENGINE_STOP_TIMEOUT_MS = 6_000;

/** An engine of a killed server notices its closed pipe at once and then shuts down; after this it is killed. */
export const LEFTOVER_GRACE_MS = 7_000;

/** The engines log warnings only; two generations of this size hold months of a healthy life. */
export const ENGINE_LOG_MAX_BYTES = 8 * 1024 * 1024;

/** Rotated generations kept beside the current file. */
export const ENGINE_LOG_GENERATIONS = 3;

/** How often a file is measured; at warning level an engine cannot write much in between. */
export const ENGINE_LOG_CHECK_INTERVAL_MS = 30_000;

/** Lines of an engine's output quoted when it does not start: enough for its reason. */
export const ENGINE_LOG_TAIL_LINES = 8;

/** Bytes read from the end of an engine's output to find those lines. */
export const ENGINE_LOG_TAIL_BYTES = 8_192;

/** Attempts to find a free loopback port among about 10 000; more means that there is none. */
export const FREE_PORT_ATTEMPTS = 200;

/** How often a healthy dependency is asked; an outage shows in readiness within this time. */
export const READINESS_PROBE_INTERVAL_MS = 5_000;

/** First pause after a failed probe, doubled up to the maximum: recovery shows quickly, a long outage costs little. */
export const READINESS_RETRY_BASE_DELAY_MS = 250;
export const READINESS_RETRY_MAX_DELAY_MS = 5_000;

/** A dependency that takes longer to say "1" is as good as down. */
export const READINESS_PROBE_TIMEOUT_MS = 3_000;

/** Connections of one server to Postgres: it has few and short statements, and other instances share the database. */
export const POSTGRES_MAX_CONNECTIONS = 10;

/** A connection to Postgres that nobody has used for so long is closed: each is a process of some MiB. */
export const POSTGRES_IDLE_SECONDS = 20;

/** Connections of one server to ClickHouse: parallel searches plus the flusher; the engine queues beyond its cores. */
export const CLICKHOUSE_MAX_CONNECTIONS = 32;

/** Upper bound of any one ClickHouse request over the socket; query time limits are far below it. */
export const CLICKHOUSE_REQUEST_TIMEOUT_MS = 120_000;

/** A TCP connection inside a data centre takes milliseconds; longer than this is an outage. */
export const CONNECT_TIMEOUT_MS = 5_000;

/** One Redis command; every caller has a local fallback or fails closed, so it must not wait long. */
export const REDIS_COMMAND_TIMEOUT_MS = 2_000;

/** A start waits this long for the first connection to Redis, and goes on without it. */
export const REDIS_START_TIMEOUT_MS = 1_000;

/** Other instances migrate for this long at most; a start that waits longer has met a stuck one. */
export const MIGRATION_LOCK_TIMEOUT_MS = 300_000;

/** Pause between two tries to reach a configured store at the start. */
export const EXTERNAL_STORE_RETRY_DELAY_MS = 500;

/** How often a start that waits for a configured store says so. */
export const EXTERNAL_STORE_REPORT_EVERY_MS = 60_000;

/** What the clients get to finish before the stores are closed; the server has drained by then. */
export const CLIENT_CLOSE_TIMEOUT_MS = 1_000;

/** Bytes of an answer that are read from ClickHouse; a longer one is cut there. It is held until its reader has it. */
export const ANSWER_MAX_BYTES = 64 * 1024 * 1024;

/** Bytes of one row of an answer: parsing it takes the thread for some fifty milliseconds, in one go. */
export const ANSWER_ROW_MAX_BYTES = 16 * 1024 * 1024;

/** Bytes of an answer that ClickHouse gathers in memory; most pages of a search need no more, so that a full disk does not matter to them. */
export const STORE_ANSWER_MEMORY_BYTES = 32 * 1024 * 1024;

/** Part of the store's memory for the statements that get some of their own; the rest is for small ones, inserts, merges and caches. */
export const STATEMENTS_MEMORY_SHARE = 0.75;

/**
 * What a statement may take that has no memory of its own, so that a small one never waits for it, or its part of the rest
 * in a small store. A search for some entries takes between 4 and 24 MiB.
 */
export const STATEMENT_SMALL_MAX_BYTES = 64 * 1024 * 1024;

/** For how long a statement pauses at a block for one that goes before it: it goes on all the same, at a fraction of its speed. */
export const LOW_PRIORITY_WAIT_MS = 50;
