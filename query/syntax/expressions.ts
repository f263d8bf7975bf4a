import type { Parser } from "./grammar.ts";
import { readRun } from "./names.ts";
import { readOperand } from "./operands.ts";
import type { Token } from "./token.ts";
import { type BinaryOperator, type Expression, type ListExpression, STRING_OPERATORS } from "./tree.ts";

const EQUALITY: ReadonlyMap<string, BinaryOperator> = new Map([
  ["==", "=="],
  ["!=", "!="],
  ["<>", "!="],
]);
const RELATION: ReadonlyMap<string, BinaryOperator> = new Map([
  ["<", "<"],
  ["<=", "<="],
  [">", ">"],
  [">=", ">="],
]);
const ADDITION: ReadonlyMap<string, BinaryOperator> = new Map([
  ["+", "+"],
  ["-", "-"],
]);
const MULTIPLICATION: ReadonlyMap<string, BinaryOperator> = new Map([
  ["*", "*"],
  ["/", "/"],
  ["%", "%"],
]);
const TEXT_OPERATORS: ReadonlyMap<string, BinaryOperator> = new Map<string, BinaryOperator>([
  ...STRING_OPERATORS.map((name): [string, BinaryOperator] => [name, name]),
  ["=~", "=~"],
  ["!~", "!~"],
  ["notcontains", "!contains"],
  ["containscs", "contains_cs"],
  ["notcontainscs", "!contains_cs"],
  ["likecs", "like_cs"],
  ["notlikecs", "notlike_cs"],
]);
const LIST_OPERATORS: ReadonlyMap<string, ListExpression["operator"]> = new Map([
  ["in", "in"],
  ["!in", "!in"],
  ["in~", "in~"],
  ["!in~", "!in~"],
  ["has_any", "has_any"],
  ["has_all", "has_all"],
]);

/** A value; the operators from loose to tight: or, and, equality, order, sum, product, those of strings. */
export function readExpression(parser: Parser): Expression {
  return parser.cursor.nested(() => readUnnested(parser));
}

/** The same for a caller that counts the nesting itself. */
export function readUnnested(parser: Parser): Expression {
  return readLogical(parser, "or");
}

/** `and` and `or` do not care how they are grouped: long chains become shallow trees. */
function readLogical(parser: Parser, operator: "and" | "or"): Expression {
  const { cursor } = parser;
  const operands: Operand[] = [];
  let operatorToken: Token | null = null;
  do {
    const start = cursor.index;
    const value = operator === "or" ? readLogical(parser, "and") : readEquality(parser);
    operands.push({ value, start, end: cursor.index, operatorToken });
    operatorToken = cursor.accept(operator);
  } while (operatorToken !== null);
  return balanced(parser, operator, operands, 0, operands.length);
}

interface Operand {
  readonly value: Expression;
  /** Its tokens, brackets around it included; the end is exclusive. */
  readonly start: number;
  readonly end: number;
  /** Between this operand and the one in front of it. */
  readonly operatorToken: Token | null;
}

function balanced(
  parser: Parser,
  operator: "and" | "or",
  operands: readonly Operand[],
  from: number,
  to: number,
): Expression {
  const { cursor } = parser;
  const middle = (from + to) >> 1;
  const [first, split, last] = [operands[from], operands[middle], operands[to - 1]];
  if (first === undefined || split === undefined || last === undefined) throw cursor.unexpected("a value");
  if (to - from === 1) return first.value;
  const left = balanced(parser, operator, operands, from, middle);
  const right = balanced(parser, operator, operands, middle, to);
  const span = { start: cursor.tokenAt(first.start).span.start, end: cursor.tokenAt(last.end - 1).span.end };
  const operatorSpan = split.operatorToken?.span ?? span;
  return cursor.made({ kind: "binary", operator, operatorSpan, left, right, span }, left, right);
}

function readEquality(parser: Parser): Expression {
  const { cursor } = parser;
  const start = cursor.index;
  const left = readRelation(parser);
  const token = cursor.peek();
  const listOperator =
    token.kind === "name" || token.kind === "symbol" ? LIST_OPERATORS.get(token.text) : undefined;
  // `on ts in range(a, b, step)` belongs to make-series.
  if (listOperator !== undefined && !cursor.at("range", 1)) {
    cursor.next();
    const items = readItems(parser, token);
    return cursor.made(
      { kind: "list", operator: listOperator, left, items, span: cursor.spanFrom(start) },
      left,
      ...items,
    );
  }
  if (cursor.at("between") || cursor.at("!between")) return readBetween(parser, left, start);
  return readBinary(parser, left, start, EQUALITY, readRelation);
}

function readItems(parser: Parser, operator: Token): Expression[] {
  const { cursor } = parser;
  const opening = cursor.expect(
    "(",
    `and a list of values after ${operator.text}: ${operator.text} ("a", "b")`,
  );
  const items: Expression[] = [];
  do items.push(items.length === 0 ? parser.pipeline() : parser.expression());
  while (cursor.accept(",") !== null);
  cursor.close(opening, "`,` or `)` after a value of the list");
  return items;
}

