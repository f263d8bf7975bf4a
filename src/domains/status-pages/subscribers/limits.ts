/** Bounds of subscriptions. */

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Subscribers of one page, and those among them who have not confirmed: whoever asks for many takes nobody's place. */
export const SUBSCRIBERS_MAX = 10_000;
export const PENDING_MAX = 2_000;
/** How long one who has not confirmed keeps the place when others want it. */
export const PENDING_PLACE_MS = HOUR_MS;
/** Nobody is asked to confirm more often, whatever page it is about, and ever more rarely who does not. */
export const CONFIRMATION_EVERY_MS = 10 * MINUTE_MS;
/** Who has not confirmed by then is forgotten. */
export const PENDING_MS = 48 * HOUR_MS;
/** Subscriptions of one client, over all instances. */
export const PER_CLIENT = { max: 5, withinMs: HOUR_MS };
/** Clients that an instance remembers. */
export const CLIENTS_MAX = 10_000;

/** The time between two mails about one incident. */
export const TOLD_EVERY_MS = 5 * MINUTE_MS;
/** Mails, and webhooks, that are sent at a time. */
export const BATCH_MAX = 20;
/** How long one mail may take. */
export const SEND_TIMEOUT_MS = 30_000;
/** Longer than a whole batch takes, which is sent at once. */
export const LEASE_MS = 2 * MINUTE_MS;
export const POLL_MS = 2_000;
export const BACKOFF = { baseMs: 10_000, maxMs: 30 * MINUTE_MS };
/** Attempts after which a change is given up, some two hours after the first. */
export const ATTEMPTS_MAX = 12;

/** How long an endpoint may take to answer. */
export const WEBHOOK_TIMEOUT_MS = 10_000;
/** Of an answer, of which nobody reads more than its status. */
export const WEBHOOK_ANSWER_MAX_BYTES = 64 * 1024;
/** Changes in a row that an endpoint did not take, after which it is told nothing any more. */
export const FAILURES_MAX = 3;
/** How long it is tried to say so. */
export const TOLD_OF_END_MS = 48 * HOUR_MS;
