/** Records that files describe in all: a plan compares them in one turn, in which nobody else is answered. */
export const RECORDS_MAX = 5_000;

/** Records of a kind that are compared with files; a kind of which there are more, such as assets by the thousand, is kept by other means. */
export const LISTED_MAX = 5_000;

/**
 * Records that are changed at once: one transaction, for which other changes of the organisation wait, and that has ten seconds.
 * With more, files are applied in parts.
 */
export const CHANGED_MAX = 1_000;

/** Records of a kind that are made at once. */
export const MADE_TOGETHER_MAX = 500;

/** Of a body: as many records as there may be, of the usual length. */
export const BODY_MAX_BYTES = 8 * 1024 * 1024;

/** Characters of a key. */
export const KEY_MAX_CHARS = 128;

/** Comparisons at a time, plans that are tried among them: each has a connection to Postgres for a second or two. */
export const READINGS_MAX_RUNNING = 2;
/** Of one organisation: those that are tried wait for each other. */
export const READINGS_MAX_RUNNING_OF_ONE = 1;
/** Those that wait: half a minute's, beyond which a refusal at once beats a wait in vain. */
export const READINGS_MAX_WAITING = 32;
export const READINGS_MAX_WAITING_OF_ONE = 8;
