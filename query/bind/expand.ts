import { columnOf, expand, extend, keep, sort, window } from "../plan/build.ts";
import type { NamedExpression, Relation } from "../plan/relation.ts";
import type * as syntax from "../syntax/tree.ts";
import { impliedName } from "./column-names.ts";
import { convert } from "./conversion.ts";
import type { Environment } from "./environment.ts";
import { ExpressionContext } from "./expression-context.ts";
import { bindSubqueryOperator, OUTER_PREFIX, ROW_COLUMN } from "./mv-apply-operators.ts";
import { refuse } from "./refusal.ts";
import { typeNamed } from "./types.ts";

export function bindMvExpand(
  input: Relation,
  operator: syntax.MvExpandOperator,
  environment: Environment,
): Relation {
  const context = new ExpressionContext(environment, input);
  const max = operator.limit === null ? null : context.count(operator.limit);
  return expanded(input, operator.columns, max, indexNameOf(operator), context);
}

function indexNameOf({ parameters }: syntax.MvExpandOperator): string | null {
  for (const { name, value } of parameters) {
    if (name.name === "with_itemindex" && value.kind === "name") return value.name;
    const isArrays = value.kind === "name" && value.name === "array";
    if ((name.name === "bagexpansion" || name.name === "kind") && isArrays)
      refuse(
        "UNSUPPORTED",
        `${name.name}=array is not supported: bags expand to bags of one member.`,
        name.span,
      );
  }
  return null;
}

function expanded(
  input: Relation,
  columns: readonly syntax.ExpandedColumn[],
  maxElements: number | null,
  indexName: string | null,
  context: ExpressionContext,
): Relation {
  const expansions = columns.map(({ argument, type }, i) => {
    const value = context.scalar(argument.value);
    const name = argument.names[0]?.name ?? impliedName(argument.value) ?? `Column${i + 1}`;
    if (value.type !== "dynamic")
      return refuse("WRONG_TYPE", `Only a dynamic value has elements, not a ${value.type}.`, argument.span);
    return { name, expression: value, type: type === null ? null : typeNamed(type) };
  });
  const rows = expand(
    input,
    expansions.map(({ name, expression }) => ({ name, expression })),
    indexName,
    maxElements,
  );
  const typed = expansions.flatMap(({ name, type }): NamedExpression[] =>
    type === null ? [] : [{ name, expression: convert(columnOf(rows, name), type) }],
  );
  return typed.length === 0 ? rows : extend(rows, typed);
}

/**
 * The subquery over the elements of each row for itself: the rows are numbered, every operator of the subquery works
 * within a number, and what an operator would drop of the row around is carried along under hidden names.
 */
export function bindMvApply(
  input: Relation,
  operator: syntax.MvApplyOperator,
  environment: Environment,
): Relation {
  const numbered = window(sort(input, []), [
    { name: ROW_COLUMN, function: "rowNumber", operands: [], offset: 0, restart: null, type: "long" },
  ]);
  const outer = extend(
    numbered,
    input.columns.map(({ name }) => ({ name: OUTER_PREFIX + name, expression: columnOf(numbered, name) })),
  );
  const context = new ExpressionContext(environment, outer);
  const max = operator.limit === null ? null : context.count(operator.limit);
  const elements = expanded(outer, operator.columns, max, null, context);
  const carried = [ROW_COLUMN, ...input.columns.map(({ name }) => OUTER_PREFIX + name)];
  const result = operator.subquery.operators.reduce(
    (relation, inner) => bindSubqueryOperator(relation, inner, carried, environment),
    elements,
  );
  return withOuterColumns(input, result);
}

/** The columns of the row around, then those that the subquery made. */
function withOuterColumns(input: Relation, result: Relation): Relation {
  const own = new Set(input.columns.map(({ name }) => name));
  const replaced = result.columns.some(({ name }) => own.has(name));
  const restored = extend(
    result,
    input.columns
      .filter(({ name }) => !replaced || !result.columns.some((column) => column.name === name))
      .map(({ name }) => ({ name, expression: columnOf(result, OUTER_PREFIX + name) })),
  );
  const made = result.columns
    .map(({ name }) => name)
    .filter((name) => !name.startsWith("$") && !own.has(name));
  return keep(restored, [...input.columns.map(({ name }) => name), ...made]);
}
