import type { Parser } from "./grammar.ts";
import { nameLength, readName, readNamePattern } from "./names.ts";
import {
  isOperatorEnd,
  readArguments,
  readDirection,
  readList,
  readOptions,
  readParameterValue,
  readSortItem,
} from "./operator-parts.ts";
import { searchTerms } from "./search-terms.ts";
import type * as tree from "./tree.ts";

type Body<Node> = Omit<Node, "keyword" | "parameters" | "span">;

export function readWhere(parser: Parser): Body<tree.WhereOperator> {
  return { kind: "where", predicate: parser.expression() };
}

/** `[in (T1, T2)] predicate` */
export function readSearch(parser: Parser): Body<tree.SearchOperator> {
  const { cursor } = parser;
  let tables: tree.Expression[] = [];
  if (cursor.at("in") && cursor.at("(", 1)) {
    cursor.next();
    const opening = cursor.next();
    tables = readList(parser, () => readTable(parser));
    cursor.close(opening, "`,` or `)` after a table");
  }
  return { kind: "search", tables, predicate: searchTerms(cursor, parser.expression()) };
}

export function readAssign(kind: tree.AssignOperator["kind"]): (parser: Parser) => Body<tree.AssignOperator> {
  const mayBeEmpty = kind === "project" || kind === "serialize";
  return (parser) => ({
    kind,
    assignments: mayBeEmpty ? readArguments(parser) : readList(parser, () => parser.argument()),
  });
}

export function readNames(kind: tree.NamesOperator["kind"]): (parser: Parser) => Body<tree.NamesOperator> {
  return (parser) => ({
    kind,
    names: isOperatorEnd(parser) ? [] : readList(parser, () => readOrderedName(parser, kind)),
  });
}

const ORDERS = ["asc", "desc", "granny-asc", "granny-desc"];

function readOrderedName(
  { cursor }: Parser,
  kind: tree.NamesOperator["kind"],
): tree.NamesOperator["names"][number] {
  const expression = readNamePattern(cursor, "the name of a column");
  const order = kind === "project-reorder" ? ORDERS.find((word) => cursor.at(word)) : undefined;
  if (order !== undefined) cursor.next();
  return { expression, order: order ?? null };
}

export function readDistinct(parser: Parser): Body<tree.DistinctOperator> {
  return { kind: "distinct", columns: readList(parser, () => parser.argument()) };
}

export function readRename(parser: Parser): Body<tree.RenameOperator> {
  return { kind: "project-rename", assignments: readArguments(parser) };
}

export function readSummarize(parser: Parser): Body<tree.SummarizeOperator> {
  const aggregates = readArguments(parser, ["by"]);
  const by = parser.cursor.accept("by") === null ? [] : readList(parser, () => parser.argument());
  return { kind: "summarize", aggregates, by };
}

export function readCount({ cursor }: Parser): Body<tree.CountOperator> {
  return {
    kind: "count",
    as: cursor.accept("as") === null ? null : readName(cursor, "a name for the count"),
  };
}

export function readTake(kind: tree.TakeOperator["kind"]): (parser: Parser) => Body<tree.TakeOperator> {
  return (parser) => ({ kind, count: parser.expression() });
}

export function readSampleDistinct(parser: Parser): Body<tree.SampleDistinctOperator> {
  const count = parser.expression();
  parser.cursor.expect("of", "and a column after the number: sample-distinct 10 of column");
  return { kind: "sample-distinct", count, of: parser.expression() };
}

export function readTop(parser: Parser): Body<tree.TopOperator> {
  const count = parser.expression();
  parser.cursor.expect("by", "and a column after the number: top 10 by column");
  return { kind: "top", count, by: [readSortItem(parser)] };
}

export function readTopHitters(parser: Parser): Body<tree.TopHittersOperator> {
  const { cursor } = parser;
  const count = parser.expression();
  cursor.expect("of", "and a column after the number: top-hitters 10 of column");
  const of = parser.expression();
  return { kind: "top-hitters", count, of, by: cursor.accept("by") === null ? null : parser.expression() };
}

export function readTopNested(parser: Parser): Body<tree.TopNestedOperator> {
  const { cursor } = parser;
  const levels = [readNestedLevel(parser)];
  while (cursor.accept(",") !== null) {
    cursor.expect("top-nested", "after the comma");
    levels.push(readNestedLevel(parser));
  }
  return { kind: "top-nested", levels };
}

function readNestedLevel(parser: Parser): tree.TopNestedOperator["levels"][number] {
  const { cursor } = parser;
  const start = cursor.index;
  const count = cursor.at("of") ? null : parser.expression();
  cursor.expect("of", "and a column: top-nested 3 of column by count()");
  const of = parser.argument();
  let others: tree.Expression | null = null;
  if (cursor.accept("with") !== null) {
    cursor.expect("others", "after with");
    cursor.expect("=", "after others");
    others = parser.expression();
  }
  cursor.expect("by", "and an aggregate: top-nested 3 of column by count()");
  const by = parser.argument();
  return { count, of, others, by, direction: readDirection(parser), span: cursor.spanFrom(start) };
}

