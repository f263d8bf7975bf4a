/** The bounds of reading metrics; each says why it has its value. */

/** The range of a series that does not say where it begins, and how far back names are looked for. */
export const RANGE_DEFAULT_MS = 86_400_000;

/** Names of an answer that asks for no number. */
export const NAMES_DEFAULT = 200;

/** Services that are named of one metric. */
export const SERVICES_MAX = 20;

/** Buckets of a series that asks for no width: a chart has some hundred. */
export const BUCKETS_DEFAULT = 120;
