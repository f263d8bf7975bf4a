const MINUTE_MS = 60_000;

/** Around the beginning: what is behind it comes shortly before, what follows within the hour. */
export const AROUND_BEFORE_MS = 5 * MINUTE_MS;
export const AROUND_AFTER_MS = 55 * MINUTE_MS;
/** What it is compared with, right before. */
export const COMPARED_MS = 60 * MINUTE_MS;
/** Monitors that begin to fail so close together fail together; so near are the checks that saw it. */
export const TOGETHER_MS = 5 * MINUTE_MS;
/** Changes of people that may be behind it. */
export const CHANGES_BEFORE_MS = 60 * MINUTE_MS;

export const FAILING_MONITORS_MAX = 50;
/** Periods of failing monitors that are compared. */
export const FAILING_PERIODS_READ_MAX = 1_000;
export const CHANGES_MAX = 20;
export const REGIONS_MAX = 200;
/** Seconds that the store may take for the regions. */
export const REGIONS_TIMEOUT_SEC = 5;
/** Hosts that a query for logs names. */
export const HOSTS_MAX = 10;
