/** The bounds of log alerts; each says why it has its value. */

/** Rules of one organisation: the list is one answer, and every seal counts them all. */
export const ALERTS_MAX = 1_000;

/** Rules that are enabled and for which every entry is looked at: each costs some 0.03 µs an entry, whatever comes. */
export const EXPENSIVE_MAX = 50;

/** Rules of an organisation that ask a whole query: each is asked every few minutes, whatever comes. */
export const SCHEDULED_MAX = 20;

/** Rules of packs whose statements are sent together: hundreds one after the other take seconds on a busy machine. */
export const SEEDED_AT_ONCE = 50;

/** Windows of a query that a preview asks, the latest. */
export const PREVIEW_MAX_ASKED = 50;

/** Windows of a baseline: each is judged by all of them. */
export const BASELINE_MAX_WINDOWS = 43_200;

/** How far back it is looked for entries that a pack is about. */
export const SEEN_MS = 7 * 86_400_000;

/** Attributes that are looked for in one pass over those days; of more it is not known. */
export const SEEN_FIELDS_MAX = 200;

/** Of how long a time a preview tells. */
export const PREVIEW_MAX_MS = 31 * 86_400_000;

/** The range of a preview that does not say where it begins. */
export const PREVIEW_DEFAULT_MS = 86_400_000;

/** Episodes that a preview names, the longest of them first; it counts all. */
export const PREVIEW_MAX_EPISODES = 500;

/** Entries that a preview shows of what it would find. */
export const PREVIEW_MAX_SAMPLES = 10;
