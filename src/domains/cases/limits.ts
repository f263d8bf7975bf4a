/** The bounds of cases; each says why it has its value. */

/** Cases of one organisation. */
export const CASES_MAX = 10_000;

/** Incidents of one case. */
export const CASE_INCIDENTS_MAX = 200;

/** Notes of one case, and changes that stand between them: the answer holds them all, the audit log every change. */
export const CASE_NOTES_MAX = 1_000;

/** Pieces of evidence of one case: the answer holds them all. */
export const CASE_EVIDENCE_MAX = 500;

/** Bytes of a copy: the longest entry that there can be is not much larger. */
export const SNAPSHOT_MAX_BYTES = 256 * 1024;

/** Things that the evidence of one case names. */
export const CASE_OBSERVABLES_MAX = 1_000;

/** Characters of one: no address, domain or hash that is in use is longer. */
export const OBSERVABLE_MAX_CHARS = 512;

/** Cases that are named as alike. */
export const SIMILAR_MAX = 10;
