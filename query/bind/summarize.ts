import { type Expression, literal } from "../expression.ts";
import { aggregateFunction } from "../functions/registry.ts";
import { aggregate, aggregateCall, columnOf, project } from "../plan/build.ts";
import type { NamedExpression, Relation } from "../plan/relation.ts";
import type * as syntax from "../syntax/tree.ts";
import { addAggregate, aggregateName, canonicalAggregate, loosened, percentText } from "./aggregates.ts";
import { keyOf } from "./assign.ts";
import { impliedName, UniqueNames } from "./column-names.ts";
import type { Environment } from "./environment.ts";
import { ExpressionContext, newCollector } from "./expression-context.ts";
import { refuse } from "./refusal.ts";

/** A column of the answer before its name is settled: what it computes, over hidden columns of aggregates. */
interface Output {
  readonly name: string;
  readonly expression: Expression;
}

export function bindCountOperator(input: Relation, { as }: syntax.CountOperator): Relation {
  return aggregate(input, [], [aggregateCall(as?.name ?? "Count", "count")]);
}

export function bindSummarize(
  input: Relation,
  { aggregates, by }: syntax.SummarizeOperator,
  environment: Environment,
): Relation {
  const collector = newCollector();
  const context = new ExpressionContext(environment, input, collector);
  const names = new UniqueNames();
  const keys = bindKeys(by, new ExpressionContext(environment, input), names);
  const outputs = aggregates.flatMap((argument) => bindOutput(argument, context, keys, names));
  const hiddenKeys = keys.map(({ expression }, i) => ({ name: `$key${i}`, expression }));
  const grouped = aggregate(input, hiddenKeys, collector.calls);
  return project(grouped, [
    ...keys.map(({ name }, i) => ({ name, expression: columnOf(grouped, `$key${i}`) })),
    ...outputs,
  ]);
}

/** The keys of a grouping under the names of their columns. */
export function bindKeys(
  by: readonly syntax.Argument[],
  context: ExpressionContext,
  names: UniqueNames,
): NamedExpression[] {
  return by.flatMap(({ names: given, value, span }) => {
    const expression = keyOf(context.scalar(value), span);
    const name = given[0]?.name ?? impliedName(value);
    return [{ name: name === null ? names.claimColumn() : names.claim(name), expression }];
  });
}

function bindOutput(
  argument: syntax.Argument,
  context: ExpressionContext,
  keys: readonly NamedExpression[],
  names: UniqueNames,
): Output[] {
  const { names: given, value } = argument;
  if (value.kind === "call") {
    const several = bindSeveral(argument, value, context, keys);
    if (several !== null)
      return several.map(({ name, expression }) => ({ name: names.claim(name), expression }));
  }
  const expression = context.scalar(value);
  const [name, ...others] = given;
  if (others.length > 0) return refuse("WRONG_ARGUMENTS", "This makes one column.", argument.span);
  const implied = value.kind === "call" ? (aggregateName(value) ?? impliedName(value)) : impliedName(value);
  const chosen = name?.name ?? implied;
  return [{ name: chosen === null ? names.claimColumn() : names.claim(chosen), expression }];
}

/** Aggregates that make several columns; null for any other. */
function bindSeveral(
  { names: given }: syntax.Argument,
  call: syntax.CallExpression,
  context: ExpressionContext,
  keys: readonly NamedExpression[],
): Output[] | null {
  if (context.environment.lookup(call.name.name) !== undefined) return null;
  switch (canonicalAggregate(call.name.name)) {
    case "arg_max":
      return bindExtreme("argMax", given, call, context, keys);
    case "arg_min":
      return bindExtreme("argMin", given, call, context, keys);
    case "take_any":
      return bindTakeAny(given, call, context, keys);
    case "percentiles":
      return bindPercentiles("percentile", given, call, context);
    case "percentilesw":
      return bindPercentiles("percentilew", given, call, context);
    default:
      return null;
  }
}

