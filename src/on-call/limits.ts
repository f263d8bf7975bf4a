/** Schedules and policies of one organisation: each list is one answer, which somebody reads. */
export const SCHEDULES_MAX = 200;
export const POLICIES_MAX = 200;

/** Turns of one schedule that have not ended; those of a year in which people change every day. */
export const ROTATIONS_MAX = 1000;
/** People who take turns. */
export const TURN_USERS_MAX = 50;

const DAY_MS = 86_400_000;
/** What a report of coverage looks at when it is not told, and at most. */
export const COVERAGE_DEFAULT_MS = 28 * DAY_MS;
export const COVERAGE_MAX_MS = 400 * DAY_MS;
/** What calendars are shown. */
export const CALENDAR_PAST_MS = 30 * DAY_MS;
export const CALENDAR_FUTURE_MS = 180 * DAY_MS;
/** Uncovered stretches that a report lists; who has more has no schedule. */
export const GAPS_MAX = 1000;