function readBetween(parser: Parser, left: Expression, start: number): Expression {
  const { cursor } = parser;
  const isNegated = cursor.next().text === "!between";
  const opening = cursor.expect("(", "and two bounds after between: between (1 .. 5)");
  const low = parser.expression();
  cursor.expect("..", "between the bounds: between (1 .. 5)");
  const high = parser.expression();
  cursor.close(opening, "`)` after the upper bound");
  return cursor.made(
    { kind: "between", isNegated, left, low, high, span: cursor.spanFrom(start) },
    left,
    low,
    high,
  );
}

function readRelation(parser: Parser): Expression {
  const start = parser.cursor.index;
  return readBinary(parser, readSum(parser), start, RELATION, readSum);
}

/** At most one operator: comparisons do not chain. */
function readBinary(
  parser: Parser,
  left: Expression,
  start: number,
  operators: ReadonlyMap<string, BinaryOperator>,
  readRight: (parser: Parser) => Expression,
): Expression {
  const { cursor } = parser;
  const operator = operatorAt(cursor.peek(), operators);
  if (operator === undefined) return left;
  const operatorSpan = cursor.next().span;
  const right = readRight(parser);
  return cursor.made(
    { kind: "binary", operator, operatorSpan, left, right, span: cursor.spanFrom(start) },
    left,
    right,
  );
}

function readSum(parser: Parser): Expression {
  return readChain(parser, ADDITION, readProduct);
}

function readProduct(parser: Parser): Expression {
  return readChain(parser, MULTIPLICATION, readTextOperation);
}

function readChain(
  parser: Parser,
  operators: ReadonlyMap<string, BinaryOperator>,
  readPart: (parser: Parser) => Expression,
): Expression {
  const start = parser.cursor.index;
  let left = readPart(parser);
  for (;;) {
    const longer = readBinary(parser, left, start, operators, readPart);
    if (longer === left) return left;
    left = longer;
  }
}

/** At most one operator, like a comparison. */
function readTextOperation(parser: Parser): Expression {
  const { cursor } = parser;
  const start = cursor.index;
  const left = readOperand(parser);
  if (cursor.accept(":") !== null) return readFieldSearch(parser, left, start);
  if (!cursor.at("matches") || !cursor.at("regex", 1))
    return readBinary(parser, left, start, TEXT_OPERATORS, readOperand);
  const operatorStart = cursor.index;
  cursor.next();
  cursor.next();
  const operatorSpan = cursor.spanFrom(operatorStart);
  const right = readOperand(parser);
  const span = cursor.spanFrom(start);
  return cursor.made(
    { kind: "binary", operator: "matches regex", operatorSpan, left, right, span },
    left,
    right,
  );
}

/** Behind `field:`. A bare word, with what touches it, is a text: `level:error`, `host:web-1`, `path:/api*`. */
function readFieldSearch(parser: Parser, left: Expression, start: number): Expression {
  const { cursor } = parser;
  const valueStart = cursor.index;
  const length = bareWordLength(parser);
  if (length === 0) {
    const right = readOperand(parser);
    return cursor.made({ kind: "fieldSearch", left, right, span: cursor.spanFrom(start) }, left, right);
  }
  const { text } = readRun(cursor, length);
  const value = cursor.spanFrom(valueStart);
  const right =
    text === "*" ? text : cursor.made({ kind: "literal", type: "string", value: text, span: value });
  return cursor.made({ kind: "fieldSearch", left, right, span: cursor.spanFrom(start) }, left);
}

/** How many tokens make the bare word behind a colon; zero when an operand stands there, such as a number or call. */
function bareWordLength({ cursor }: Parser): number {
  let length = 0;
  let isWord = false;
  for (; length === 0 || cursor.isAdjacent(length); length++) {
    const { kind, text } = cursor.peek(length);
    const isJoint = kind === "symbol" && BARE_WORD_JOINTS.has(text);
    if (!isJoint && kind !== "name" && kind !== "long" && kind !== "real" && kind !== "timespan") break;
    if (kind === "name" || text === "*" || length > 0) isWord = true;
  }
  const isNegative = length === 2 && cursor.at("-") && cursor.peek(1).kind !== "name";
  const isTruth = length === 1 && (cursor.at("true") || cursor.at("false"));
  if (!isWord || isNegative || isTruth) return 0;
  const endsInCall = cursor.at("(", length) && cursor.isAdjacent(length);
  if (!endsInCall) return length;
  return length > 1 && cursor.peek().kind === "name" ? 1 : 0;
}

const BARE_WORD_JOINTS: ReadonlySet<string> = new Set(["*", "-", ".", "/", "@", ":", "+", "%", "?", "&"]);

function operatorAt(
  { kind, text }: Token,
  operators: ReadonlyMap<string, BinaryOperator>,
): BinaryOperator | undefined {
  return kind === "name" || kind === "symbol" ? operators.get(text) : undefined;
}

/** True when this word or symbol goes on with the value in front of it. */
export function continuesValue(parser: Parser, ahead: number): boolean {
  const { kind, text } = parser.cursor.peek(ahead);
  if (kind !== "name" && kind !== "symbol") return false;
  if (text === "-" || text === "*") return false;
  if (text === "matches") return parser.cursor.at("regex", ahead + 1);
  return (
    [EQUALITY, RELATION, ADDITION, MULTIPLICATION, TEXT_OPERATORS, LIST_OPERATORS].some((map) =>
      map.has(text),
    ) || ["and", "or", "between", "!between", ".", ":", ",", "="].includes(text)
  );
}
