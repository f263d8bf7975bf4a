/** The bounds of what is kept of runs; each says why it has its value. */

/** Gaps and runs that are listed: who looks for one looks among the latest. */
export const GAPS_LISTED_MAX = 100;
export const RUNS_LISTED_MAX = 100;
