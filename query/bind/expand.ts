import { columnOf, expand, extend, keep, sort, window } from "../plan/build.ts";
import type { Expand, NamedExpression, Relation } from "../plan/relation.ts";
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
  const shape = { maxElements: max, indexName: indexNameOf(operator), members: membersOf(operator) };
  return expanded(input, operator.columns, shape, context);
}

function indexNameOf({ parameters }: syntax.MvExpandOperator): string | null {
  const value = parameters.find(({ name }) => name.name === "with_itemindex")?.value;
  return value?.kind === "name" ? value.name : null;
}

/** `kind=array` or `bagexpansion=array`: a member of a bag becomes an array of its key and value. */
function membersOf({ parameters }: syntax.MvExpandOperator): Expand["members"] {
  const value = parameters.find(({ name }) => name.name === "kind" || name.name === "bagexpansion")?.value;
  if (value === undefined || (value.kind === "name" && value.name === "bag")) return "bags";
  if (value.kind === "name" && value.name === "array") return "arrays";
  return refuse("UNSUPPORTED", "Bags expand to bag or array.", value.span);
}

function expanded(
  input: Relation,
  columns: readonly syntax.ExpandedColumn[],
  { maxElements, indexName, members }: Pick<Expand, "maxElements" | "indexName" | "members">,
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
    members,
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
  const elements = expanded(
    outer,
    operator.columns,
    { maxElements: max, indexName: null, members: "bags" },
    context,
  );
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
