/** The bounds of what is known of entities; each says why it has its value. */

/** Records of a kind: a list is read in pages, and a record is a row with its entity. */
export const ASSETS_MAX = 100_000;
export const IDENTITIES_MAX = 100_000;

/** Observed entities of an organisation and type: addresses of strangers come without an end, so the oldest unlinked leave. */
export const OBSERVED_MAX = 200_000;

/** What was seen is written down again when it is so much later: a busy host would be a row to write with each seal. */
export const SEEN_AGAIN_MS = 60_000;
