import { call } from "../call.ts";
import { type Expression, literal } from "../expression.ts";
import type { Relation } from "../plan/relation.ts";
import { hasSqlNull, type ScalarType } from "../scalar-type.ts";
import type * as syntax from "../syntax/tree.ts";
import { callNamed, convert, isConvertible } from "./conversion.ts";
import type { ExpressionContext } from "./expression-context.ts";
import { refuse } from "./refusal.ts";
import { addWindow } from "./window-scope.ts";

export const WINDOW_FUNCTIONS = [
  "row_number",
  "prev",
  "next",
  "row_cumsum",
  "row_rank_dense",
  "row_rank_min",
] as const;
type WindowFunctionName = (typeof WINDOW_FUNCTIONS)[number];

export function isWindowFunction(name: string): name is WindowFunctionName {
  return WINDOW_FUNCTIONS.some((known) => known === name);
}

/** How far prev() and next() look. */
const OFFSET_MAX = 1_000_000;

/** A function of the rows around, in an order that the query must have given. */
export function bindWindowCall(expression: syntax.CallExpression, context: ExpressionContext): Expression {
  const { name, arguments: args, span } = expression;
  if (!isSerialized(context.relation))
    return refuse(
      "WRONG_TYPE",
      `${name.name}() needs rows in an order: put sort, or serialize, before it.`,
      span,
    );
  if (!context.takesWindows)
    return refuse(
      "WRONG_TYPE",
      `${name.name}() stands in extend, project, where and sort: name it first, as in extend x = ${name.name}(...).`,
      span,
    );
  const [first, second, third] = args.map((argument) => argument.value);
  switch (name.name) {
    case "row_number": {
      const start = first === undefined ? literal("long", 1n) : context.constant(first);
      const restart = second === undefined ? null : context.predicate(second);
      const number = addWindow(context, {
        function: "rowNumber",
        operands: [],
        offset: 0,
        restart,
        type: "long",
      });
      return start.value === 1n
        ? number
        : callNamed("add", [number, callNamed("subtract", [start, literal("long", 1n)], span)], span);
    }
    case "prev":
    case "next":
      return bindShift(name.name === "prev" ? 1 : -1, expression, context);
    case "row_cumsum": {
      const operand = context.scalar(required(first, expression));
      const value =
        operand.type === "int"
          ? convert(operand, "long")
          : operand.type === "dynamic"
            ? convert(operand, "real")
            : operand;
      if (value.type !== "long" && value.type !== "real" && value.type !== "timespan")
        return refuse("WRONG_TYPE", `row_cumsum() adds numbers, not values of type ${value.type}.`, span);
      const restart = second === undefined ? null : context.predicate(second);
      return addWindow(context, {
        function: "cumulate",
        operands: [value],
        offset: 0,
        restart,
        type: value.type,
      });
    }
    default: {
      const value = context.scalar(required(first, expression));
      const restart = second === undefined ? null : context.predicate(second);
      if (third !== undefined) return refuse("WRONG_ARGUMENTS", `${name.name}() takes two arguments.`, span);
      return bindRank(name.name === "row_rank_dense" ? "denseRank" : "rank", value, restart, context);
    }
  }
}

function required(
  argument: syntax.Expression | undefined,
  { name, span }: syntax.CallExpression,
): syntax.Expression {
  return argument ?? refuse("WRONG_ARGUMENTS", `${name.name}() needs a value.`, span);
}

function bindShift(sign: 1 | -1, expression: syntax.CallExpression, context: ExpressionContext): Expression {
  const [value, distance, fallback] = expression.arguments.map((argument) => argument.value);
  const operand = context.scalar(required(value, expression));
  const rows = distance === undefined ? 1n : context.constant(distance).value;
  if ((typeof rows !== "bigint" && typeof rows !== "number") || Number(rows) < 0 || Number(rows) > OFFSET_MAX)
    return refuse(
      "WRONG_ARGUMENTS",
      `${expression.name.name}() looks back or ahead a constant number of rows.`,
      expression.span,
    );
  const operands =
    fallback === undefined ? [operand] : [operand, fallbackOf(fallback, operand.type, context)];
  return addWindow(context, {
    function: "shift",
    operands,
    offset: sign * Number(rows),
    restart: null,
    type: operand.type,
  });
}

/** What stands where there is no such row. */
function fallbackOf(expression: syntax.Expression, type: ScalarType, context: ExpressionContext): Expression {
  const constant = context.constant(expression);
  if (isConvertible(constant.type, type)) return convert(constant, type);
  return refuse("WRONG_TYPE", `A ${type} belongs here, not a ${constant.type}.`, expression.span);
}

/** A rank counts the rows at which the value changes; the first row of each part is such a row. */
function bindRank(
  kind: "rank" | "denseRank",
  value: Expression,
  restart: Expression | null,
  context: ExpressionContext,
): Expression {
  const number = addWindow(context, {
    function: "rowNumber",
    operands: [],
    offset: 0,
    restart,
    type: "long",
  });
  const before = addWindow(context, {
    function: "shift",
    operands: [value],
    offset: 1,
    restart: null,
    type: value.type,
  });
  const isFirst = call("equal", number, literal("long", 1n));
  const differs =
    value.type === "dynamic"
      ? call("notEqual", convert(value, "string"), convert(before, "string"))
      : call("notEqual", value, before);
  const changes = call("or", isFirst, hasSqlNull(value.type) ? notNullOr(differs) : differs);
  const operands = kind === "rank" ? [changes, number] : [changes];
  return addWindow(context, { function: kind, operands, offset: 0, restart, type: "long" });
}

/** Two nulls are the same value here. */
function notNullOr(condition: Expression): Expression {
  return call("equal", condition, literal("bool", true));
}

/** True when the rows have an order that the query gave them. */
function isSerialized(relation: Relation): boolean {
  switch (relation.kind) {
    case "sort":
    case "window":
    case "values":
    case "series":
      return true;
    case "filter":
    case "extend":
    case "project":
    case "limit":
    case "expand":
      return isSerialized(relation.input);
    default:
      return false;
  }
}
