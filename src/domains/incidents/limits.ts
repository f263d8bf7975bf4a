/** The bounds of incidents. Every number says what it protects. */

export const TITLE_MAX_CHARS = 255;
export const UPDATE_BODY_MAX_CHARS = 4_096;
export const POSTMORTEM_MAX_CHARS = 16_384;
/** Monitors of an incident: an outage of more is one of something else. */
export const INCIDENT_MONITORS_MAX = 100;

export const LIST_DEFAULT_ROWS = 50;
export const LIST_MAX_ROWS = 1_000;
/** Rows of a list that are passed over: the store reads them all the same. */
export const LIST_MAX_OFFSET = 1_000_000;

/** Rows of a timeline, which is one answer; what the server notes leaves room for people. */
export const TIMELINE_MAX_ROWS = 1_000;
export const TIMELINE_MAX_NOTES = 500;

/** What is wrong again so soon after its source said that it was over has not been over. */
export const REOPEN_WITHIN_MS = 10 * 60_000;
/** What goes wrong so often within so long flaps. */
export const FLAPPING_TIMES = 3;
export const FLAPPING_WITHIN_MS = 60 * 60_000;
/** How long one that flaps is well before that is believed. */
export const FLAPPING_SETTLE_MS = 15 * 60_000;

/** Between two looks for incidents that have settled; nobody waits for that second. */
export const SETTLE_POLL_MS = 5_000;
/** Incidents that are settled in one round, each in a transaction of its own. */
export const SETTLE_MAX_OF_ROUND = 100;
/** What a round under way gets when the server stops. */
export const SETTLE_STOP_MS = 1_000;

/** Characters of a timeline's text in an event: payloads are bounded, and the row has all of it. */
export const TOLD_BODY_MAX_CHARS = 1_000;

/** Incidents of one rule within so long of which each is told; of more, one message tells in sum when that long is over. */
export const STORM_TOLD_MAX = 20;
export const STORM_WITHIN_MS = 5 * 60_000;
/** Between two looks for storms that are to be told. */
export const DIGEST_POLL_MS = 5_000;
/** Storms that are told in one round, each in a transaction of its own. */
export const DIGEST_MAX_OF_ROUND = 100;
export const DIGEST_STOP_MS = 1_000;
/** Incidents that a message names: the others are in the list. */
export const DIGEST_NAMED_MAX = 10;

/** Between two looks for incidents whose silence is over. */
export const UNSILENCE_POLL_MS = 5_000;
/** Incidents that are told in one round, each in a transaction of its own. */
export const UNSILENCE_MAX_OF_ROUND = 100;
export const UNSILENCE_STOP_MS = 1_000;
