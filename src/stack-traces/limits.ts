/** The bounds of reading stack traces; each says why it has its value. */

/** Characters of a text that are looked at: its first and its last ones, since causes stand at the end of some traces. */
export const HEAD_MAX_CHARS = 12_288;
export const TAIL_MAX_CHARS = 6_144;

/** Characters of a line; what is longer is the bundle or the data itself and no frame. */
export const LINE_MAX_CHARS = 1_024;

/** Exceptions of a chain: a loop of causes ends. */
export const CHAIN_MAX = 32;

/** Frames of an exception that are kept, the innermost ones: recursion goes on for thousands. */
export const FRAMES_MAX = 100;

/** Characters of a name of a function or a module. */
export const NAME_MAX_CHARS = 256;
