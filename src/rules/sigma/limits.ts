/** The bounds of Sigma rules; each says why it has its value. */

/** UTF-8 bytes of one import: twice what 500 rules of the usual length have. */
export const IMPORT_MAX_BYTES = 2 * 1024 * 1024;

/** Documents of one import: each is a rule that is made in one transaction. */
export const IMPORT_MAX_DOCUMENTS = 500;

/** Characters of one document: the longest lists of hashes fit. */
export const DOCUMENT_MAX_CHARS = 128 * 1024;

/**
 * Signs, names, values and spaces of one document, as YAML parts them: twice what as many values as a rule may ask for take as a
 * list. Reading them holds the thread for some tens of milliseconds; characters alone would not bound that.
 */
export const DOCUMENT_MAX_TOKENS = 20_000;

/** Characters of a text that is no rule in which it is looked for what it may be instead. */
export const HINT_MAX_CHARS = 2_048;

/** How often aliases of one document may refer to others: no rule needs any. What they stand for in all is bounded by its characters. */
export const ALIAS_MAX_COUNT = 100;

/** Values and selections inside one another: the stack of whoever walks them. */
export const VALUE_MAX_DEPTH = 32;

/** Selections of one rule: each pattern of names in a condition is held against all of them. */
export const SELECTIONS_MAX_COUNT = 200;

/** Tests of one rule, counted wherever a condition names their selection: the work of judging an entry. */
export const TESTS_MAX_COUNT = 2_000;

/** Characters of a converted condition, which is longer than what people write by hand: long lists of names. */
export const CONVERTED_KQL_MAX_CHARS = 16_384;

/** The same of a step of a correlation, as rules have it. */
export const STEP_KQL_MAX_CHARS = 2_048;

/** Characters of what a rule is called, and of what is said of it. */
export const TITLE_MAX_CHARS = 255;
export const DESCRIPTION_MAX_CHARS = 2_048;

/** Problems of one document that are told. */
export const PROBLEMS_MAX_COUNT = 20;

/** Windows of rules, in seconds. */
export const WINDOW_MIN_SEC = 30;
export const WINDOW_MAX_SEC = 86_400;
export const WINDOW_DEFAULT_SEC = 300;

/** Steps of a sequence. */
export const STEPS_MAX_COUNT = 6;

/** Fields by which one rule counts apart. */
export const GROUPS_MAX_COUNT = 3;
