/** Sources of one organisation: the list is one answer, which somebody reads. */
export const SOURCES_MAX = 1000;

/** How long an instance trusts what it knows of a source: a change takes effect on all of them within a second. */
export const SOURCE_CACHE_LIFE_MS = 500;
/** Sources an instance remembers; one with a large mapping takes some 100 KB compiled. */
export const SOURCE_CACHE_MAX = 2_000;
/** Keys that no source has, apart from the others, so that invented ones do not evict real ones. */
export const UNKNOWN_SOURCE_CACHE_MAX = 2_000;

/** From one write of what sources received to the next: so much a kill can lose of the counts. */
export const ACTIVITY_INTERVAL_MS = 1_000;
/** How long the last write may take when the server stops. */
export const ACTIVITY_SETTLE_MS = 1_500;
/** Sources with something to write down; beyond, while Postgres is away, nothing more is noted. */
export const ACTIVITY_PENDING_MAX = 10_000;

/**
 * A source is in error when at least this many records in a row could not be mapped, in at least this many requests:
 * one bad request is the sender's, a mapping that never fits is ours.
 */
export const FAILING_RECORDS_MIN = 10;
export const FAILING_REQUESTS_MIN = 3;
/** Sources whose failures in a row an instance counts. */
export const STREAKS_MAX = 10_000;

/** Samples that a learning source shows, and how often new ones are taken. */
export const SAMPLES_MAX = 5;
export const SAMPLE_INTERVAL_MS = 5_000;
/** Learning sources whose samples an instance holds: at most 40 KB each. */
export const SAMPLED_SOURCES_MAX = 500;

/** Bytes of a sample that a mapping is proposed from: looking at all of its values takes a multiple of parsing it. */
export const SAMPLE_MAX_BYTES = 1024 * 1024;
