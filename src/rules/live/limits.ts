/** The bounds of evaluating rules; each says why it has its value. */

/** Between two looks for rules that have something to evaluate; a seal here rings at once. */
export const EVALUATE_EVERY_MS = 2_000;

/** Rules that one round takes; others follow in the next. */
export const ROUND_MAX_RULES = 500;

/** That a rule was looked at of which nothing follows is noted so seldom: it is there to be seen, and nothing depends on it. */
export const LOOKED_AT_EVERY_MS = 30_000;

/** Groups of one rule that one transaction writes of: a thousand that fire at once hold up no other rule, and none is written of twice. */
export const TOGETHER_MAX_GROUPS = 100;

/** Changes of one rule that one evaluation takes. */
export const CHANGES_MAX = 1_000;

/** Buckets and times that one evaluation reads. */
export const ROWS_MAX_READ = 100_000;

/** Windows that one evaluation judges of a rule that was not evaluated for long; the next one goes on. */
export const WINDOWS_MAX_JUDGED = 500;

/** Windows of a query that one evaluation asks; the next one goes on. */
export const SCHEDULED_MAX_JUDGED = 20;
/** Rows of an answer that are looked at: each may be a group of its own. */
export const SCHEDULED_MAX_ROWS = 1_000;
/** Of what the first row says. */
export const SCHEDULED_SAID_MAX_CHARS = 1_000;

/** Values in common of which one evaluation of a rule about several entries tells. */
export const JOINS_MAX = 1_000;

/** Groups of one rule of which it is told that nothing comes any more: each is kept until it comes again. */
export const SILENT_GROUPS_MAX = 2_000;

/** Checks come late when a probe cannot reach the server, which keeps what it finds for ten minutes. */
export const METRIC_LATE_MS = 900_000;

/** How long the evaluation under way may take when the server stops; another one repeats it. */
export const EVALUATE_STOP_MS = 2_000;

/** A rule that fails is tried again after so long, twice as long each time. */
export const RETRY_MS = 5_000;
export const RETRY_MAX_MS = 600_000;

/** Of what a failure said. */
export const ERROR_MAX_CHARS = 500;

/** For how long detections are kept. */
export const DETECTIONS_KEPT_MS = 400 * 86_400_000;
