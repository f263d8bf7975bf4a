import { nearestName } from "../bind/nearest-name.ts";
import type { Span } from "../span.ts";
import { type SyntaxFailure, show } from "./cursor.ts";
import { continuesValue } from "./expressions.ts";
import type { Parser } from "./grammar.ts";
import { readName } from "./names.ts";
import { isOperatorEnd, readParameters } from "./operator-parts.ts";
import { operatorElsewhere, wordElsewhere } from "./other-languages.ts";
import * as row from "./row-operators.ts";
import * as shape from "./shape-operators.ts";
import type { Expression, Operator } from "./tree.ts";

type OperatorBody = Operator extends infer Node
  ? Node extends Operator
    ? Omit<Node, "keyword" | "parameters" | "span">
    : never
  : never;

const READERS: ReadonlyMap<string, (parser: Parser) => OperatorBody> = new Map<
  string,
  (parser: Parser) => OperatorBody
>([
  ["where", row.readWhere],
  ["filter", row.readWhere],
  ["search", row.readSearch],
  ["extend", row.readAssign("extend")],
  ["project", row.readAssign("project")],
  ["serialize", row.readAssign("serialize")],
  ["print", row.readAssign("print")],
  ["project-away", row.readNames("project-away")],
  ["project-keep", row.readNames("project-keep")],
  ["project-reorder", row.readNames("project-reorder")],
  ["project-rename", row.readRename],
  ["distinct", row.readDistinct],
  ["summarize", row.readSummarize],
  ["count", row.readCount],
  ["take", row.readTake("take")],
  ["limit", row.readTake("take")],
  ["sample", row.readTake("sample")],
  ["sample-distinct", row.readSampleDistinct],
  ["top", row.readTop],
  ["top-nested", row.readTopNested],
  ["top-hitters", row.readTopHitters],
  ["sort", row.readSort],
  ["order", row.readSort],
  ["join", row.readJoin("join")],
  ["lookup", row.readJoin("lookup")],
  ["union", row.readUnion],
  ["as", row.readAs],
  ["invoke", row.readInvoke],
  ["range", row.readRange],
  ["render", row.readRender],
  ["reduce", row.readReduce],
  ["parse", shape.readParse("parse")],
  ["parse-where", shape.readParse("parse-where")],
  ["parse-kv", shape.readParseKv],
  ["mv-expand", shape.readMvExpand],
  ["mvexpand", shape.readMvExpand],
  ["mv-apply", shape.readMvApply],
  ["mvapply", shape.readMvApply],
  ["make-series", shape.readMakeSeries],
  ["evaluate", shape.readEvaluate],
  ["facet", shape.readFacet],
  ["getschema", shape.readPlain("getschema")],
  ["consume", shape.readPlain("consume")],
]);

/** Operators of the language that are refused by their name. */
const UNSUPPORTED: ReadonlySet<string> = new Set([
  "scan",
  "partition",
  "partition-by",
  "__partitionby",
  "fork",
  "find",
  "make-graph",
  "graph-match",
  "graph-shortest-paths",
  "graph-mark-components",
  "graph-to-table",
  "graph-where-nodes",
  "graph-where-edges",
  "externaldata",
  "external_data",
  "macro-expand",
  "assert-schema",
  "execute-and-cache",
  "__executeAndCache",
  "project-by-names",
]);

/** Operators that make rows themselves and so can begin a query. */
const SOURCES: ReadonlySet<string> = new Set([
  "print",
  "range",
  "union",
  "search",
  "find",
  "evaluate",
  "macro-expand",
]);

/** The names of the operators that can stand behind a pipe. */
export const OPERATOR_NAMES: readonly string[] = [...READERS.keys()].filter(
  (name) => name !== "print" && name !== "range",
);

/** Names that are a function or a value when a bracket follows: `range(1, 5, 1)`. */
const CALLED: ReadonlySet<string> = new Set(["range", "evaluate", "count", "externaldata", "external_data"]);

/** True when an operator begins here rather than a value: `count > 5` is a comparison, `top 5 by x` is none. */
export function isOperatorStart(parser: Parser, kind: "source" | "any"): boolean {
  const { cursor } = parser;
  const { kind: tokenKind, text } = cursor.peek();
  const isOperator = kind === "source" ? SOURCES.has(text) : isOperatorName(text);
  if (tokenKind !== "name" || !isOperator) return false;
  if (cursor.at("(", 1) && CALLED.has(text)) return false;
  if (cursor.at("in", 1) && cursor.at("(", 2)) return text === "search" || text === "find";
  const isAlone =
    cursor.peek(1).kind === "end" || ["|", ")", ",", ";"].some((symbol) => cursor.at(symbol, 1));
  return !(kind === "source" && isAlone) && !continuesValue(parser, 1);
}

function isOperatorName(text: string): boolean {
  return READERS.has(text) || UNSUPPORTED.has(text);
}

/** An operator and its operands, up to a pipe, a closing bracket or the end. */
export function readOperator(parser: Parser): Operator {
  const { cursor } = parser;
  const start = cursor.index;
  if (cursor.peek().kind !== "name") throw cursor.unexpected("an operator such as where or summarize");
  const reader = READERS.get(cursor.peek().text);
  if (reader === undefined || isHyphenated(parser)) return readOtherOperator(parser);
  const keyword = readName(cursor, "an operator");
  const parameters = readParameters(parser);
  const body = reader(parser);
  if (!isOperatorEnd(parser)) throw unexpectedBehind(parser, keyword.name);
  return { ...body, keyword, parameters, span: cursor.spanFrom(start) };
}

