import { allOf, anyOf, call } from "../call.ts";
import { type Expression, isLoose, literal } from "../expression.ts";
import { scalarFunction } from "../functions/registry.ts";
import { areComparable, isNumeric, type ScalarType } from "../scalar-type.ts";
import type { Span } from "../span.ts";
import type * as syntax from "../syntax/tree.ts";
import { STRING_OPERATORS } from "../syntax/tree.ts";
import { checkArguments, convert, resolveCall } from "./conversion.ts";
import type { Compilation } from "./environment.ts";
import type { ExpressionContext } from "./expression-context.ts";
import { foldCall } from "./fold.ts";
import { checkOperands, checkTimeText } from "./operand-advice.ts";
import { refuse } from "./refusal.ts";
import { searchableColumns } from "./searchable-columns.ts";

const ARITHMETIC = { "+": "add", "-": "subtract", "*": "multiply", "/": "divide", "%": "modulo" } as const;

const EXACT_ARITHMETIC = { "+": "exactAdd", "-": "exactSubtract", "%": "exactModulo" } as const;

const COMPARISONS = {
  "==": "equal",
  "!=": "notEqual",
  "<": "less",
  "<=": "lessOrEqual",
  ">": "greater",
  ">=": "greaterOrEqual",
} as const;
type ComparisonOperator = keyof typeof COMPARISONS;

/** The functions of the operators on texts; a `!` before one is the negation. */
const STRING_FUNCTIONS: ReadonlyMap<string, string> = new Map([
  ["has", "has"],
  ["has_cs", "hasCs"],
  ["hasprefix", "hasprefix"],
  ["hasprefix_cs", "hasprefixCs"],
  ["hassuffix", "hassuffix"],
  ["hassuffix_cs", "hassuffixCs"],
  ["contains", "contains"],
  ["contains_cs", "containsCs"],
  ["startswith", "startswith"],
  ["startswith_cs", "startswithCs"],
  ["endswith", "endswith"],
  ["endswith_cs", "endswithCs"],
  ["matches regex", "matchesRegex"],
  ["like", "like"],
  ["like_cs", "likeCs"],
  ["=~", "equalIgnoreCase"],
]);

const NEGATED: ReadonlyMap<syntax.BinaryOperator, syntax.BinaryOperator> = new Map([
  ["!~", "=~"],
  ["notlike", "like"],
  ["notlike_cs", "like_cs"],
]);

export function bindBinary(expression: syntax.BinaryExpression, context: ExpressionContext): Expression {
  const { operator } = expression;
  if (operator === "and" || operator === "or") return bindConnective(expression, operator, context);
  if (expression.left.kind === "star") return bindAnyColumn(expression, context);
  const left = context.scalar(expression.left);
  const right = context.scalar(expression.right);
  if (expression.right.kind === "name" && left.kind === "column" && right.kind === "attribute")
    valuesAt(context.environment.compilation, expression.right.span);
  return bindOperator(operator, left, right, expression.span);
}

/** What a column is compared with is rather a text without its quotes than an attribute. */
function valuesAt({ bareNames }: Compilation, { start }: Span): void {
  for (const [i, bareName] of bareNames.entries())
    if (bareName.span.start === start) bareNames[i] = { ...bareName, isValue: true };
}

/** Long chains of one connective become one call, so that they stay shallow. */
function bindConnective(
  expression: syntax.BinaryExpression,
  operator: "and" | "or",
  context: ExpressionContext,
): Expression {
  const operands: syntax.Expression[] = [];
  let rest: syntax.Expression = expression;
  while (rest.kind === "binary" && rest.operator === operator) {
    operands.push(rest.right);
    rest = rest.left;
  }
  operands.push(rest);
  const bound = operands.reverse().map((operand) => context.predicate(operand));
  return operator === "and" ? allOf(bound) : anyOf(bound);
}

/** `* has "x"`: some column. */
function bindAnyColumn(
  { operator, right, span }: syntax.BinaryExpression,
  context: ExpressionContext,
): Expression {
  const value = context.scalar(right);
  const columns = searchableColumns(context.relation, span);
  const positive = operator === "!=" ? "==" : positiveOf(operator);
  const found = anyOf(columns.map((column) => bindOperator(positive, column, value, span)));
  return positive === operator ? found : call("negation", found);
}

