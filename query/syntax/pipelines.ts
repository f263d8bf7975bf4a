import { readUnnested } from "./expressions.ts";
import type { Parser } from "./grammar.ts";
import { PIPELINE_MAX_OPERATORS } from "./limits.ts";
import { isOperatorStart, readOperator } from "./operators.ts";
import type { Expression, Operator, PipelineExpression } from "./tree.ts";

/** An expression, or an operator that makes rows itself, and the operators behind it. */
export function readPipeline(parser: Parser): Expression {
  const { cursor } = parser;
  return cursor.nested(() => {
    const start = cursor.index;
    if (isOperatorStart(parser, "source")) return readOperators(parser, null, start);
    const source = readUnnested(parser);
    return cursor.at("|") ? readOperators(parser, source, start) : source;
  });
}

/** A whole query: also the operators alone, with or without a pipe in front, whose rows are known otherwise. */
export function readBody(parser: Parser): Expression {
  const { cursor } = parser;
  if (cursor.at("|") || isOperatorStart(parser, "any")) return readSubpipeline(parser);
  return readPipeline(parser);
}

export function readSubpipeline(parser: Parser): PipelineExpression {
  return readOperators(parser, null, parser.cursor.index);
}

/** Goes on behind an operator that is wrong, so that those behind it are checked as well. */
function readOperators(parser: Parser, source: Expression | null, start: number): PipelineExpression {
  const { cursor } = parser;
  const operators: Operator[] = [];
  if (source === null) cursor.accept("|");
  else cursor.next();
  do {
    if (operators.length >= PIPELINE_MAX_OPERATORS)
      throw cursor.exhausted(`A query has at most ${PIPELINE_MAX_OPERATORS} operators.`, cursor.peek().span);
    const operator = cursor.recovering(() => readOperator(parser));
    if (operator !== null) operators.push(operator);
  } while (cursor.accept("|") !== null);
  return cursor.made({ kind: "pipeline", source, operators, span: cursor.spanFrom(start) }, source);
}
