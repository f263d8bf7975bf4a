/** The bounds of the forward protocol. Every number says what it protects. */

/** Bytes of one message, a chunk of its sender: twice Fluentd's usual one. */
export const MESSAGE_MAX_BYTES = 16 * 1024 * 1024;
/** Connections at a time: each may hold a message. */
export const CONNECTIONS_MAX = 64;
/** Bytes that all connections may hold. Beyond it only one is read, so that its message gets whole and makes room. */
export const HELD_MAX_BYTES = 128 * 1024 * 1024;
/** Messages without an acknowledgement that are stored together. */
export const BATCH_MAX_BYTES = 1024 * 1024;
/** A connection that sends nothing for so long is closed; senders that live connect again. */
export const CONNECTION_IDLE_MS = 15 * 60_000;
/** How long the one that is read beyond that may send nothing while others wait for it. */
export const ROOM_STALL_MS = 30_000;
/** Waits between attempts to store grow from the first to the second. */
export const RETRY_MIN_MS = 100;
export const RETRY_MAX_MS = 5_000;
/** Attempts to store what fails for a reason nobody foresaw; then the connection is closed, and its sender tries again. */
export const UNEXPECTED_FAILURES_MAX = 5;
