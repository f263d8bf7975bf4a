/** The bounds of metric alerts; each says why it has its value. */

/** Rules of one organisation: each reads its metric about once a minute. */
export const METRIC_ALERTS_MAX = 500;

/** The range of a preview that names none, and the longest. */
export const PREVIEW_DEFAULT_MS = 86_400_000;
export const PREVIEW_MAX_MS = 31 * 86_400_000;

/** Episodes and points of one preview. */
export const PREVIEW_MAX_EPISODES = 100;
export const PREVIEW_MAX_POINTS = 2_000;
