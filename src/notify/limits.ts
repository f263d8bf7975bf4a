/** Bounds of what is sent to others. */

const HOUR_MS = 60 * 60 * 1000;

/** How long a webhook secret goes on after it was replaced. */
export const REPLACED_SECRET_LIFE_MS = 24 * HOUR_MS;

/** Replaced secrets that go on at a time: every delivery carries a signature of each. */
export const REPLACED_SECRETS_MAX = 5;
