/** What bounds the counters of alerts; each says why it has its value. */

/** An entry from further in the future is counted when it came: clocks differ by minutes, not by more. */
export const ALERT_FUTURE_MAX_MS = 300_000;

/** So far from when a counter was made may entries be that came before: a sender's clock and a server's may both be ahead. */
export const FIRST_LOOK_MS = 2 * ALERT_FUTURE_MAX_MS;

/** An entry that was older when it came is an import of old files. */
export const ALERT_PAST_MAX_MS = 86_400_000;

/** Fields that are columns of entries and not attributes. */
export const GROUP_COLUMNS = ["service", "level", "host", "source", "traceId", "spanId"] as const;

/** Fields that a counter may group by. */
export const GROUP_FIELDS_MAX = 3;

/** Of the value of a field in the name of a group: names are keys. */
export const GROUP_VALUE_MAX_CHARS = 128;

/** Groups that one seal keeps of a counter, those with most entries; the others are one. */
export const GROUPS_MAX_OF_SEAL = 2_000;
