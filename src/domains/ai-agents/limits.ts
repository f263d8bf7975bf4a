/** The bounds of what is said about agents; each says why it has its value. */

/** The time that is looked at where none is named, and the longest. */
export const RANGE_DEFAULT_MS = 86_400_000;
export const RANGE_MAX_MS = 31 * 86_400_000;

/** Pairs of an agent and a model that one answer is made of. */
export const PAIRS_MAX = 2_000;

/** Users, days and models of one answer. */
export const USER_DAYS_MAX = 2_000;

/** Findings of one answer: somebody reads them. */
export const FINDINGS_MAX = 200;

/** Tools of an agent are new that it has not called for so long before. */
export const KNOWN_TOOLS_MS = 7 * 86_400_000;

/** Models of one list of prices. */
export const PRICES_MAX = 500;

/** Characters of a text that a finding shows. */
export const EXCERPT_CHARS = 160;

/** Hours of agents that are compared, and what agents handed to tools that is compared with indicators. */
export const HOURS_MAX = 20_000;
export const HANDED_MAX = 5_000;

/** An hour is noticeable that has so many calls, and so many times as many as the agent's middle hour. */
export const RATE_MIN_CALLS = 60;
export const RATE_MIN_RATIO = 4;
/** Hours with calls that an agent must have had before one can be told from others. */
export const RATE_MIN_HOURS = 6;