function readOtherOperator(parser: Parser): Operator {
  const { cursor } = parser;
  const start = cursor.index;
  const first = cursor.next();
  if (UNSUPPORTED.has(first.text)) {
    const keyword = { name: first.text, span: first.span };
    cursor.skipOperator();
    return { kind: "unsupported", keyword, parameters: [], span: cursor.spanFrom(start) };
  }
  while (isHyphenated(parser, 0)) for (let i = 0; i < 2; i++) cursor.next();
  let name = "";
  for (let i = start; i < cursor.index; i++) name += cursor.tokenAt(i).text;
  throw unknownOperator(parser, name, cursor.spanFrom(start));
}

/** True when a hyphen and a word touch the next token, or the one in front of it: `project-foo`. */
function isHyphenated({ cursor }: Parser, ahead = 1): boolean {
  const isJoined = cursor.isAdjacent(ahead) && cursor.isAdjacent(ahead + 1);
  return isJoined && cursor.at("-", ahead) && cursor.peek(ahead + 1).kind === "name";
}

function unknownOperator({ cursor }: Parser, name: string, span: Span): SyntaxFailure {
  const elsewhere = operatorElsewhere(name);
  if (elsewhere !== null) {
    const [advice, suggestion] = elsewhere;
    return cursor.failure(
      `There is no operator ${show(name)}. ${advice}`,
      span,
      suggestion,
      "UNKNOWN_OPERATOR",
    );
  }
  const meant = operatorMeant(name);
  const isCase = meant === name.toLowerCase();
  const advice =
    meant === null ? "" : isCase ? ` Operators are lower case: ${meant}.` : ` Did you mean ${meant}?`;
  return cursor.failure(`There is no operator ${show(name)}.${advice}`, span, meant, "UNKNOWN_OPERATOR");
}

function operatorMeant(name: string): string | null {
  const lower = name.toLowerCase();
  return isOperatorName(lower) ? lower : nearestName(name, [...OPERATOR_NAMES, ...UNSUPPORTED]);
}

const UPPER_CONNECTIVES: ReadonlySet<string> = new Set(["AND", "OR"]);

const CONDITIONS: ReadonlySet<string> = new Set(["where", "filter", "search", "the query"]);

/** What to throw for a token that cannot follow an operator, or the value that a query begins with. */
export function unexpectedBehind(
  parser: Parser,
  what: string,
  first: Expression | null = null,
): SyntaxFailure {
  const { cursor } = parser;
  const { kind, text, span } = cursor.peek();
  const previous = cursor.tokenAt(cursor.index - 1);
  if (previous.kind === "name" && previous.text === "not")
    return cursor.failure("not is a function: not(...).", previous.span, "not(...)");
  const isWord = kind === "name" || kind === "string" || kind === "long";
  if (previous.kind === "name" && previous.text === "NOT")
    return cursor.failure("not is a function, in lower case: not(...).", previous.span, "not(...)");
  if (kind === "name" && what === "the query" && first?.kind === "name" && UPPER_CONNECTIVES.has(text))
    return cursor.failure(
      `Keywords are lower case, and words to search for stand in quotes: ${JSON.stringify(first.name)} ${text.toLowerCase()} "...".`,
      span,
      text.toLowerCase(),
    );
  const elsewhere = wordElsewhere(text);
  if (elsewhere !== null) return cursor.failure(`Found ${show(text)}. ${elsewhere[0]}`, span, elsewhere[1]);
  if (kind === "name" && what === "summarize" && !isOperatorName(text)) {
    const group = text.toLowerCase() === "group";
    const keys = group ? "by" : `by ${text}`;
    return cursor.failure(
      `Found ${show(text)}. Keys stand behind by: summarize count() by column.`,
      span,
      keys,
    );
  }
  if (isWord && first?.kind === "name" && operatorMeant(first.name) !== null)
    return unknownOperator(parser, first.name, first.span);
  if (kind === "name" && text === "as" && (what === "project" || what === "extend" || what === "summarize"))
    return cursor.failure("A name stands in front of its value: name = value.", span, "name = value");
  if (kind === "name" && isOperatorName(text))
    return cursor.failure(`A \`|\` is missing in front of ${text}.`, span, `| ${text}`);
  if (isWord && first?.kind === "name") {
    const words = `"${first.name} ${text}"`;
    return cursor.failure(
      `Found ${show(text)} behind a name. To search for words, put them in quotes.`,
      span,
      words,
    );
  }
  if (text === ")") return cursor.failure("This ) closes nothing.", span);
  if (text === "||" && what === "the query")
    return cursor.failure("Steps have one | between them.", span, "|");
  const plain = cursor.unexpected(`\`|\` or the end after ${what}`);
  if (!isWord || !CONDITIONS.has(what) || plain.problem.suggestion !== null) return plain;
  return cursor.failure(
    `Found ${show(text)}; two conditions need \`and\` or \`or\` between them.`,
    span,
    "and",
  );
}
