/** The bounds of correlation rules; each says why it has its value. */

/** Rules of one organisation: each reads what its steps are about when something comes. */
export const RULES_MAX = 200;

/** The range of a preview that names none, and the longest. */
export const PREVIEW_DEFAULT_MS = 86_400_000;
export const PREVIEW_MAX_MS = 7 * 86_400_000;

/** Episodes of one preview. */
export const PREVIEW_MAX_EPISODES = 200;
