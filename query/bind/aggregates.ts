import { isNullable } from "../call.ts";
import { type Expression, isLoose } from "../expression.ts";
import type { AggregateDefinition } from "../functions/definition.ts";
import { aggregateFunction } from "../functions/registry.ts";
import { aggregateOverload } from "../plan/build.ts";
import type * as syntax from "../syntax/tree.ts";
import { impliedName } from "./column-names.ts";
import { checkArguments, convert, resolveOverload } from "./conversion.ts";
import type { ExpressionContext } from "./expression-context.ts";
import { refuse } from "./refusal.ts";

/** Aggregates that add up numbers: an attribute among their operands is taken as one. */
const OF_NUMBERS: ReadonlySet<string> = new Set(
  "sum sumif avg avgif stdev stdevif stdevp variance varianceif variancep variancepif percentile percentilew covariance covarianceif covariancep covariancepif binary_all_and binary_all_or binary_all_xor".split(
    " ",
  ),
);

/** Aggregates whose result is one of the values. */
const PICKS_A_VALUE: ReadonlySet<string> = new Set([
  "argMax",
  "argMin",
  "take_any",
  "take_anyif",
  "min",
  "max",
]);

/** Names that mean the same aggregate. */
const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ["makelist", "make_list"],
  ["makeset", "make_set"],
  ["makebag", "make_bag"],
  ["any", "take_any"],
  ["anyif", "take_anyif"],
  ["cnt", "count"],
  ["make_dictionary", "make_bag"],
  ["argmax", "arg_max"],
  ["argmin", "arg_min"],
]);

export function canonicalAggregate(name: string): string {
  return SYNONYMS.get(name) ?? name;
}

/** An aggregate of one result inside an expression: it becomes a hidden column. */
export function bindAggregateCall(expression: syntax.CallExpression, context: ExpressionContext): Expression {
  const { name, arguments: args, span } = expression;
  const canonical = canonicalAggregate(name.name);
  const definition = definitionOf(canonical, expression);
  const inner = context.withoutAggregates();
  const operands = args
    .filter(({ value }) => value.kind !== "star")
    .map((argument) => loosened(canonical, inner.scalar(argument.value)));
  return addAggregate(canonical, definition, operands, span, context);
}

/** The aggregate over operands that are bound already. */
export function addAggregate(
  name: string,
  definition: AggregateDefinition,
  operands: readonly Expression[],
  span: syntax.Expression["span"],
  context: ExpressionContext,
): Expression {
  const { overload, operands: converted } = resolveOverload(name, definition, operands, span);
  const call = aggregateOverload("", name, overload, converted);
  checkArguments(call, span);
  return context.addAggregate({
    ...call,
    isNullable: isNullable(overload.nulls, call.type, converted),
    isLoose: call.type === "dynamic" && PICKS_A_VALUE.has(name) && converted.some(isLoose),
  });
}

function definitionOf(name: string, { name: { span } }: syntax.CallExpression): AggregateDefinition {
  const definition = aggregateFunction(name);
  return definition ?? refuse("UNSUPPORTED", `${name}() is not supported.`, span);
}

export function loosened(name: string, operand: Expression): Expression {
  if (!OF_NUMBERS.has(name) || !isLoose(operand)) return operand;
  return convert(operand, name.startsWith("binary_") ? "long" : "real");
}

/** The name of the column of an aggregate without one: `sum_x`, `sum_`. */
export function aggregateName({ name, arguments: args }: syntax.CallExpression): string | null {
  const canonical = canonicalAggregate(name.name);
  const definition = aggregateFunction(canonical);
  if (definition === undefined) return null;
  const [first, second, third] = args;
  const argument = first === undefined ? null : impliedName(first.value);
  const percentage = canonical === "percentilew" ? third : canonical === "percentile" ? second : undefined;
  if (percentage?.value.kind === "literal")
    return `percentile_${argument ?? ""}_${percentText(percentage.value)}`;
  if (definition.prefix === "") return argument;
  if (canonical.startsWith("covariance"))
    return `${canonical}_${argument ?? ""}_${(second && impliedName(second.value)) ?? ""}`;
  const prefix = name.name === "any" || name.name === "anyif" ? name.name : definition.prefix;
  return `${prefix}_${argument ?? ""}`;
}

/** A percentage in the name of a column: 99.9 is 99_9. */
export function percentText({ value }: syntax.LiteralExpression): string {
  return String(value).replace(/[.-]/g, "_");
}
