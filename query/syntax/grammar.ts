import type { Cursor } from "./cursor.ts";
import type { Argument, Expression, Operator, PipelineExpression } from "./tree.ts";

/** What the parts of the grammar need of one another. Every reader throws a SyntaxFailure where the text is wrong. */
export interface Parser {
  readonly cursor: Cursor;
  /** A value, or a table without operators. */
  expression(): Expression;
  /** A part of an expression that binds tighter than every operator: a signed literal, a call, a path. */
  operand(): Expression;
  /** `[name =] value`, or `(a, b) = value`. */
  argument(): Argument;
  /** An expression and the operators behind it. */
  pipeline(): Expression;
  operator(): Operator;
  /** Operators whose rows come from elsewhere: inside `mv-apply`, `facet`. */
  subpipeline(): PipelineExpression;
}
