/** The bounds of running monitors; each says why it has its value. */

/** Monitors are shared out in so many parts: enough for some instances to have equal ones, few enough to renew at once. */
export const SHARDS = 64;
/** For how long a shard is believed to be run by an instance that is not heard of. */
export const LEASE_MS = 6_000;
/** When nobody has run a shard for so long, no heartbeat was taken in either: a restart is shorter. */
export const RUN_GAP_MS = 60_000;
/** How often that is renewed, and what others have changed is looked for: two of three renewals may fail. */
export const RENEW_EVERY_MS = 2_000;
/** A renewal that takes longer is of no use. */
export const RENEW_TIMEOUT_MS = 4_000;
/**
 * For how long checks go on while Postgres does not answer: their rounds wait in memory. Whoever is cut off by itself is
 * replaced after a lease; for so long targets may see both.
 */
export const GO_ON_WITHOUT_POSTGRES_MS = 300_000;
/** Rounds that wait to be written: five minutes of 6 000 monitors at 30 s. Beyond it no check begins, and slots are missed. */
export const ROUNDS_MAX_WAITING = 60_000;
/** Rounds of one transaction. */
export const COMMIT_MAX_ROUNDS = 256;
/** How long a round waits for others to be written with. */
export const COMMIT_GATHER_MS = 100;
/** The pause before what could not be written is tried again. */
export const COMMIT_BACKOFF = { baseMs: 250, maxMs: 2_000 };
/** What rounds that are written get when the server stops; cut off, their slots are the next start's. */
export const STOP_MS = 2_000;
/** Changes are looked for so far back: longer than a transaction that makes one may take, and than clocks differ. */
export const CHANGES_OVERLAP_MS = 60_000;
/** How often all monitors are compared instead, for those that were deleted. */
export const COMPARE_EVERY_MS = 60_000;
/** Monitors whose settings are read at a time. */
export const ASSIGN_MAX_ROWS = 500;
/** How long after its time limit a round waits for regions that are silent. */
export const ROUND_GRACE_MS = 5_000;
/** Of several steps, which have one limit together. */
export const STEPS_TIMEOUT_MS = 300_000;

/** How often batches are taken to the log store: a part of its table each time. */
export const BATCHES_EVERY_MS = 1_000;
/** Batches of one insert. */
export const BATCHES_MAX = 500;
/** For how long an insert that is not heard of is believed to go on. */
export const BATCHES_LEASE_MS = 60_000;
/** The pause before an insert is tried again. */
export const BATCHES_BACKOFF = { baseMs: 1_000, maxMs: 30_000 };
/** How long results wait for a log store that is away. */
export const BATCHES_KEPT_MS = 7 * 86_400_000;

/** How often heartbeats and their deadlines are looked at. */
export const HEARTBEATS_EVERY_MS = 1_000;
/** Heartbeats that are judged at a time. */
export const HEARTBEATS_MAX_ROWS = 256;

/** How often windows of maintenance are looked at that have ended. */
export const SETTLE_EVERY_MS = 2_000;
/** Windows and monitors that are settled in one transaction. */
export const SETTLE_MAX_ROWS = 256;

/** How often results of probes are looked for. */
export const PROBE_RESULTS_EVERY_MS = 500;
/** Of them at a time. */
export const PROBE_RESULTS_MAX_ROWS = 1_000;
/** How long after it was made a monitor of several regions is checked first: probes have heard of it by then. */
export const FIRST_ROUND_AFTER_MS = 6_000;

/** How often objectives are judged. */
export const SLO_EVERY_MS = 60_000;
/** Monitors that recovered so lately are judged, too: several times what lies between two looks. */
export const SLO_LOOK_BACK_MS = 300_000;
/** Monitors whose objectives are judged at a time. */
export const SLO_MAX_ROWS = 256;

/** How long changes are gathered before they are looked at. */
export const WAKE_GATHER_MS = 100;
