/** The bounds of counting what there was before a counter; each says why it has its value. */

/** How often it is looked for counters that another instance has made. */
export const PAST_EVERY_MS = 10_000;

/** For how long a server that died of it holds the others up: whoever made a rule waits for it to begin. */
export const PAST_LEASE_MS = 9_000;

/** Counters of one turn: afterwards another instance may go on. */
export const PAST_MAX_COUNTERS = 20;

/** Days with entries that are counted at a time: their minutes are the rows of an answer and of an insert. */
export const PAST_STEP_DAYS = 30;

/** How long the step under way may take when the server stops; the next start repeats it. */
export const PAST_STOP_MS = 1_000;