export function readSort(parser: Parser): Body<tree.SortOperator> {
  parser.cursor.expect("by", "and a column: sort by column desc");
  return { kind: "sort", by: readList(parser, () => readSortItem(parser)) };
}

export function readJoin(kind: tree.JoinOperator["kind"]): (parser: Parser) => Body<tree.JoinOperator> {
  return (parser) => {
    const { cursor } = parser;
    const right = readTable(parser);
    if (cursor.at("where"))
      throw cursor.failure(
        "join ... where is not supported; write on.",
        cursor.peek().span,
        "on",
        "UNSUPPORTED",
      );
    if (kind === "join" && isOperatorEnd(parser)) return { kind, right, on: [] };
    cursor.expect("on", `and a column: ${kind} (table) on column`);
    return { kind, right, on: readList(parser, () => parser.expression()) };
  };
}

export function readUnion(parser: Parser): Body<tree.UnionOperator> {
  return { kind: "union", tables: readList(parser, () => readTable(parser)) };
}

/** A table: a name or pattern of names, a call, a path, or a query in brackets. */
function readTable(parser: Parser): tree.Expression {
  const { cursor } = parser;
  for (let length = 1; ; length++) {
    const piece = cursor.peek(length - 1);
    const isPiece = piece.kind === "name" || piece.kind === "long" || cursor.at("*", length - 1);
    if (!isPiece || (length > 1 && !cursor.isAdjacent(length - 1))) return parser.operand();
    if (cursor.at("*", length - 1)) return readNamePattern(cursor, "the name of a table");
  }
}

export function readAs({ cursor }: Parser): Body<tree.AsOperator> {
  return { kind: "as", name: readName(cursor, "a name for the table") };
}

export function readInvoke(parser: Parser): Body<tree.InvokeOperator> {
  const call = parser.expression();
  if (call.kind === "call") return { kind: "invoke", call };
  throw parser.cursor.failure("invoke takes a call of a function: invoke f(1).", call.span);
}

export function readRange(parser: Parser): Body<tree.RangeOperator> {
  const { cursor } = parser;
  const form = "range x from 1 to 10 step 1";
  const name = readName(cursor, "a name for the column");
  cursor.expect("from", `after the name: ${form}`);
  const from = parser.expression();
  cursor.expect("to", `after the first value: ${form}`);
  const to = parser.expression();
  cursor.expect("step", `after the last value: ${form}`);
  return { kind: "range", name, from, to, step: parser.expression() };
}

/** `render chart with (name = value, ...)`, also the older `render chart name = value ...`. */
export function readRender(parser: Parser): Body<tree.RenderOperator> {
  const { cursor } = parser;
  const chart = readName(cursor, "a chart such as timechart");
  const properties: tree.Parameter[] = [];
  if (cursor.at("with") && cursor.at("(", 1)) {
    cursor.next();
    const opening = cursor.next();
    while (!cursor.at(")")) {
      properties.push(readProperty(parser));
      if (cursor.accept(",") === null) break;
    }
    cursor.close(opening, "`,` or `)` after a property");
  } else {
    while (nameLength(cursor) === 1 && cursor.at("=", 1)) properties.push(readProperty(parser));
  }
  return { kind: "render", chart, properties };
}

/** The value is a word or literal; a list of names (`ycolumns = a, b`) becomes one text with commas. */
function readProperty(parser: Parser): tree.Parameter {
  const { cursor } = parser;
  const name = readName(cursor, "a property such as title");
  cursor.expect("=", `after the property ${name.name}`);
  const start = cursor.index;
  const first = cursor.at("(", 1) ? parser.expression() : readParameterValue(parser);
  if (first.kind !== "name") return { name, value: first };
  const names = [first.name];
  while (cursor.at(",") && nameLength(cursor, 1) > 0 && !cursor.at("=", 1 + nameLength(cursor, 1))) {
    cursor.next();
    names.push(readName(cursor, "a name").name);
  }
  if (names.length === 1) return { name, value: first };
  const span = cursor.spanFrom(start);
  return { name, value: cursor.made({ kind: "literal", type: "string", value: names.join(","), span }) };
}

export function readReduce(parser: Parser): Body<tree.ReduceOperator> {
  const { cursor } = parser;
  cursor.expect("by", "and a column: reduce by column");
  const by = parser.expression();
  return { kind: "reduce", by, options: cursor.accept("with") === null ? [] : readOptions(parser) };
}
