/** Bytes of an answer as a model gets it: some 8000 tokens. What a window of context holds beside the work itself. */
export const TOOL_ANSWER_MAX_BYTES = 32 * 1024;

/** Bytes of an operation's answer that are read to be cut to that: parsing them takes the thread for some 10 ms. */
export const TOOL_READ_MAX_BYTES = 2 * 1024 * 1024;

/** Characters of a text in an answer that is too long, tried one after the other: first what keeps a stack trace. */
export const CUT_TEXT_CHARS = [2000, 500, 100] as const;

/** Elements of a list that are worth more than longer texts in fewer of them. */
export const CUT_ITEMS_ENOUGH = 10;

/** Times an operation is called to find a page that fits: a page of which half fits says how many do. */
export const PAGE_TRIES_MAX = 3;

/** Operations that a search for one answers: the right one is nearly always among the first three. */
export const FOUND_OPERATIONS_MAX = 5;

/** Words of a question that are looked at; a longer one is no question. */
export const QUESTION_WORDS_MAX = 64;