function bindOperator(
  operator: syntax.BinaryOperator,
  left: Expression,
  right: Expression,
  span: Span,
): Expression {
  if (operator in ARITHMETIC) return bindArithmetic(operator, left, right, span);
  if (isComparison(operator)) return bindComparison(operator, left, right, span);
  const positive = positiveOf(operator);
  const name = STRING_FUNCTIONS.get(positive);
  if (name === undefined) throw new TypeError(`no operator ${operator}`);
  const pattern = textOf(right, operator, span);
  if (name === "matchesRegex" && pattern.kind !== "literal")
    return refuse("NOT_A_CONSTANT", "matches regex takes a constant pattern.", span);
  const matched = call(name, textOf(left, operator, span), pattern);
  checkArguments(matched, span);
  return positive === operator ? matched : call("negation", matched);
}

/** The operator that is true where this one is false; the operator itself if it is no negation. */
function positiveOf(operator: syntax.BinaryOperator): syntax.BinaryOperator {
  return NEGATED.get(operator) ?? STRING_OPERATORS.find((known) => `!${known}` === operator) ?? operator;
}

function isComparison(operator: syntax.BinaryOperator): operator is ComparisonOperator {
  return Object.hasOwn(COMPARISONS, operator);
}

function bindArithmetic(operator: string, left: Expression, right: Expression, span: Span): Expression {
  const name = Object.entries(ARITHMETIC).find(([symbol]) => symbol === operator)?.[1];
  const definition = name === undefined ? undefined : scalarFunction(name);
  if (name === undefined || definition === undefined) throw new TypeError(`no operator ${operator}`);
  const exact = exactArithmetic(operator, left, right);
  if (exact !== null) return exact;
  const operands = [asNumber(left, right), asNumber(right, left)];
  if (operands.some(({ type }) => type === "dynamic"))
    return refuse(
      "WRONG_TYPE",
      `${operator} does not take a dynamic value; convert it first: tolong(), todouble(), todatetime() ...`,
      span,
    );
  checkOperands(operator, operands, span);
  return foldCall(resolveCall(name, definition, operands, span));
}

/** Attributes and whole numbers, whose digits count beyond those of a real; null for other operands and operators. */
function exactArithmetic(operator: string, left: Expression, right: Expression): Expression | null {
  const name = Object.entries(EXACT_ARITHMETIC).find(([symbol]) => symbol === operator)?.[1];
  const isWhole = ({ type }: Expression) => type === "int" || type === "long";
  const isExact = (isLoose(left) && (isLoose(right) || isWhole(right))) || (isWhole(left) && isLoose(right));
  return name !== undefined && isExact ? call(name, left, right) : null;
}

/** An attribute in a computation is the number, the time or the length of time that the other side asks for. */
function asNumber(operand: Expression, other: Expression): Expression {
  if (!isLoose(operand)) return operand;
  if (other.type === "datetime") return convert(operand, "datetime");
  if (other.type === "timespan") return convert(operand, "datetime");
  return convert(operand, "real");
}

/** A comparison; a dynamic value is taken as what it is compared with. */
export function bindComparison(
  operator: ComparisonOperator,
  left: Expression,
  right: Expression,
  span: Span,
): Expression {
  const name = COMPARISONS[operator];
  const [first, second] = comparable(operator, left, right, span);
  return call(name, first, second);
}

