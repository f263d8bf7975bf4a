/** Bounds of what a check reads and does; how long it may take is in its spec. */

/** Of a body, packed or not: what lies beyond is not read. */
export const CHECK_BODY_MAX_BYTES = 256 * 1024;
export const CHECK_REDIRECTS_MAX = 5;
/** Of all steps of one check together. */
export const STEPS_MAX_MS = 300_000;
/** Of one value that is taken from an answer, and of a text after variables were put into it. */
export const EXTRACTED_MAX_CHARS = 65_536;
export const RENDERED_MAX_CHARS = 262_144;
/** Echo requests of one ping; one answer is enough. */
export const PING_ATTEMPTS = 3;
/** Pages that are loaded at the same time, each of which may take a processor and 200 MB. */
export const BROWSER_PAGES_MAX = 2;
/** After as many checks a browser makes room for a new one, and so gives back what it has kept. */
export const BROWSER_CHECKS_MAX = 100;
/** How long a browser stays without a check. */
export const BROWSER_IDLE_MS = 300_000;
/** Of all pages together. */
export const BROWSER_CONNECTIONS_MAX = 512;
/** How long a connection of a page may take to be made. */
export const BROWSER_DIAL_MAX_MS = 30_000;
/** How long a check waits for its turn and for a browser to start; the page has its whole time after that. */
export const BROWSER_WAIT_MAX_MS = 15_000;
/** How long a page may take to close before its browser is ended. */
export const BROWSER_CLOSE_MAX_MS = 5_000;
