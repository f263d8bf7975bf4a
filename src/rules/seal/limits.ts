import type { QueryBudget } from "../../../query/index.ts";

/** The bounds of sealing; each says why it has its value. */

/** Between two seals of a stream that grows: what is counted lags so much behind what is stored. */
export const SEAL_EVERY_MS = 2_000;

/**
 * While somebody sends as much as the machine can take, the sealer rests so many times as long as a seal took, and at most so
 * long: taking entries goes first, and what is behind is looked through when there is time.
 */
export const REST_FACTOR = 19;
export const REST_MAX_MS = 10_000;
/** What is so far behind gets more all the same, in the end half the time: a machine that is busy must silence no rule. */
export const REST_FACTORS: readonly { readonly fromMs: number; readonly factor: number }[] = [
  { fromMs: 45_000, factor: 1 },
  { fromMs: 15_000, factor: 4 },
];
/** Who keeps up with so small a share of the time does not rest: at twenty thousand entries a second a tenth is enough. */
export const KEEPS_UP_SHARE = 0.25;
/** The machine has nothing left when less of its time than this is idle. */
export const IDLE_SHARE_MIN = 0.15;

/** Of how much time ids are looked at first for where a seal may end; each further look is at twice as much. */
export const SEAL_END_LOOK_MS = 500;

/** Entries of one seal while it has nothing left: a short piece holds up little. */
export const SEAL_BUSY_ENTRIES = 20_000;

/** Entries of one seal. There is a row of the answer for a bucket, so that it never has more than an answer may have. */
export const SEAL_MAX_ENTRIES = 100_000;

/** Streams that one server seals in a round; others follow in the next. */
export const SEAL_MAX_STREAMS = 64;

/** Counters of one statement: its text grows with them. */
export const STATEMENT_MAX_COUNTERS = 50;
/** Counters that cost less than a pass over the entries to find out which of them may count anything. */
export const FEW_COUNTERS = 8;
/** Texts that are looked for in one pass over a column or an attribute: the store compiles them to one automaton, in 0.2 s for so many. */
export const REACH_MAX_PATTERNS = 10_000;
/** Columns and attributes that are looked through: each takes a look into every entry. */
export const REACH_MAX_TEXTS = 64;
/** Counters of a revision that are kept: no seal reads again what the one before has read. */
export const COUNTERS_KEPT_MAX = 50_000;
/** What counters reach, kept: a few hundred bytes of each. */
export const REACHES_KEPT_MAX = 50_000;

/** The archive waits for what is not sealed; entries stay in the log store for days, so that hours say nothing. */
export const UNSEALED_AFTER_MS = 12 * 3_600_000;
/** Streams that are asked for it: the one furthest behind decides. */
export const UNSEALED_MAX_STREAMS = 64;

/** How long the seal under way may take when the server stops; the next start repeats it. */
export const SEAL_STOP_MS = 2_000;

/** What one statement of a seal or of counting the past may cost. */
export const COUNTING_BUDGET: QueryBudget = {
  maxExecutionMs: 60_000,
  maxReadBytes: 64 * 1024 ** 3,
  maxMemoryBytes: 512 * 1024 ** 2,
  maxResultBytes: 64 * 1024 ** 2,
};

/** Bytes that answers of counting hold at a time. */
export const COUNTING_MEMORY_BYTES = 64 * 1024 ** 2;

/** Spans of changed buckets that are told of a counter and a seal: more are one, from the first to the last. */
export const CHANGED_SPANS_MAX = 8;

/** Keys of attributes that a seal knows of an organisation: who has more may have any. */
export const ATTRIBUTE_KEYS_MAX = 5_000;
