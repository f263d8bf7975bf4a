/** The bounds of indicators; each says why it has its value. */

/** Indicators of an organisation: what large feeds have together, and some 250 MB in Postgres. */
export const IOCS_MAX = 1_000_000;

/** Ids of a row of `ioc_feed_listings`, in which the places among them are stored: another number needs a migration. */
export const LISTING_CHUNK_IDS = 8192;

/** Of these rows, how many one change looks through for what a feed lists no more: some thirty thousand ids, a second or two of the ten that it has. */
export const EXPIRE_MAX_CHUNKS = 4;

/** Entries of the allow-list: each is asked about with every find. */
export const ALLOWED_MAX = 10_000;

/** Indicators that one step of a retro-hunt looks for: a whole feed as a rule, for each step reads 90 days of observables. */
export const HUNT_MAX_INDICATORS = 100_000;
/** Finds of one step; where there are more, fewer indicators are looked for at a time. Of one indicator others are not written down. */
export const HUNT_MAX_HITS = 50_000;
export const HUNT_EVERY_MS = 2_000;
export const HUNT_STOP_MS = 5_000;

/** How soon a hit is told that is not announced. */
export const TELL_EVERY_MS = 2_000;
export const TELL_STOP_MS = 2_000;
/** Organisations and hits of a round of telling; the others follow in the next. */
export const TELL_MAX_ORGANIZATIONS = 100;
export const TELL_MAX_HITS = 1_000;
/** Of a round and an organisation that each get an incident; of more people are told in one, for nobody reads thousands. */
export const TELL_MAX_INCIDENTS = 20;
/** An indicator that goes on being found on a machine is told again so much later. */
export const TELL_AGAIN_MS = 24 * 3_600_000;

/** A file of indicators: what a feed of a million lines comes to. */
export const FILE_MAX_BYTES = 64 * 2 ** 20;
export const FILE_MAX_ROWS = 1_000_000;
/** Indicators that one change writes: some seconds, of the ten that a change has. */
export const CHANGE_MAX_INDICATORS = 100_000;
/** Rows of one statement of it. */
export const STATEMENT_MAX_INDICATORS = 5_000;
/** Rows that were refused and are shown; all are counted. */
export const REJECTED_MAX_SHOWN = 100;

/** Feeds of an organisation, and how often they are asked: others pay for each request. */
export const FEEDS_MAX = 100;
export const FEED_INTERVAL_MIN_SEC = 300;
export const FEED_INTERVAL_MAX_SEC = 7 * 86_400;
export const FEED_EVERY_MS = 5_000;
export const FEED_STOP_MS = 5_000;
/** For the whole answer, and until another instance takes a feed whose holder died: writing it takes longer than the answer. */
export const FEED_TIMEOUT_MS = 60_000;
export const FEED_LEASE_MS = 600_000;
export const FEED_REDIRECTS_MAX = 5;
export const FEED_BACKOFF = { baseMs: 60_000, maxMs: 3_600_000 };
