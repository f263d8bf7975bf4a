import { call } from "../call.ts";
import { type Expression, literal } from "../expression.ts";
import { FunctionArgumentError } from "../functions/definition.ts";
import { aggregateFunction, callableFunctions, isCallable, scalarFunction } from "../functions/registry.ts";
import { trialWriter } from "../functions/trial.ts";
import { keep, limit } from "../plan/build.ts";
import type { Span } from "../span.ts";
import type * as syntax from "../syntax/tree.ts";
import { bindAggregateCall } from "./aggregates.ts";
import { convert, resolveCall } from "./conversion.ts";
import type { ExpressionContext } from "./expression-context.ts";
import { foldCall } from "./fold.ts";
import { bindFunctionCall } from "./functions.ts";
import { nearestName } from "./nearest-name.ts";
import { refuse } from "./refusal.ts";
import { typeNamed } from "./types.ts";
import { unsupportedFunction } from "./unsupported.ts";
import { bindWindowCall, isWindowFunction } from "./windows.ts";

type Special = (expression: syntax.CallExpression, context: ExpressionContext) => Expression;

/** Functions that are more than a function of their operands' values. */
const SPECIAL: ReadonlyMap<string, Special> = new Map<string, Special>([
  ["now", bindNow],
  ["ago", bindAgo],
  [
    "not",
    (expression, context) => call("negation", truth(onlyOperand(expression, context), expression.span)),
  ],
  ["toscalar", bindToScalar],
  ["ingestion_time", (expression, context) => context.resolveColumn("receivedAt", expression.span)],
  ["column_ifexists", bindColumnIfExists],
  ["columnifexists", bindColumnIfExists],
  ["pack_all", bindPackAll],
  ["extract", withResultType(3)],
  ["extract_json", withResultType(2)],
  ["extractjson", withResultType(2)],
  [
    "materialize",
    (expression) =>
      refuse("NOT_TABULAR", "materialize() makes a table; a value belongs here.", expression.span),
  ],
]);

export function isSpecialFunction(name: string): boolean {
  return SPECIAL.has(name);
}

export function bindCall(expression: syntax.CallExpression, context: ExpressionContext): Expression {
  const { name, arguments: args, span } = expression;
  const declared = context.environment.lookup(name.name);
  if (declared?.kind === "function") {
    const value = bindFunctionCall(declared, expression, context);
    if (value.kind === "scalar") return value.value;
    return refuse("NOT_TABULAR", `${name.name}() makes a table; a value belongs here.`, span);
  }
  const special = SPECIAL.get(name.name);
  if (special !== undefined) return special(expression, context);
  if (isWindowFunction(name.name)) return bindWindowCall(expression, context);
  if (context.aggregates !== null && aggregateFunction(name.name) !== undefined && !preferScalar(name.name))
    return bindAggregateCall(expression, context);
  const definition = isCallable(name.name) ? scalarFunction(name.name) : undefined;
  if (definition === undefined) return refuseFunction(name, context);
  const operands = args.map((argument) => context.scalar(argument.value));
  const resolved = resolveCall(name.name, definition, operands, span);
  checkArguments(resolved, expression);
  return foldCall(resolved);
}

/** Some arguments are found to be impossible only as the call is written. */
function checkArguments(resolved: Expression, { arguments: args, span }: syntax.CallExpression): void {
  if (resolved.kind !== "call") return;
  try {
    resolved.overload.sql(trialWriter(resolved));
  } catch (error) {
    if (!(error instanceof FunctionArgumentError)) throw error;
    refuse("WRONG_ARGUMENTS", error.message, args[error.argument]?.span ?? span);
  }
}

/** Names that are an aggregate and a scalar function. */
function preferScalar(name: string): boolean {
  return isCallable(name) && name === "repeat";
}

function refuseFunction({ name, span }: syntax.Identifier, context: ExpressionContext): never {
  if (aggregateFunction(name) !== undefined)
    return refuse(
      "UNSUPPORTED",
      `${name}() is an aggregate: it stands in summarize, make-series or top-nested only.`,
      span,
    );
  const reason = unsupportedFunction(name);
  if (reason !== null) return refuse("UNSUPPORTED", `${name}() is not supported: ${reason}.`, span);
  const known = [
    ...callableFunctions().map(([known]) => known),
    ...SPECIAL.keys(),
    ...context.environment.names(),
  ];
  const suggestion = nearestName(name, known);
  return refuse(
    "UNKNOWN_FUNCTION",
    `There is no function ${name}().${suggestion === null ? "" : ` Did you mean ${suggestion}()?`}`,
    span,
    suggestion,
  );
}

