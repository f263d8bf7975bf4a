import { QUERY_TEXT_MAX_CHARS } from "../limits.ts";
import { Cursor } from "./cursor.ts";
import type { Problem } from "./diagnostic.ts";
import { readExpression } from "./expressions.ts";
import type { Parser } from "./grammar.ts";
import { lex } from "./lex.ts";
import { patternLength, readRun } from "./names.ts";
import { readArgument, readOperand } from "./operands.ts";
import { readOperator } from "./operators.ts";
import { otherLanguage } from "./other-languages.ts";
import { readPipeline, readSubpipeline } from "./pipelines.ts";
import { searchTerms } from "./search-terms.ts";
import { readStatements } from "./statements.ts";
import type { Expression, Query } from "./tree.ts";

interface ParsedQuery {
  /** Null exactly when there is a problem. */
  readonly query: Query | null;
  /** In the order of their places. */
  readonly problems: readonly Problem[];
}

/**
 * Reads a query text: a pipeline, the operators of one alone, a predicate, a text or a `word*` to search for; `let`
 * statements may stand in front. Never throws; the time taken grows with the length of the text.
 */
export function parseQuery(text: string): ParsedQuery {
  if (text.length > QUERY_TEXT_MAX_CHARS)
    return refused({
      code: "TEXT_TOO_LONG",
      message: `The query is longer than ${QUERY_TEXT_MAX_CHARS} characters.`,
      span: { start: QUERY_TEXT_MAX_CHARS, end: text.length },
      suggestion: null,
    });
  const cursor = new Cursor(lex(text));
  const parser = makeParser(cursor);
  const lone = cursor.recovering(() => readLoneWord(cursor));
  if (lone !== null) return { query: { statements: [], body: lone }, problems: [] };
  const { statements, body } = readStatements(parser, "query");
  if (body === null && cursor.problems.length === 0)
    cursor.report(missingBody(cursor, statements.length > 0));
  if (body === null || cursor.problems.length > 0) {
    const language = otherLanguage(text);
    if (language !== null) return refused(language);
    return { query: null, problems: cursor.problems.toSorted((a, b) => a.span.start - b.span.start) };
  }
  const predicate = cursor.recovering(() => searchTerms(cursor, body));
  return { query: { statements, body: predicate ?? body }, problems: [] };
}

function makeParser(cursor: Cursor): Parser {
  const parser: Parser = {
    cursor,
    expression: () => readExpression(parser),
    operand: () => readOperand(parser),
    argument: () => readArgument(parser),
    pipeline: () => readPipeline(parser),
    operator: () => readOperator(parser),
    subpipeline: () => readSubpipeline(parser),
  };
  return parser;
}

/** A text in quotes, or a word with `*`, and nothing else; null for any other query. */
function readLoneWord(cursor: Cursor): Expression | null {
  const length = patternLength(cursor);
  const isPattern = length > 1 && cursor.peek(length).kind === "end";
  if (!isPattern) return null;
  const { text, hasStar } = readRun(cursor, length);
  const span = cursor.spanFrom(0);
  if (!hasStar || /^\*+$/.test(text)) {
    cursor.rewind(0);
    return null;
  }
  const right = cursor.made({ kind: "literal", type: "string", value: text, span });
  return cursor.made({ kind: "fieldSearch", left: null, right, span }, right);
}

function missingBody(cursor: Cursor, hasStatements: boolean): Problem {
  const message = hasStatements
    ? "The query only names things; an expression that uses them must follow."
    : "The query is empty.";
  return { code: "SYNTAX", message, span: cursor.peek().span, suggestion: null };
}

function refused(problem: Problem): ParsedQuery {
  return { query: null, problems: [problem] };
}

export { lineAndColumn } from "./line-and-column.ts";
