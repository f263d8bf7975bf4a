/** Bytes of one message; what is longer is cut. More than any device sends, and what an attribute may have. */
export const MESSAGE_MAX_BYTES = 64 * 1024;
