/** The bounds of the parser. Every number says what it protects. */

/** Brackets and subqueries inside one another: the stack of the parser. */
export const NESTING_MAX_DEPTH = 64;

/** Levels of an expression, long chains of `+` and `.` included: the stack of whoever walks the tree. */
export const EXPRESSION_MAX_DEPTH = 256;

/** Nodes of a tree: memory of a query and of all that is made of it. */
export const TREE_MAX_NODES = 20_000;

/** Operators of one pipeline: each is a level of the statement that is made of it. */
export const PIPELINE_MAX_OPERATORS = 200;

/** Problems of one text that are told: more of them help nobody. */
export const PROBLEMS_MAX_COUNT = 20;
