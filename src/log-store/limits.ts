/** Attributes with columns of their own: each costs an insert a look into every map. */
export const ATTRIBUTE_COLUMNS_MAX = 8;
/** A key that is longer, in UTF-16 code units, has no column. */
export const ATTRIBUTE_KEY_MAX_CHARS = 200;
/** What statements cost, together and faded, before an attribute of theirs gets a column, and how many they are: three of today. */
export const COLUMN_MIN_COST_MS = 500;
export const COLUMN_MIN_ASKS = 2.2;
/** How many times as much an attribute has to cost to take the place of another. */
export const COLUMN_REPLACE_FACTOR = 4;
/** A column stays at least so long before another may take its place. */
export const COLUMN_MIN_AGE_MS = 3_600_000;
/** A column that nobody asks for so long goes. */
export const COLUMN_UNUSED_MS = 7 * 86_400_000;
/** After this, no statement runs any more that was written when the column was still read. */
export const COLUMN_LEAVE_MS = 600_000;
/** A list of columns that is older is not believed: its columns may be leaving. */
export const COLUMNS_TRUSTED_MS = 30_000;
/** Distinct values up to which a column is one of low cardinality, and the entries that are looked at to find out. */
export const LOW_CARDINALITY_MAX_VALUES = 1_000;
export const SAMPLE_ROWS = 100_000;

/** A statement that is quicker, or reads less, would not gain by a column. */
export const DEAR_MIN_MS = 15;
export const DEAR_MIN_BYTES = 4 * 1024 * 1024;
/** Keys that are counted until they are written down, and that are remembered. */
export const USAGE_PENDING_MAX = 1_000;
export const USAGE_MAX_KEYS = 1_000;
/** In how long what an attribute cost counts half. */
export const USAGE_HALF_LIFE_S = 86_400;

export const UPKEEP_EVERY_MS = 5_000;
export const UPKEEP_STOP_MS = 5_000;
/** Rows that come in within `BUSY_SECONDS` from which on the store has better things to do. */
export const BUSY_ROWS = 250_000;
export const BUSY_SECONDS = 5;
/** A part without indexes of its messages that is older waits for no merge any more. */
export const UNINDEXED_AGE_S = 2;
/** Parts that no merge has touched, of which is asked whether they have these indexes. */
export const UNINDEXED_PARTS_MAX = 1_000;
/** Merges at a time that are asked for of one look; each leaves fewer parts. */
export const UPKEEP_MAX_MERGES = 8;
/** The longest merge that is waited for. */
export const MERGE_MAX_MS = 600_000;
/** Rows that the index of words may lack while searches count on it: their words are computed, some 1 us each. */
export const UNINDEXED_WORDS_MAX_ROWS = 30_000;
