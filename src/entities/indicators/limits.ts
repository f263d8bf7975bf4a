/** The bounds of indicators; each says why it has its value. */

/** Indicators of an organisation: what large feeds have together, and some 300 MB in Postgres. */
export const IOCS_MAX = 1_000_000;

/** Entries of the allow-list: each is asked about with every find. */
export const ALLOWED_MAX = 10_000;

/** Indicators that one step of a retro-hunt looks for: their keys stand in one address of at most a megabyte. */
export const HUNT_MAX_INDICATORS = 5_000;
/** Ranges of it: each is held against every address that was observed. */
export const HUNT_MAX_RANGES = 100;
/** Finds of one step that are written down. */
export const HUNT_MAX_HITS = 50_000;
export const HUNT_EVERY_MS = 2_000;
export const HUNT_STOP_MS = 5_000;

/** How soon a hit is told that is not announced. */
export const TELL_EVERY_MS = 2_000;
export const TELL_STOP_MS = 2_000;
/** Organisations and hits of a round of telling; the others follow in the next. */
export const TELL_MAX_ORGANIZATIONS = 100;
export const TELL_MAX_HITS = 1_000;
/** Of a round and an organisation that each get an incident; of more people are told in one, for nobody reads thousands. */
export const TELL_MAX_INCIDENTS = 20;
/** An indicator that goes on being found on a machine is told again so much later. */
export const TELL_AGAIN_MS = 24 * 3_600_000;
