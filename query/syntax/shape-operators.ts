import type { Parser } from "./grammar.ts";
import { readColumns, readName } from "./names.ts";
import { readCall } from "./operands.ts";
import { isOperatorEnd, readList, readOptions } from "./operator-parts.ts";
import type * as tree from "./tree.ts";

type Body<Node> = Omit<Node, "keyword" | "parameters" | "span">;

/** `subject with pattern`; a pattern of stars, texts and columns. */
export function readParse(kind: tree.ParseOperator["kind"]): (parser: Parser) => Body<tree.ParseOperator> {
  return (parser) => {
    const { cursor } = parser;
    const subject = parser.expression();
    cursor.expect("with", 'and a pattern: parse message with * "took " ms:long *');
    const pattern: tree.ParsePart[] = [];
    while (!isOperatorEnd(parser)) pattern.push(readParsePart(parser));
    return { kind, subject, pattern };
  };
}

function readParsePart(parser: Parser): tree.ParsePart {
  const { cursor } = parser;
  const start = cursor.index;
  if (cursor.accept("*") !== null) return { kind: "star", span: cursor.spanFrom(start) };
  if (cursor.peek().kind === "string") {
    const text = parser.operand();
    return { kind: "text", text, span: cursor.spanFrom(start) };
  }
  const name = readName(cursor, "a text, a column or `*` in the pattern");
  const type = cursor.accept(":") === null ? null : readName(cursor, "a type such as string or long");
  return { kind: "column", name, type, span: cursor.spanFrom(start) };
}

export function readParseKv(parser: Parser): Body<tree.ParseKvOperator> {
  const { cursor } = parser;
  const subject = parser.expression();
  cursor.expect("as", "and columns: parse-kv message as (user: string, ms: long)");
  const columns = readColumns(cursor);
  if (cursor.accept("with") === null) return { kind: "parse-kv", subject, columns, options: [] };
  const opening = cursor.expect("(", "after with");
  const options = readOptions(parser);
  cursor.close(opening, "`,` or `)` after an option");
  return { kind: "parse-kv", subject, columns, options };
}

export function readMvExpand(parser: Parser): Body<tree.MvExpandOperator> {
  const columns = readList(parser, () => readExpandedColumn(parser));
  return { kind: "mv-expand", columns, limit: readLimit(parser) };
}

export function readMvApply(parser: Parser): Body<tree.MvApplyOperator> {
  const { cursor } = parser;
  const columns = readList(parser, () => readExpandedColumn(parser));
  const limit = readLimit(parser);
  if (cursor.accept("id") !== null) parser.operand();
  cursor.expect("on", "and a query in brackets: mv-apply x = list on (where x > 1)");
  return { kind: "mv-apply", columns, limit, subquery: readSubpipeline(parser) };
}

function readExpandedColumn(parser: Parser): tree.ExpandedColumn {
  const { cursor } = parser;
  const argument = parser.argument();
  if (cursor.accept("to") === null) return { argument, type: null };
  cursor.expect("typeof", "after to: to typeof(long)");
  const opening = cursor.expect("(", "after typeof");
  const type = readName(cursor, "a type such as string or long");
  cursor.close(opening, "`)` after the type");
  return { argument, type };
}

function readLimit(parser: Parser): tree.Expression | null {
  return parser.cursor.accept("limit") === null ? null : parser.expression();
}

function readSubpipeline(parser: Parser): tree.PipelineExpression {
  const { cursor } = parser;
  const opening = cursor.expect("(", "before the query");
  const subquery = cursor.nested(() => parser.subpipeline());
  cursor.close(opening, "`|` or `)` after an operator");
  return subquery;
}

export function readMakeSeries(parser: Parser): Body<tree.MakeSeriesOperator> {
  const { cursor } = parser;
  const form = "make-series n = count() on ts from a to b step 1h by level";
  const aggregates = readList(parser, () => readSeriesAggregate(parser));
  cursor.expect("on", `and an axis: ${form}`);
  const on = parser.argument();
  const { from, to, step } = cursor.at("in") ? readSeriesRange(parser) : readSeriesSteps(parser, form);
  const by = cursor.accept("by") === null ? [] : readList(parser, () => parser.argument());
  return { kind: "make-series", aggregates, on, from, to, step, by };
}

function readSeriesAggregate(parser: Parser): tree.MakeSeriesOperator["aggregates"][number] {
  const { cursor } = parser;
  const argument = parser.argument();
  if (cursor.accept("default") === null) return { argument, defaultValue: null };
  cursor.expect("=", "after default");
  return { argument, defaultValue: parser.expression() };
}

type SeriesRange = Pick<tree.MakeSeriesOperator, "from" | "to" | "step">;

function readSeriesRange(parser: Parser): SeriesRange {
  const { cursor } = parser;
  cursor.next();
  cursor.expect("range", "after in");
  const opening = cursor.expect("(", "after range");
  const from = parser.expression();
  cursor.expect(",", "after the start");
  const to = parser.expression();
  cursor.expect(",", "after the end");
  const step = parser.expression();
  cursor.close(opening, "`)` after the step");
  return { from, to, step };
}

function readSeriesSteps(parser: Parser, form: string): SeriesRange {
  const { cursor } = parser;
  const from = cursor.accept("from") === null ? null : parser.expression();
  const to = cursor.accept("to") === null ? null : parser.expression();
  cursor.expect("step", `and the width of a bin: ${form}`);
  return { from, to, step: parser.expression() };
}

/** `plugin(arguments) [: (columns)]` */
export function readEvaluate(parser: Parser): Body<tree.EvaluateOperator> {
  const { cursor } = parser;
  const plugin = readCall(parser);
  if (cursor.accept(":") === null) return { kind: "evaluate", plugin, schema: null };
  if (cursor.at("(") && cursor.at("*", 1))
    throw cursor.failure(
      "`*` among the columns of a plugin is not supported.",
      cursor.peek(1).span,
      null,
      "UNSUPPORTED",
    );
  return { kind: "evaluate", plugin, schema: readColumns(cursor) };
}

export function readFacet(parser: Parser): Body<tree.FacetOperator> {
  const { cursor } = parser;
  cursor.expect("by", "and columns: facet by level, service");
  const by = readList(parser, () => parser.operand());
  if (cursor.accept("with") === null) return { kind: "facet", by, with: null };
  if (cursor.at("(")) return { kind: "facet", by, with: readSubpipeline(parser) };
  const start = cursor.index;
  const operators = [parser.operator()];
  const subquery = { kind: "pipeline", source: null, operators, span: cursor.spanFrom(start) } as const;
  return { kind: "facet", by, with: cursor.made(subquery) };
}

export function readPlain(kind: tree.PlainOperator["kind"]): () => Body<tree.PlainOperator> {
  return () => ({ kind });
}
