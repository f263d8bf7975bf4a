/** The bounds of what is remembered about requests with an Idempotency-Key. */

/** How long an answer is remembered. */
export const KEEP_MS = 24 * 3_600_000;
/** For how long an execution that is not heard of is believed to be alive; after a crash repetitions wait this long. */
export const LEASE_MS = 5_000;
/** How often an execution that takes long says that it lives: twice within a lease may fail. */
export const RENEW_EVERY_MS = 1_500;

/** Between two looks for questions of other instances: what a repetition waits for where the asked one is alive. */
export const SETTLE_POLL_MS = 1_000;
/** Claims settled in a round. */
export const SETTLE_MAX_CLAIMS = 500;
/** What a round under way gets when the server stops. */
export const SETTLE_STOP_MS = 1_000;
/** When to come back for what another instance knows: two rounds of it. */
export const ELSEWHERE_RETRY_SEC = 2;
