/** Bounds of sending mail. */

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;

/** Mails one sender takes at a time; they are sent one after the other. */
export const BATCH_MAX = 10;
/** How long a taken mail belongs to its sender: longer than a whole batch may take. */
export const LEASE_MS = 12 * MINUTE_MS;
/** How long one mail may take, from the connection to the last answer. */
export const SEND_TIMEOUT_MS = 60 * SECOND_MS;
/** How often the outbox is looked at without being told of a mail. */
export const POLL_MS = 2 * SECOND_MS;
/** The pauses between attempts. */
export const BACKOFF = { baseMs: 5 * SECOND_MS, maxMs: 30 * MINUTE_MS };
/** Attempts after which a mail is given up, if it has not expired before; with the pauses above these are some 9 hours. */
export const ATTEMPTS_MAX = 25;
/** A mail waiting longer than this means that mail does not work. */
export const WAITING_TOO_LONG_MS = 5 * MINUTE_MS;
/** Mails counted for the metrics; more than these are as bad as these. */
export const COUNTED_MAX = 10_000;

/** Mails kept as files where no mail server is configured; the oldest go first. */
export const FILES_MAX = 200;

/** Characters of a subject; names of organisations in it are cut to fit. */
export const SUBJECT_MAX_CHARS = 150;
/** Characters of a mail's text or HTML: templates with every name at its longest need a tenth of it. */
export const BODY_MAX_CHARS = 64 * 1024;
