import { DECORATION_BUDGET, type QueryBudget, RESULT_MAX_ROWS } from "../../../query/index.ts";

/** The bounds of reading logs. Every number says what it protects; those of the wire are the specification's. */

export const PAGE_MAX_ENTRIES = 1000;
export const PAGE_DEFAULT_ENTRIES = 100;
export const SERVICE_MAX_CHARS = 255;
export const CURSOR_MAX_CHARS = 64;
/** KQL as a parameter of a URL, and as a body. */
export const QUERY_MAX_CHARS = 2048;
export const QUERY_BODY_MAX_CHARS = 4096;

/** Entries counted for `total`; what matters beyond it is only that there are more. */
export const TOTAL_MAX_ENTRIES = 10_000;

/**
 * What the count of a search may cost: the answer is complete without it, so it must not double the time of a search
 * for something frequent. Bytes rather than time, so that the same data gives the same answer on a busy machine:
 * some 700 000 messages of ordinary length, or a hundred million levels. What each thread reads at a time is less than what
 * is counted, so that little is read beyond it.
 */
export const TOTAL_BUDGET: QueryBudget = {
  ...DECORATION_BUDGET,
  maxReadBytes: 128 * 1024 * 1024,
  maxBlockRows: 8_192,
};

/** What a look for the names that a query uses may cost: it decorates an answer, too. */
export const NAME_WARNINGS_BUDGET: QueryBudget = { ...TOTAL_BUDGET, maxExecutionMs: 500 };
/** How much longer than its query it may take. */
export const NAME_WARNINGS_GRACE_MS = 100;
/** Attributes it knows of: producers can make any number of them. */
export const NAMED_ATTRIBUTES_MAX = 2000;
/** How long a name that was there is taken to be there still. */
export const KNOWN_ATTRIBUTES_LIFE_MS = 60_000;
export const KNOWN_ATTRIBUTES_MAX_ORGANIZATIONS = 500;

/** Statements at a time: each may take every core and its share of memory in the store, beside inserts and merges. */
export const QUERIES_MAX_RUNNING = 16;
/** Of the store's memory for statements; the rest is for those that fill breaks of live tails. */
export const QUERIES_STORE_SHARE = 13 / 16;
/** Of one organisation: enough to keep two cores busy, and few enough for a small question of another to be answered beside them. */
export const QUERIES_MAX_RUNNING_OF_ONE = 4;
/** Of one of its people, so that the others can still ask. */
export const QUERIES_MAX_RUNNING_OF_PERSON = 3;
/** Statements that wait for those: a burst of dashboards. Beyond it, a refusal at once beats a wait in vain. */
export const QUERIES_MAX_WAITING = 256;
/** Of one organisation. */
export const QUERIES_MAX_WAITING_OF_ONE = 64;

/** Rows of the answer to a query; one less than a statement may answer with, so that one more says there was more. */
export const QUERY_MAX_ROWS = RESULT_MAX_ROWS - 1;
/** Characters of the rows of such an answer, as JSON. */
export const QUERY_MAX_ANSWER_CHARS = 64 * 1024 * 1024;

/** Buckets when the client leaves their width to us: a bar chart across a window. */
export const HISTOGRAM_DEFAULT_BUCKETS = 100;
/** Buckets of any histogram: times the groups, what one answer of the store holds. */
export const HISTOGRAM_MAX_BUCKETS = 2000;
/** Groups by name; the rest is one number. */
export const HISTOGRAM_MAX_GROUPS = 10;
/** Characters of a field's name. */
export const FIELD_NAME_MAX_CHARS = 255;

export const FACETS_MAX_FIELDS = 20;
export const FACET_DEFAULT_VALUES = 10;
export const FACET_MAX_VALUES = 100;
/** Attributes that have facets without being asked for. */
export const FACET_DEFAULT_ATTRIBUTES = 4;

/** The newest entries whose attributes are looked at: their bags are held in memory. */
export const FIELDS_SAMPLE_ENTRIES = 2000;
/** Bytes of them: of large entries fewer say as much. */
export const FIELDS_SAMPLE_MAX_BYTES = 16 * 1024 * 1024;
/** Attributes described, the most frequent ones: producers can make any number of them. */
export const FIELDS_MAX_ATTRIBUTES = 500;
export const FIELD_EXAMPLES = 3;
export const FIELD_EXAMPLE_MAX_CHARS = 100;

export const CONTEXT_DEFAULT_ENTRIES = 10;
export const CONTEXT_MAX_ENTRIES = 100;

/** Entries of one statement of an export, a megabyte or two as a rule, held until the client has taken them. */
export const EXPORT_PAGE_ENTRIES = 2000;
/** Bytes of them: of larger entries a page has fewer. */
export const EXPORT_PAGE_MAX_BYTES = 4 * 1024 * 1024;
/** An export that takes longer is cut: its client is too slow or gone. */
export const EXPORT_MAX_MS = 3_600_000;
