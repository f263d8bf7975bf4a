import { isLoose } from "../expression.ts";
import { aggregate, limit, sort } from "../plan/build.ts";
import type { Relation, SortKey } from "../plan/relation.ts";
import type * as syntax from "../syntax/tree.ts";
import { keyOf } from "./assign.ts";
import { impliedName } from "./column-names.ts";
import { callNamed, convert } from "./conversion.ts";
import type { Environment } from "./environment.ts";
import { ExpressionContext } from "./expression-context.ts";
import { refuse } from "./refusal.ts";
import { withoutHidden } from "./where.ts";

export function bindSort(input: Relation, { by }: syntax.SortOperator, environment: Environment): Relation {
  return sorted(input, by, environment);
}

function sorted(input: Relation, items: readonly syntax.SortItem[], environment: Environment): Relation {
  const context = ExpressionContext.takingWindows(environment, input);
  const keys = items.flatMap((item) => sortKeys(item, context));
  return withoutHidden(sort(context.relation, keys), context);
}

/** Attributes are ordered as numbers as far as they are, then as texts. */
function sortKeys(
  { expression, direction, nulls, span }: syntax.SortItem,
  context: ExpressionContext,
): SortKey[] {
  const key = context.scalar(expression);
  const order: Omit<SortKey, "expression"> = {
    direction: direction === "asc" ? "ascending" : "descending",
    ...(nulls === null ? {} : { nulls }),
  };
  if (key.type !== "dynamic") return [{ expression: key, ...order }];
  if (!isLoose(key))
    return refuse(
      "WRONG_TYPE",
      "Rows cannot be ordered by a dynamic value; convert it first: tolong(), tostring() ...",
      span,
    );
  return [convert(key, "real"), convert(key, "string")].map((part) => ({ expression: part, ...order }));
}

export function bindTake(
  input: Relation,
  { count }: syntax.TakeOperator,
  environment: Environment,
): Relation {
  return limit(input, new ExpressionContext(environment, input).count(count));
}

export function bindTop(
  input: Relation,
  { count, by }: syntax.TopOperator,
  environment: Environment,
): Relation {
  const rows = new ExpressionContext(environment, input).count(count);
  return limit(sorted(input, by, environment), rows);
}

/** Any rows, drawn by lot. */
export function bindSample(
  input: Relation,
  { count }: syntax.TakeOperator,
  environment: Environment,
): Relation {
  const context = new ExpressionContext(environment, input);
  const rows = context.count(count);
  return limit(
    sort(input, [{ expression: callNamed("rand", [], { start: 0, end: 0 }), direction: "ascending" }]),
    rows,
  );
}

export function bindSampleDistinct(
  input: Relation,
  { count, of }: syntax.SampleDistinctOperator,
  environment: Environment,
): Relation {
  const context = new ExpressionContext(environment, input);
  const name = impliedName(of) ?? "Column1";
  const distinct = aggregate(input, [{ name, expression: keyOf(context.scalar(of), of.span) }], []);
  return limit(distinct, context.count(count));
}
