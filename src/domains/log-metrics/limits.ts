/** The bounds of log metrics; each says why it has its value. */

/** Metrics of one organisation: the list is one answer, and every seal counts them all. */
export const METRICS_MAX = 500;

/** Buckets that counts are kept in, in seconds: every width that can be asked for is a multiple. */
export const COUNTER_BUCKET_SEC = 60;

/** The range of a series that does not say where it begins. */
export const SERIES_DEFAULT_MS = 86_400_000;

/** Points of an answer that has those without entries too. */
export const FILLED_MAX_POINTS = 2_000;

/** Counts are kept for 400 days from when they were made; of what may be older the entries are asked. */
export const COUNTED_MAX_MS = 390 * 86_400_000;
