/** The bounds of functions that libraries compute; each says why it has its value. */

/** Characters of a user agent: what servers let through, and what expressions are tried on. */
export const USER_AGENT_MAX_CHARS = 2_048;

/** Characters of a text of XML that is read: an event of Windows has some thousand. */
export const XML_MAX_CHARS = 64 * 1024;

/** How long texts are computed at a stretch before others get their turn. */
export const STRETCH_MS = 10;
