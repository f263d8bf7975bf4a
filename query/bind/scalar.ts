import { allOf, anyOf } from "../call.ts";
import { attribute, type Expression, isLoose, type Literal, literal } from "../expression.ts";
import { BARE_NAMES_MAX_COUNT } from "../limits.ts";
import type * as syntax from "../syntax/tree.ts";
import { TIME_MAX_NS, TIME_MIN_NS } from "../time-range.ts";
import { unreachable } from "../unreachable.ts";
import { bindCall } from "./calls.ts";
import { callNamed, nullLiteral } from "./conversion.ts";
import type { BareName } from "./environment.ts";
import type { ExpressionContext } from "./expression-context.ts";
import { bindFieldSearch } from "./field-search.ts";
import { foldCall } from "./fold.ts";
import { checkGrouped } from "./grouped-values.ts";
import { bindMembership } from "./membership.ts";
import { bindBinary, bindComparison } from "./operators.ts";
import { refuse } from "./refusal.ts";

/** A scalar expression with its names looked up and its types known. Throws a refusal for one that means nothing. */
export function bindScalar(expression: syntax.Expression, context: ExpressionContext): Expression {
  context.environment.step(expression.span);
  const bound = bindKind(expression, context);
  checkGrouped(bound, expression, context);
  return bound;
}

function bindKind(expression: syntax.Expression, context: ExpressionContext): Expression {
  switch (expression.kind) {
    case "name":
      return bindName(expression, context);
    case "literal":
      return bindLiteral(expression);
    case "dynamic":
      return literal("dynamic", expression.json === "null" ? null : expression.json);
    case "unary":
      return bindUnary(expression, context);
    case "binary":
      return bindBinary(expression, context);
    case "list":
      return bindMembership(expression, context);
    case "between":
      return bindBetween(expression, context);
    case "call":
      return bindCall(expression, context);
    case "member":
    case "index":
      return bindPath(expression, context);
    case "fieldSearch":
      return bindFieldSearch(expression, context);
    case "pipeline":
    case "datatable":
    case "externaldata":
      return refuse(
        "NOT_TABULAR",
        "A table stands where a value belongs; toscalar() makes a value of one.",
        expression.span,
      );
    case "star":
      return refuse(
        "SYNTAX",
        "`*` stands for columns only where an operator or an aggregate takes them.",
        expression.span,
      );
    case "type":
      return refuse("SYNTAX", "A type stands where a value belongs.", expression.span);
    default:
      return unreachable(expression);
  }
}

/** Names in kept functions are no names of the query. */
function noteBareName({ environment }: ExpressionContext, bareName: BareName): void {
  const { bareNames, calling } = environment.compilation;
  if (calling.length === 0 && bareNames.length < BARE_NAMES_MAX_COUNT) bareNames.push(bareName);
}

function bindName({ name, span }: syntax.NameExpression, context: ExpressionContext): Expression {
  const column = context.findOwnColumn(name);
  if (column !== null) return column;
  const named = context.environment.lookup(name);
  // What somebody keeps as a function of arguments takes no attribute away from everybody.
  const isCalled =
    named?.kind === "function" && named.isKept === true && named.declaration.parameters.length > 0;
  if (named === undefined || isCalled) {
    if (name.toLowerCase() === "null")
      refuse("UNKNOWN_NAME", "Nothing is equal to null: ask isnull(x), isnotnull(x) or isempty(x).", span);
    const found = context.resolveColumn(name, span);
    if (found.kind === "attribute") noteBareName(context, { name, span, isValue: false });
    return found;
  }
  if (named.kind === "scalar") {
    if (named.rowsOf !== null && !context.hasRowsOf(named.rowsOf))
      return refuse(
        "NOT_A_CONSTANT",
        `${name} is a value of a row, which a table within a function cannot be made with: join the table, or look it up.`,
        span,
      );
    context.environment.mention(named.value, span);
    return named.value;
  }
  // A function without parameters may be called without brackets.
  if (named.kind === "function" && named.declaration.parameters.length === 0)
    return context.scalar({ kind: "call", name: { name, span }, arguments: [], span });
  return refuse("NOT_TABULAR", `${name} is a ${named.kind}; a value belongs here.`, span);
}

function bindLiteral({ type, value, span }: syntax.LiteralExpression): Literal {
  if (value === null) return nullLiteral(type);
  switch (type) {
    case "bool":
      return literal("bool", value === true);
    case "int":
      return literal("int", Number(value));
    case "datetime":
      if (typeof value === "bigint") return literal("datetime", storableTime(value, span));
      break;
    case "long":
    case "timespan":
      if (typeof value === "bigint") return literal(type, value);
      break;
    case "real":
    case "decimal":
      return literal(type, Number(value));
    case "string":
      return literal("string", String(value));
    case "guid":
      return literal("guid", String(value).toLowerCase());
  }
  return refuse("SYNTAX", `This is no ${type}.`, span);
}

/** A time that the store can hold; it refuses others rather than to take another one. */
function storableTime(nanoseconds: bigint, span: syntax.Expression["span"]): bigint {
  if (nanoseconds >= TIME_MIN_NS && nanoseconds <= TIME_MAX_NS) return nanoseconds;
  return refuse("WRONG_TYPE", "Times go from 1900-01-01 to 2262-04-11 here.", span);
}

function bindUnary(
  { operator, operand, span }: syntax.UnaryExpression,
  context: ExpressionContext,
): Expression {
  const bound = context.scalar(operand);
  if (operator === "+") return bound;
  const value = isLoose(bound) ? callNamed("toreal", [bound], span) : bound;
  return foldCall(callNamed("negate", [value], span));
}

function bindBetween(expression: syntax.BetweenExpression, context: ExpressionContext): Expression {
  const { left, low, high, isNegated, span } = expression;
  const value = context.scalar(left);
  const from = context.scalar(low);
  const to = context.scalar(high);
  // A length of time after the two dots counts from the one before them.
  const end =
    to.type === "timespan" && from.type === "datetime" ? foldCall(callNamed("add", [from, to], span)) : to;
  const lower = bindComparison(isNegated ? "<" : ">=", value, from, span);
  const upper = bindComparison(isNegated ? ">" : "<=", value, end, span);
  return isNegated ? anyOf([lower, upper]) : allOf([lower, upper]);
}

/** A name or a position that is known: steps behind one another are followed in one go. */
function isStep({ kind, type }: Expression): boolean {
  return kind === "literal" && (type === "string" || type === "long");
}

/** `a.b`, `a["b"]`, `a[0]`: into the attributes as long as names go, then into the JSON of a value. */
function bindPath(
  expression: syntax.MemberExpression | syntax.IndexExpression,
  context: ExpressionContext,
): Expression {
  const base = context.scalar(expression.base);
  const key =
    expression.kind === "member"
      ? literal("string", expression.member.name)
      : context.scalar(expression.index);
  if (base.type !== "dynamic")
    return refuse("WRONG_TYPE", `Only a dynamic value has parts; this is a ${base.type}.`, expression.span);
  if (key.kind === "literal" && key.type === "string" && key.value !== null) {
    if (base.kind === "column" && base.isLoose && base.name === "attrs") return attribute("attrs", key.value);
    if (base.kind === "attribute" && expression.kind === "member")
      return attribute(base.column, ...base.path, key.value);
  }
  const isPath = base.kind === "call" && base.name === "element" && isStep(key);
  const steps = isPath && base.operands.slice(1).every(isStep) ? base.operands : [base];
  return callNamed("element", [...steps, key], expression.span);
}
