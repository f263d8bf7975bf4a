/** The bounds of probes in other regions. */

/** Streams of one server: some probes of each region. */
export const PROBE_STREAMS_MAX = 32;
/** How often a probe is told the time and what has changed. */
export const FEED_EVERY_MS = 2_000;
/** Monitors of one event of a stream. */
export const FEED_MAX_ASSIGNMENTS = 100;
/** Monitors of one region: what a probe holds in memory. */
export const FEED_MAX_MONITORS = 50_000;
/** How long a probe may keep results that it could not send, and a little more: so long a repetition is recognised. */
export const PROBE_RESULTS_KEPT_MS = 900_000;
/** A slot that is further ahead was made by no clock that follows ours. */
export const PROBE_AHEAD_MAX_MS = 60_000;
/** Results of one call. */
export const PROBE_RESULTS_MAX = 500;
/** Bytes of one call. */
export const PROBE_RESULTS_MAX_BYTES = 512 * 1024;
