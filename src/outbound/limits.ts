/** Bounds of requests to servers that somebody else names. A caller states how long an answer may take and how large it may be. */

/** Addresses one name may resolve to; each is judged, and a name with more is nobody's server. */
export const OUTBOUND_ADDRESSES_MAX = 64;
/** What a caller may ask for at most, so that no request waits or reads without an end. */
export const OUTBOUND_TIMEOUT_MAX_MS = 60_000;
export const OUTBOUND_RESPONSE_MAX_BYTES = 64 * 2 ** 20;
export const OUTBOUND_REDIRECTS_MAX = 10;
/** Headers of an answer; servers send a few kilobytes. */
export const OUTBOUND_HEADERS_MAX_BYTES = 64 * 1024;
/** How long one address of a name may be silent before the next is tried beside it; RFC 8305, section 5. */
export const NEXT_ADDRESS_AFTER_MS = 250;