function comparable(
  operator: ComparisonOperator,
  left: Expression,
  right: Expression,
  span: Span,
): [Expression, Expression] {
  if (left.type === "dynamic" && right.type === "dynamic") {
    const isOrder = operator !== "==" && operator !== "!=";
    if (!(isLoose(left) || isLoose(right)))
      return refuse("WRONG_TYPE", `${operator} does not take dynamic values; convert them first.`, span);
    return isOrder ? [left, right] : [convert(left, "string"), convert(right, "string")];
  }
  const isDynamic = left.type === "dynamic" || right.type === "dynamic";
  if (isDynamic && (isWideInteger(left) || isWideInteger(right))) return [left, right];
  if (left.type === "dynamic") return [convert(left, comparedType(right.type)), widened(right)];
  if (right.type === "dynamic") return [widened(left), convert(right, comparedType(left.type))];
  if (areComparable(left.type, right.type)) return [left, right];
  const [timedLeft, timedRight] = [asTime(left, right.type), asTime(right, left.type)];
  if (timedLeft !== left || timedRight !== right) return [timedLeft, timedRight];
  if (left.type === "datetime") checkTimeText(right, span);
  if (right.type === "datetime") checkTimeText(left, span);
  const converted = convertText(left, right) ?? convertText(right, left)?.reverse();
  if (converted?.[0] !== undefined && converted[1] !== undefined) return [converted[0], converted[1]];
  const types = [left.type, right.type];
  if (types.includes("datetime") && types.includes("timespan"))
    return refuse("WRONG_TYPE", "A time is compared with a time: ago(1h) is that of an hour ago.", span);
  if (types.includes("datetime"))
    return refuse(
      "WRONG_TYPE",
      `A ${left.type} and a ${right.type} cannot be compared: write a time as ago(1h) or datetime(2026-01-31).`,
      span,
    );
  const advice = types.includes("string") ? "; tostring() or tolong() makes one of the other." : ".";
  return refuse("WRONG_TYPE", `A ${left.type} and a ${right.type} cannot be compared${advice}`, span);
}

/** A sum or difference of attributes that is compared with a time, or a length of time, is one of those. */
function asTime(value: Expression, other: ScalarType): Expression {
  if (value.kind !== "call") return value;
  const name = TIMES.get(value.name);
  if (name === undefined) return value;
  const [left, right] = value.operands.map(unconverted);
  if (left === undefined || right === undefined || (other !== "datetime" && other !== "timespan"))
    return value;
  if (!isLoose(left) || !isLoose(right)) return value;
  return call(
    name,
    convert(left, "datetime"),
    convert(right, other === "datetime" ? "timespan" : "datetime"),
  );
}

/** What a sum or difference is called when it is one of times. */
const TIMES: ReadonlyMap<string, string> = new Map([
  ["exactAdd", "add"],
  ["exactSubtract", "subtract"],
]);

/** The operand of the conversion to a number that an attribute in a computation got. */
function unconverted(expression: Expression): Expression {
  const [operand] = expression.kind === "call" && expression.name === "toreal" ? expression.operands : [];
  return operand ?? expression;
}

/** True for whole numbers that need not be reals: all but constants up to 2^53, in comparisons with which nothing is lost. */
export function isWideInteger(value: Expression): boolean {
  if (value.type !== "long") return false;
  return value.kind !== "literal" || (value.value !== null && !isSafe(value.value));
}

function isSafe(value: bigint): boolean {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) && value >= BigInt(Number.MIN_SAFE_INTEGER);
}

/** A dynamic number is compared as a real number, but with whole numbers beyond 2^53. */
function comparedType(type: ScalarType): ScalarType {
  return isNumeric(type) ? "real" : type;
}

function widened(expression: Expression): Expression {
  return expression.type === "decimal" ? convert(expression, "real") : expression;
}

/** A constant text is compared with a time, a length of time or a guid as one; with a truth value a number is one. */
function convertText(value: Expression, other: Expression): Expression[] | null {
  const isText = value.kind === "literal" && value.type === "string";
  if (isText && (other.type === "datetime" || other.type === "timespan" || other.type === "guid"))
    return [convert(value, other.type), other];
  if (value.type === "bool" && isNumeric(other.type)) return [convert(value, "long"), other];
  return null;
}

/** The text of an operand of a string operator. */
export function textOf(operand: Expression, operator: string, span: Span): Expression {
  if (operand.type === "string") return operand;
  if (operand.type === "dynamic") return convert(operand, "string");
  if (operand.kind === "literal" && operand.value === null) return literal("string", "");
  if (operand.kind === "literal" && operand.type === "long") return literal("string", String(operand.value));
  return refuse(
    "WRONG_TYPE",
    `${operator} takes a string, not a ${operand.type}; tostring() makes one.`,
    span,
  );
}
