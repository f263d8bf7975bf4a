/** The bounds of recognising lines. */

/** Bytes of one line that are held until it ends; what is longer comes in pieces, each an entry. */
export const LINE_MAX_BYTES = 256 * 1024;
/** UTF-16 units of a message that lines are joined to: a longer stack goes on in entries of its own, of the same time and level. */
export const JOINED_MAX_CHARS = 8_000;
/** Lines of one message: what never ends is a file without heads rather than a stack. */
export const JOINED_MAX_LINES = 1_000;
/** Heads of lines with a time that come one after the other before a line without one counts as part of the line above. */
export const HEADS_IN_A_ROW = 3;
/** Parts of one head: processes, threads, loggers. What goes on is the message. */
export const HEAD_MAX_TOKENS = 8;
/** Pairs of one line of `key=value`: as many as an entry may have attributes. */
export const PAIRS_MAX_COUNT = 256;
/** Columns of a W3C log; the standard's and everybody's own are some forty. */
export const COLUMNS_MAX_COUNT = 128;
/** Lines inside lines: a container's line that holds one of syslog that holds JSON is the deepest there is. */
export const NESTED_MAX_DEPTH = 3;