function bindNow(
  { arguments: [argument], span }: syntax.CallExpression,
  context: ExpressionContext,
): Expression {
  const now = literal("datetime", context.environment.compilation.nowNs);
  if (argument === undefined) return now;
  return combine("add", now, context.scalar(argument.value), span);
}

function bindAgo(expression: syntax.CallExpression, context: ExpressionContext): Expression {
  const now = literal("datetime", context.environment.compilation.nowNs);
  return combine("subtract", now, onlyOperand(expression, context), expression.span);
}

function combine(name: string, left: Expression, right: Expression, span: Span): Expression {
  const definition = scalarFunction(name);
  if (definition === undefined) throw new TypeError(`there is no ${name}`);
  if (right.type !== "timespan")
    return refuse("WRONG_TYPE", `A length of time belongs here, not a ${right.type}.`, span);
  return foldCall(resolveCall(name, definition, [left, right], span));
}

function onlyOperand(
  { name, arguments: args, span }: syntax.CallExpression,
  context: ExpressionContext,
): Expression {
  const [argument, ...others] = args;
  if (argument === undefined || others.length > 0)
    return refuse("WRONG_ARGUMENTS", `${name.name}() takes one argument.`, span);
  return context.scalar(argument.value);
}

function truth(operand: Expression, span: Span): Expression {
  if (operand.type === "bool") return operand;
  if (operand.type === "dynamic" || operand.type === "long" || operand.type === "int")
    return convert(operand, "bool");
  return refuse("WRONG_TYPE", `not() takes a bool, not a ${operand.type}.`, span);
}

function bindToScalar(
  { arguments: [argument], span }: syntax.CallExpression,
  context: ExpressionContext,
): Expression {
  if (argument === undefined) return refuse("WRONG_ARGUMENTS", "toscalar() takes a table.", span);
  const relation = context.environment.table(argument.value);
  const [first] = relation.columns;
  if (first === undefined) return refuse("NOT_TABULAR", "toscalar() takes a table with a column.", span);
  return {
    kind: "scalarSubquery",
    relation: limit(keep(relation, [first.name]), 1),
    type: first.type,
    isNullable: true,
  };
}

function bindColumnIfExists(expression: syntax.CallExpression, context: ExpressionContext): Expression {
  const [name, fallback] = expression.arguments;
  if (name?.value.kind !== "literal" || typeof name.value.value !== "string" || fallback === undefined)
    return refuse(
      "WRONG_ARGUMENTS",
      `${expression.name.name}() takes the name of a column, as a text, and a value.`,
      expression.span,
    );
  const found = context.findOwnColumn(name.value.value) ?? attributeIfSent(name.value.value, context);
  return found ?? context.scalar(fallback.value);
}

/** Every name may be an attribute: where attributes are in reach, so is the column. */
function attributeIfSent(name: string, context: ExpressionContext): Expression | null {
  return context.findColumn(name);
}

function bindPackAll(
  { arguments: [ignoresNulls], span }: syntax.CallExpression,
  context: ExpressionContext,
): Expression {
  const members = context.relation.columns
    .filter(({ name }) => !context.hiddenNames.has(name))
    .flatMap(({ name }) => [literal("string", name), context.resolveColumn(name, span)]);
  const packed = resolveNamed("bag_pack", members, span);
  if (ignoresNulls === undefined) return packed;
  const flag = context.scalar(ignoresNulls.value);
  if (flag.kind !== "literal" || flag.value !== true) return packed;
  return resolveNamed("bagWithoutNulls", [packed], span);
}

function resolveNamed(name: string, operands: readonly Expression[], span: Span): Expression {
  const definition = scalarFunction(name);
  if (definition === undefined) return refuse("UNSUPPORTED", `${name}() is not supported.`, span);
  return resolveCall(name, definition, operands, span);
}

/** A function whose last argument may be `typeof(type)`: the result is converted. */
function withResultType(position: number): Special {
  return (expression, context) => {
    const { name, arguments: args, span } = expression;
    const type = args[position]?.value;
    const operands = args.slice(0, position).map((argument) => context.scalar(argument.value));
    const extracted = resolveNamed(name.name, operands, span);
    if (type === undefined) return extracted;
    if (type.kind !== "type") return refuse("WRONG_ARGUMENTS", "typeof(type) belongs here.", type.span);
    return convert(extracted, typeNamed(type.type));
  };
}
