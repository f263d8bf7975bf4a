import { call } from "../call.ts";
import { type Expression, isLoose, literal } from "../expression.ts";
import {
  aggregateFunction,
  callableFunctions,
  functionOfSeveralResults,
  functionsOfSeveralResults,
  isCallable,
  scalarFunction,
} from "../functions/registry.ts";
import { isLibraryFunction, LIBRARY_FUNCTIONS } from "../library.ts";
import { keep, limit } from "../plan/build.ts";
import type { Span } from "../span.ts";
import type * as syntax from "../syntax/tree.ts";
import { bindAggregateCall } from "./aggregates.ts";
import { callNamed, convert, resolveCall } from "./conversion.ts";
import { bindColumnNames, bindDataSize } from "./described-columns.ts";
import type { ExpressionContext } from "./expression-context.ts";
import { foldCall } from "./fold.ts";
import { bindFunctionCall } from "./functions.ts";
import { FUNCTIONS_ELSEWHERE, OPERATORS_AS_FUNCTIONS } from "./functions-elsewhere.ts";
import { bindLibraryCall } from "./library-call.ts";
import { nearestName } from "./nearest-name.ts";
import { refuse } from "./refusal.ts";
import { refuseSeveralColumns } from "./several-columns.ts";
import { typeNamed } from "./types.ts";
import { unsupportedFunction } from "./unsupported.ts";
import { bindWindowCall, isWindowFunction } from "./windows.ts";

type Special = (expression: syntax.CallExpression, context: ExpressionContext) => Expression;

interface SpecialFunction {
  readonly kind: "scalar";
  readonly signature: string;
  readonly summary: string;
  readonly bind: Special;
}

function special(signature: string, summary: string, bind: Special): SpecialFunction {
  return { kind: "scalar", signature, summary, bind };
}

/** Functions that are more than a function of their operands' values. */
export const SPECIAL_FUNCTIONS: Readonly<Record<string, SpecialFunction>> = {
  now: special(
    "now([offset: timespan]): datetime",
    "The instant of the query, the same everywhere in it.",
    bindNow,
  ),
  ago: special("ago(offset: timespan): datetime", "The instant of the query less a length of time.", bindAgo),
  not: special("not(value: bool): bool", "True if it is not.", (expression, context) =>
    call("negation", truth(onlyOperand(expression, context), expression.span)),
  ),
  toscalar: special("toscalar(table): any", "The first value of a table, computed once.", bindToScalar),
  ingestion_time: special("ingestion_time(): datetime", "When the entry arrived.", (expression, context) =>
    context.resolveColumn("receivedAt", expression.span),
  ),
  column_ifexists: special(
    "column_ifexists(name: string, default: any): any",
    "The column of that name, or a value where there is none.",
    bindColumnIfExists,
  ),
  columnifexists: special(
    "columnifexists(name: string, default: any): any",
    "As column_ifexists().",
    bindColumnIfExists,
  ),
  pack_all: special(
    "pack_all([ignore_null: bool]): dynamic",
    "All columns of the row in one bag.",
    bindPackAll,
  ),
  column_names_of: special(
    "column_names_of(table): dynamic",
    "The names of the columns of a table.",
    bindColumnNames,
  ),
  estimate_data_size: special(
    "estimate_data_size(columns): long",
    "The bytes of the columns of the row: those of a text, 8 of a number or a time; `*` stands for all columns.",
    bindDataSize,
  ),
  extract: special(
    "extract(regex: string, group: long, text: string [, typeof(type)]): string",
    "What a group of a regular expression matches.",
    withResultType(3),
  ),
  extract_json: special(
    "extract_json(path: string, json: string [, typeof(type)]): string",
    "The part of a JSON text at a path.",
    withResultType(2),
  ),
  extractjson: special(
    "extractjson(path: string, json: string [, typeof(type)]): string",
    "As extract_json().",
    withResultType(2),
  ),
  materialize: special(
    "materialize(table)",
    "The table; it is read wherever it is mentioned.",
    (expression) =>
      refuse("NOT_TABULAR", "materialize() makes a table; a value belongs here.", expression.span),
  ),
};

const SPECIAL: ReadonlyMap<string, SpecialFunction> = new Map(Object.entries(SPECIAL_FUNCTIONS));

export function isSpecialFunction(name: string): boolean {
  return SPECIAL.has(name);
}

