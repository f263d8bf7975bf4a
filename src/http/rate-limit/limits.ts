/** Time in which an empty bucket fills; one that was idle as long is full and need not be remembered. */
export const REFILL_MS = 60_000;

/** Buckets kept in memory, about 100 bytes each. Past it the idlest are forgotten: memory is bounded before fairness is perfect. */
export const MAX_LOCAL_BUCKETS = 100_000;

/** How long the shared store is left alone after a failure, so that a hanging one does not slow every request. */
export const REDIS_PAUSE_MS = 1_000;

/** How long a request waits for the shared store before it is judged locally. */
export const REDIS_TIMEOUT_MS = 250;

/** Heartbeats of one token: a job that runs every second with its start and its end, and one that retries. */
export const HEARTBEATS_PER_MINUTE = 240;

/** Calls of readers of public pages behind one address: an office in an outage, each reading again every few seconds. */
export const PUBLIC_PER_MINUTE = 6_000;
