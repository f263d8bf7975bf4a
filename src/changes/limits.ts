/** The bounds of changes of state and of the events they emit. */

/** One change: milliseconds of work, and some waiting for others of the same organisation. */
export const CHANGE_TIMEOUT_MS = 10_000;

/** Bytes of an event's payload as JSON: it names what happened, and what is large is looked up by whoever is told. */
export const PAYLOAD_MAX_BYTES = 16 * 1024;
/** Characters of what an event is about: a noun and an id. */
export const SUBJECT_MAX_CHARS = 128;
/** Events of one change: a commit of many monitors may end some hundred incidents, and two statements write them all. */
export const EVENTS_MAX_OF_CHANGE = 1_000;

/** Places for deliveries: each holds one of ten connections to Postgres, most of which are for who waits. */
export const DELIVERIES_MAX_RUNNING = 3;
/** Of one organisation, so that a slow handler leaves a place to the others. */
export const DELIVERIES_MAX_RUNNING_OF_ONE = 2;
/**
 * Deliveries that share a place, and those of one subscriber a transaction: when many monitors fail at once, most of the time is
 * round trips to Postgres. More would hold what they have locked for too long.
 */
export const DELIVERIES_TOGETHER = 16;
/** For how long a delivery that is not heard of is believed to go on: longer than its transaction may take. */
export const DELIVERY_LEASE_MS = 30_000;
/** A handler that says nothing to Postgres for so long loses its transaction, and so gives its connection back. */
export const DELIVERY_SILENCE_MAX_MS = 15_000;
/** Between two looks for what other instances left behind or put off; what this one emits wakes it at once. */
export const DELIVERY_POLL_MS = 2_000;
/** First pause after a failure, doubled up to the maximum: a conflict is over in a second, a fault is not hurried. */
export const DELIVERY_BACKOFF = { baseMs: 1_000, maxMs: 600_000 };
/** After so many failures, an hour, a delivery is set aside, so that those of its subject behind it go on. */
export const DELIVERY_ATTEMPTS_MAX = 15;
/** Characters of an error's text that are kept with the delivery. */
export const DELIVERY_ERROR_MAX_CHARS = 500;
/** Set aside deliveries that are counted for the metrics; beyond it the number says nothing more. */
export const SET_ASIDE_COUNTED_MAX = 1_000;
/** An event that is not delivered so long after it happened makes the server call itself behind: several retries. */
export const DELIVERY_LAG_MAX_MS = 60_000;
/** What deliveries under way get when the server stops; cut off, their transactions leave nothing. */
export const DELIVERY_STOP_MS = 1_000;

/**
 * How long an event is kept that everybody was told of or that was set aside: for looking into what went wrong. What is
 * to be remembered longer, a subscriber has written down.
 */
export const EVENT_KEPT_MS = 30 * 24 * 3_600_000;