function aggregated(
  name: string,
  operands: readonly Expression[],
  { span }: syntax.CallExpression,
  context: ExpressionContext,
): Expression {
  const definition = aggregateFunction(name);
  if (definition === undefined) return refuse("UNSUPPORTED", `${name}() is not supported.`, span);
  return addAggregate(name, definition, operands, span, context);
}

/** `arg_max(by, columns)`: the greatest value, and the columns of its row. */
function bindExtreme(
  name: "argMax" | "argMin",
  given: readonly syntax.Identifier[],
  call: syntax.CallExpression,
  context: ExpressionContext,
  keys: readonly NamedExpression[],
): Output[] {
  const [by, ...rest] = call.arguments;
  if (by === undefined)
    return refuse("WRONG_ARGUMENTS", `${call.name.name}() needs a value to compare.`, call.span);
  const inner = context.withoutAggregates();
  const extreme = inner.scalar(by.value);
  const columns = rest.flatMap((argument) =>
    starred(argument, call, context, [
      ...keys,
      ...(extreme.kind === "column" ? [{ name: extreme.name, expression: extreme }] : []),
    ]),
  );
  const largest = aggregated(name === "argMax" ? "max" : "min", [extreme], call, context);
  const byName = impliedName(by.value) ?? (name === "argMax" ? "max_" : "min_");
  const outputs = columns.map((argument): Output => {
    const value = inner.scalar(argument.value);
    return {
      name:
        argument.names[0]?.name ??
        impliedName(argument.value) ??
        `${name === "argMax" ? "arg_max" : "arg_min"}_`,
      expression: aggregated(name, [extreme, value], call, context),
    };
  });
  const all = [{ name: by.names[0]?.name ?? byName, expression: largest }, ...outputs];
  return all.map((output, i) => ({ ...output, name: given[i]?.name ?? output.name }));
}

/** `*` is every column that is not a key. */
function starred(
  argument: syntax.Argument,
  { span }: syntax.CallExpression,
  { relation }: ExpressionContext,
  without: readonly NamedExpression[],
): syntax.Argument[] {
  if (argument.value.kind !== "star") return [argument];
  const keys = new Set(
    without.flatMap(({ expression }) => (expression.kind === "column" ? [expression.name] : [])),
  );
  return relation.columns
    .filter(({ name }) => !keys.has(name))
    .map(({ name }) => ({ names: [], value: { kind: "name", name, isPattern: false, span }, span }));
}

function bindTakeAny(
  given: readonly syntax.Identifier[],
  call: syntax.CallExpression,
  context: ExpressionContext,
  keys: readonly NamedExpression[],
): Output[] {
  const inner = context.withoutAggregates();
  const prefix = call.name.name === "any" ? "any_" : "";
  const columns = call.arguments.flatMap((argument) => starred(argument, call, context, keys));
  return columns.map((argument, i) => ({
    name: given[i]?.name ?? `${prefix}${impliedName(argument.value) ?? ""}`,
    expression: aggregated("take_any", [inner.scalar(argument.value)], call, context),
  }));
}

function bindPercentiles(
  name: "percentile" | "percentilew",
  given: readonly syntax.Identifier[],
  call: syntax.CallExpression,
  context: ExpressionContext,
): Output[] {
  const fixed = name === "percentile" ? 1 : 2;
  if (call.arguments.length <= fixed) {
    const example = `${call.name.name}(${fixed === 1 ? "x" : "x, weight"}, 50, 95)`;
    refuse("WRONG_ARGUMENTS", `${call.name.name}() says which percentiles: ${example}.`, call.span);
  }
  const values = call.arguments.slice(0, fixed);
  const inner = context.withoutAggregates();
  const operands = values.map((argument) => loosened(name, inner.scalar(argument.value)));
  const [first] = values;
  const column = (first === undefined ? null : impliedName(first.value)) ?? "";
  return call.arguments.slice(fixed).map((argument, i) => {
    const percentage = inner.constant(argument.value);
    const text = argument.value.kind === "literal" ? percentText(argument.value) : String(percentage.value);
    return {
      name: given[i]?.name ?? `percentile_${column}_${text}`,
      expression: aggregated(name, [...operands, literal("real", Number(percentage.value))], call, context),
    };
  });
}
