import { aggregate, aggregateCall } from "../plan/build.ts";
import type { Relation } from "../plan/relation.ts";
import type * as syntax from "../syntax/tree.ts";
import { keyOf } from "./assign.ts";
import { impliedName } from "./column-names.ts";
import type { Environment } from "./environment.ts";
import { ExpressionContext } from "./expression-context.ts";

/** A table of values and how often they occur for each column, then what the operators of `with` make of the rows. */
export function bindFacet(
  input: Relation,
  operator: syntax.FacetOperator,
  environment: Environment,
): Relation[] {
  const context = new ExpressionContext(environment, input);
  const counted = operator.by.map((column) => {
    const name = impliedName(column) ?? "Column1";
    const key = { name, expression: keyOf(context.scalar(column), column.span) };
    return aggregate(input, [key], [aggregateCall(`count_${name}`, "count")]);
  });
  if (operator.with === null) return counted;
  const rest = operator.with.operators.reduce(
    (relation, inner) => environment.operator(relation, inner),
    input,
  );
  return [...counted, rest];
}
