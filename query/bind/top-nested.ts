import type { Expression } from "../expression.ts";
import { aggregateFunction } from "../functions/registry.ts";
import {
  aggregate,
  aggregateCall,
  aggregateOverload,
  columnOf,
  join,
  limit,
  project,
  sort,
} from "../plan/build.ts";
import type { AggregateCall, NamedExpression, Relation } from "../plan/relation.ts";
import type { Span } from "../span.ts";
import type * as syntax from "../syntax/tree.ts";
import { loosened } from "./aggregates.ts";
import { keyOf } from "./assign.ts";
import { impliedName, UniqueNames } from "./column-names.ts";
import { resolveOverload } from "./conversion.ts";
import type { Environment } from "./environment.ts";
import { ExpressionContext, newCollector } from "./expression-context.ts";
import { refuse } from "./refusal.ts";

interface Level {
  readonly key: NamedExpression;
  readonly relation: Relation;
  readonly measure: string;
}

/** The first values of a column by an aggregate, then of the next column within each of them, and so on. */
export function bindTopNested(
  input: Relation,
  operator: syntax.TopNestedOperator,
  environment: Environment,
): Relation {
  const names = new UniqueNames();
  const levels: Level[] = [];
  for (const level of operator.levels) levels.push(bindLevel(input, level, levels, names, environment));
  const [first, ...rest] = levels;
  if (first === undefined) return refuse("SYNTAX", "top-nested needs a level.", operator.span);
  let result = first.relation;
  let before = [first.key.name];
  for (const { key, relation, measure } of rest) {
    result = join({
      joinKind: "inner",
      left: result,
      right: relation,
      on: before.map((name) => ({ left: name, right: name })),
      leftNames: new Map(result.columns.map(({ name }) => [name, name])),
      rightNames: new Map([key.name, measure].map((name) => [name, name])),
    });
    before = [...before, key.name];
  }
  return result;
}

function bindLevel(
  input: Relation,
  level: syntax.TopNestedOperator["levels"][number],
  outer: readonly Level[],
  names: UniqueNames,
  environment: Environment,
): Level {
  if (level.others !== null)
    return refuse("UNSUPPORTED", "top-nested does not take `with others` here.", level.others.span);
  const collector = newCollector();
  const context = new ExpressionContext(environment, input, collector);
  const plain = new ExpressionContext(environment, input);
  const keyName = names.claim(level.of.names[0]?.name ?? impliedName(level.of.value) ?? "Column1");
  const key = { name: keyName, expression: keyOf(plain.scalar(level.of.value), level.of.span) };
  const measure = names.claim(level.by.names[0]?.name ?? `aggregated_${keyName}`);
  const value = context.scalar(level.by.value);
  const keys = [...outer.map((other) => other.key), key];
  const grouped = aggregate(input, keys, collector.calls);
  const measured = project(grouped, [
    ...keys.map(({ name }) => ({ name, expression: columnOf(grouped, name) })),
    { name: measure, expression: value },
  ]);
  const direction = level.direction === "asc" ? "ascending" : "descending";
  const ordered = sort(measured, [{ expression: columnOf(measured, measure), direction }]);
  if (level.count === null) return { key, relation: measured, measure };
  const per = outer.map((other) => other.key.name);
  return { key, relation: limit(ordered, plain.count(level.count), per), measure };
}

function sumOf(name: string, operand: Expression, span: Span): AggregateCall {
  const sum = aggregateFunction("sum");
  if (sum === undefined) throw new TypeError("there is no sum");
  const { overload, operands } = resolveOverload("sum", sum, [loosened("sum", operand)], span);
  return aggregateOverload(name, "sum", overload, operands);
}

/** The most frequent values, or those with the largest sum, and how often they occur. */
export function bindTopHitters(
  input: Relation,
  operator: syntax.TopHittersOperator,
  environment: Environment,
): Relation {
  const context = new ExpressionContext(environment, input);
  const name = impliedName(operator.of) ?? "Column1";
  const key = { name, expression: keyOf(context.scalar(operator.of), operator.of.span) };
  const measure =
    operator.by === null ? `approximate_count_${name}` : `approximate_sum_${impliedName(operator.by) ?? ""}`;
  const call =
    operator.by === null
      ? aggregateCall(measure, "count")
      : sumOf(measure, context.scalar(operator.by), operator.by.span);
  const grouped = aggregate(input, [key], [call]);
  const ordered = sort(grouped, [{ expression: columnOf(grouped, measure), direction: "descending" }]);
  return limit(ordered, context.count(operator.count));
}
