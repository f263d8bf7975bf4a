/** The bounds of instance numbers; each says why it has its value. */

/** How long a server keeps its number while Postgres does not answer; afterwards it makes no ids. */
export const LEASE_MS = 24 * 3_600_000;

/** What the holder's clocks may go wrong by within a lease: it stops so much before the lease is over. */
export const LEASE_MARGIN_MS = 3_600_000;

/** How often the lease is renewed; a number that was taken away is noticed within this time. */
export const RENEW_EVERY_MS = 30_000;

/**
 * How long a number rests when its holder died: longer than a renewal takes, so that a server whose number was taken
 * away by mistake has noticed.
 */
export const REST_MS = 600_000;

/** How far ids may be ahead of the clock they are made by: 4 million entries in one millisecond. */
export const IDS_AHEAD_MS = 1_000;

/** Giving the number back may take this long when the server stops; else it rests. */
export const GIVE_BACK_TIMEOUT_MS = 1_000;

/** For how long a stream of entries is left to whoever sealed it last; then another instance seals what is stored of it. */
export const STREAM_LEASE_MS = 60_000;
