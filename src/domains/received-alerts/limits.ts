/** The bounds of alerts of other systems. Every number says what it protects. */

/** Receivers of an organisation: the list is one answer, which somebody reads. */
export const RECEIVERS_MAX = 100;

/** Unpacked bytes of a body: a thousand alerts with their labels and annotations; an outage is when groups are large. */
export const BODY_MAX_BYTES = 4 * 1024 * 1024;
export const ALERTS_MAX = 5_000;
/** Alerts of a body that are no group, each of which is an event of its own. */
export const UNGROUPED_MAX = 500;
/** Incidents of a receiver that are open at a time: a sender that invents keys fills no more than a list. */
export const OPEN_MAX = 500;
/** Bodies of a receiver in a minute, on each instance: ten groups a second. */
export const BODIES_PER_MINUTE = 600;

/** Bodies that are being written down at a time, each with a connection to Postgres, of which there are ten. */
export const WRITING_MAX = 3;
export const WRITING_MAX_OF_ONE = 1;
export const WRITING_WAITING_MAX = 256;
export const WRITING_WAITING_MAX_OF_ONE = 64;

export const KEY_MAX_CHARS = 255;
export const TITLE_MAX_CHARS = 255;
export const BODY_MAX_CHARS = 4_096;

/** Bytes of JSON: all of them together are less than an event may hold. */
export const TITLE_MAX_BYTES = 1_024;
export const SUMMARY_MAX_BYTES = 4_096;
export const EVIDENCE_MAX_BYTES = 6_144;
/** Alerts that a summary lists. */
export const SUMMARY_MAX_ALERTS = 10;

/** How far a sender may date back: nobody looks for the beginning of an outage further away. */
export const DATED_BACK_MAX_MS = 30 * 24 * 3_600_000;
