import { literal } from "../expression.ts";
import { columnOf, filter, project, union } from "../plan/build.ts";
import type { Relation } from "../plan/relation.ts";
import type * as syntax from "../syntax/tree.ts";
import { caseSensitive } from "./case-sensitive.ts";
import type { Environment } from "./environment.ts";
import { ExpressionContext } from "./expression-context.ts";
import { refuse } from "./refusal.ts";

/** The column that says which table a row of `search` came from. */
const TABLE_COLUMN = "$table";

/** The rows of all tables, or of those named, in which the predicate is true; a text alone may stand in any column. */
export function bindSearch(
  input: Relation | null,
  operator: syntax.SearchOperator,
  environment: Environment,
): Relation {
  if (input !== null) return searched("search_arg0", input, operator, environment);
  const tables =
    operator.tables.length > 0
      ? operator.tables.map((table) => ({ name: table.kind === "name" ? table.name : "search_arg0", table }))
      : [{ name: "logs", table: defaultTable(operator) }];
  const found = tables.map(({ name, table }) =>
    searched(name, environment.table(table), operator, environment),
  );
  const [first, ...others] = found;
  if (first === undefined) return refuse("SYNTAX", "search needs a table.", operator.span);
  return others.length === 0 ? first : union(found);
}

function defaultTable({ span }: syntax.SearchOperator): syntax.Expression {
  return { kind: "name", name: "logs", isPattern: false, span };
}

function searched(
  name: string,
  relation: Relation,
  { predicate, parameters }: syntax.SearchOperator,
  environment: Environment,
): Relation {
  const kind = parameters.find(({ name }) => name.name === "kind")?.value;
  const isCaseSensitive = kind?.kind === "name" && kind.name === "case_sensitive";
  const context = new ExpressionContext(environment, relation);
  const condition = context.predicate(isCaseSensitive ? caseSensitive(predicate) : predicate);
  const matching = filter(relation, condition);
  const columns = matching.columns.filter((column) => column.name !== TABLE_COLUMN);
  return project(matching, [
    { name: TABLE_COLUMN, expression: literal("string", name) },
    ...columns.map((column) => ({ name: column.name, expression: columnOf(matching, column.name) })),
  ]);
}
