/** The bounds of GELF. Every number says what it protects. */

/** Bytes of one message, unpacked; what is longer is cut and cannot be read. As much as its chunks can carry packed. */
export const MESSAGE_MAX_BYTES = 1024 * 1024;

/** Chunks of a message, by the specification. */
export const CHUNKS_MAX_COUNT = 128;
/** How long the chunks of a message may take to arrive, by the specification. */
export const CHUNKS_WAIT_MS = 5_000;
/** Messages whose chunks have not all arrived, and their bytes: beyond that the oldest is given up. */
export const PARTIAL_MAX_COUNT = 1_000;
export const PARTIAL_MAX_BYTES = 16 * 1024 * 1024;
