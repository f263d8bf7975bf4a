import { columnOf, limit, project } from "../plan/build.ts";
import type { Relation } from "../plan/relation.ts";
import type * as syntax from "../syntax/tree.ts";
import type { Environment } from "./environment.ts";
import { ExpressionContext } from "./expression-context.ts";
import { refuse } from "./refusal.ts";

/** The number of the row around, and the prefix of its columns: hidden names of a subquery of mv-apply. */
export const ROW_COLUMN = "$row";
export const OUTER_PREFIX = "$outer_";

/** One operator of the subquery, within each row around. */
export function bindSubqueryOperator(
  relation: Relation,
  operator: syntax.Operator,
  carried: readonly string[],
  environment: Environment,
): Relation {
  const { span } = operator;
  const name = (column: string): syntax.Argument => {
    return { names: [], value: { kind: "name", name: column, isPattern: false, span }, span };
  };
  switch (operator.kind) {
    case "where":
    case "extend":
    case "parse":
    case "parse-kv":
    case "mv-expand":
    case "serialize":
    case "project-away":
    case "project-reorder":
    case "project-rename":
    case "as":
      return environment.operator(relation, operator);
    case "sort": {
      const byRow = { expression: name(ROW_COLUMN).value, direction: "asc", nulls: null, span } as const;
      return environment.operator(relation, { ...operator, by: [byRow, ...operator.by] });
    }
    case "project":
      return environment.operator(relation, {
        ...operator,
        assignments: [...operator.assignments, ...carried.map(name)],
      });
    case "project-keep":
      return environment.operator(relation, {
        ...operator,
        names: [
          ...operator.names,
          ...carried.map((column) => ({ expression: name(column).value, order: null })),
        ],
      });
    case "summarize":
      return environment.operator(relation, grouped(operator, carried));
    case "mv-apply":
      return nested(relation, operator, carried, environment);
    case "count":
      return environment.operator(relation, grouped(counting(operator), carried));
    case "distinct":
      return environment.operator(
        relation,
        grouped({ ...base(operator), aggregates: [], by: operator.columns }, carried),
      );
    case "top": {
      const rows = new ExpressionContext(environment, relation).count(operator.count);
      const sorted = environment.operator(relation, { ...base(operator), kind: "sort", by: operator.by });
      return limit(sorted, rows, [ROW_COLUMN]);
    }
    case "take": {
      const rows = new ExpressionContext(environment, relation).count(operator.count);
      return limit(relation, rows, [ROW_COLUMN]);
    }
    default:
      return refuse(
        "UNSUPPORTED",
        `${operator.keyword.name} is not supported inside mv-apply.`,
        operator.keyword.span,
      );
  }
}

/** A subquery in the subquery has hidden columns of the same names: those of this one wait under others. */
function nested(
  relation: Relation,
  operator: syntax.MvApplyOperator,
  carried: readonly string[],
  environment: Environment,
): Relation {
  const levels = relation.columns.filter(({ name }) => name.endsWith(`_${ROW_COLUMN}`)).length;
  const waiting = new Map(carried.map((name) => [name, `$waiting${levels}_${name}`]));
  const back = new Map([...waiting].map(([name, other]) => [other, name]));
  return renamed(environment.operator(renamed(relation, waiting), operator), back);
}

function renamed(relation: Relation, names: ReadonlyMap<string, string>): Relation {
  const columns = relation.columns.map(({ name }) => ({
    name: names.get(name) ?? name,
    expression: columnOf(relation, name),
  }));
  return project(relation, columns);
}

function base({ span, keyword, parameters }: syntax.Operator) {
  return { kind: "summarize", span, keyword, parameters } as const;
}

function counting(operator: syntax.CountOperator): syntax.SummarizeOperator {
  const { span } = operator;
  const as = operator.as ?? { name: "Count", span };
  const value: syntax.Expression = { kind: "call", name: { name: "count", span }, arguments: [], span };
  return { ...base(operator), aggregates: [{ names: [as], value, span }], by: [] };
}

/** By the row around as well, whose columns are the same in the whole group. */
function grouped(operator: syntax.SummarizeOperator, carried: readonly string[]): syntax.SummarizeOperator {
  const { span } = operator;
  const outer = carried.filter((column) => column !== ROW_COLUMN);
  const reference = (column: string): syntax.Expression => ({
    kind: "name",
    name: column,
    isPattern: false,
    span,
  });
  const kept = outer.map((column): syntax.Argument => {
    const call: syntax.Expression = {
      kind: "call",
      name: { name: "take_any", span },
      arguments: [{ names: [], value: reference(column), span }],
      span,
    };
    return { names: [{ name: column, span }], value: call, span };
  });
  return {
    ...operator,
    aggregates: [...operator.aggregates, ...kept],
    by: [...operator.by, { names: [], value: reference(ROW_COLUMN), span }],
  };
}
