/** The bounds of the listeners for messages. Every number says what it protects. */

/** Connections at a time: each holds at most one message and what was read last from its socket. */
export const CONNECTIONS_MAX = 512;
/** A connection that sends nothing for so long is closed; senders that live connect again. */
export const CONNECTION_IDLE_MS = 15 * 60_000;

/** How long a message waits for others before they are stored together; with it, it is found within a second. */
export const BATCH_MAX_WAIT_MS = 200;
/** What is gathered while the batch before it is being stored; then sockets are not read and datagrams are dropped. */
export const BATCH_MAX_BYTES = 1024 * 1024;
/** As above, for messages that are tiny; far below what a request may have. */
export const BATCH_MAX_MESSAGES = 10_000;

/** Waits between attempts to store a batch grow from the first to the second. */
export const RETRY_MIN_MS = 100;
export const RETRY_MAX_MS = 5_000;
/** Attempts to store a batch that fails for a reason nobody foresaw; then it is given up, or it would block all others. */
export const UNEXPECTED_FAILURES_MAX = 5;

/** What the system may hold of datagrams that have not been read, for bursts. */
export const UDP_RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024;

/** From one line in the server's log about refused messages to the next: senders over UDP go on for ever. */
export const REFUSAL_LOG_MS = 60_000;

/** How long messages that were read may take to be stored when the server stops; what is left is lost and counted. */
export const STOP_MS = 2_000;