/** Whether the language itself has a function of this name, whatever it makes. */
export function isReservedName(name: string): boolean {
  return (
    SPECIAL.has(name) ||
    isLibraryFunction(name) ||
    isWindowFunction(name) ||
    isCallable(name) ||
    aggregateFunction(name) !== undefined
  );
}

export function bindCall(expression: syntax.CallExpression, context: ExpressionContext): Expression {
  const { name, arguments: args, span } = expression;
  const declared = context.environment.lookup(name.name);
  if (declared?.kind === "function") {
    const value = bindFunctionCall(declared, expression, context);
    if (value.kind === "scalar") return value.value;
    return refuse("NOT_TABULAR", `${name.name}() makes a table; a value belongs here.`, span);
  }
  if (isLibraryFunction(name.name)) return bindLibraryCall(name.name, expression, context);
  const ownRules = SPECIAL.get(name.name);
  if (ownRules !== undefined) return ownRules.bind(expression, context);
  if (isWindowFunction(name.name)) return bindWindowCall(expression, context);
  if (context.aggregates !== null && aggregateFunction(name.name) !== undefined && !preferScalar(name.name))
    return bindAggregateCall(expression, context);
  if (functionOfSeveralResults(name.name) !== undefined) return refuseSeveralColumns(expression);
  const definition = isCallable(name.name) ? scalarFunction(name.name) : undefined;
  if (definition === undefined) return refuseFunction(name, context);
  const operands = args.map((argument) => context.scalar(argument.value));
  const spans = args.map((argument) => argument.span);
  return foldCall(resolveCall(name.name, definition, operands, span, spans));
}

/** Names that are an aggregate and a scalar function. */
function preferScalar(name: string): boolean {
  return isCallable(name) && name === "repeat";
}

function refuseFunction({ name, span }: syntax.Identifier, context: ExpressionContext): never {
  const operator = OPERATORS_AS_FUNCTIONS.get(name.toLowerCase());
  if (operator !== undefined)
    return refuse("UNKNOWN_FUNCTION", `${name} is no function here; write ${operator}.`, span, operator);
  const column = context.findOwnColumn(name);
  if (column !== null)
    return refuse(
      "UNKNOWN_FUNCTION",
      `${name} is a column and no function${column.type === "datetime" ? `: bin(${name}, 1h) puts it into hours` : ""}.`,
      span,
      column.type === "datetime" ? `bin(${name}, 1h)` : null,
    );
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
    ...Object.keys(LIBRARY_FUNCTIONS),
    ...functionsOfSeveralResults().map(({ name }) => name),
    ...context.environment.names(),
  ];
  const suggestion = FUNCTIONS_ELSEWHERE.get(name.toLowerCase()) ?? nearestName(name, known);
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
  if (isLoose(right)) return combine(name, left, convert(right, "timespan"), span);
  if (right.type !== "timespan")
    return refuse(
      "WRONG_TYPE",
      `A length of time belongs here, not a ${right.type}: a number with its unit and no quotes, as in 5m, 1h or 2d.`,
      span,
    );
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
  if (operand.type === "dynamic") return convert(operand, "bool");
  return refuse(
    "WRONG_TYPE",
    `not() takes a condition, and this is a ${operand.type}: compare it with something.`,
    span,
  );
}

function bindToScalar(
  { arguments: [argument], span }: syntax.CallExpression,
  context: ExpressionContext,
): Expression {
  if (argument === undefined) return refuse("WRONG_ARGUMENTS", "toscalar() takes a table.", span);
  if (!context.environment.isTabular(argument.value)) return context.scalar(argument.value);
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
  const packed = callNamed("bag_pack", members, span);
  if (ignoresNulls === undefined) return packed;
  const flag = context.scalar(ignoresNulls.value);
  if (flag.kind !== "literal" || flag.value !== true) return packed;
  return callNamed("bagWithoutNulls", [packed], span);
}

/** A function whose last argument may be `typeof(type)`: the result is converted. */
function withResultType(position: number): Special {
  return (expression, context) => {
    const { name, arguments: args, span } = expression;
    const type = args[position]?.value;
    const operands = args.slice(0, position).map((argument) => context.scalar(argument.value));
    const extracted = callNamed(name.name, operands, span);
    if (type === undefined) return extracted;
    if (type.kind !== "type") return refuse("WRONG_ARGUMENTS", "typeof(type) belongs here.", type.span);
    return convert(extracted, typeNamed(type.type));
  };
}
