import { filter, keep } from "../plan/build.ts";
import type { Relation } from "../plan/relation.ts";
import type * as syntax from "../syntax/tree.ts";
import type { Environment } from "./environment.ts";
import { ExpressionContext } from "./expression-context.ts";

export function bindWhere(
  input: Relation,
  { predicate }: syntax.WhereOperator,
  environment: Environment,
): Relation {
  const context = ExpressionContext.takingWindows(environment, input);
  const condition = context.predicate(predicate);
  return withoutHidden(filter(context.relation, condition), context);
}

/** The relation without the columns that window functions added. */
export function withoutHidden(relation: Relation, { hiddenNames }: ExpressionContext): Relation {
  if (hiddenNames.size === 0) return relation;
  return keep(
    relation,
    relation.columns.map(({ name }) => name).filter((name) => !hiddenNames.has(name)),
  );
}
