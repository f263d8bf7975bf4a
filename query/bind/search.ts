import { literal } from "../expression.ts";
import { columnOf, filter, project } from "../plan/build.ts";
import type { Relation } from "../plan/relation.ts";
import type * as syntax from "../syntax/tree.ts";
import { caseSensitive } from "./case-sensitive.ts";
import type { Environment } from "./environment.ts";
import { ExpressionContext } from "./expression-context.ts";
import { matchNames } from "./names.ts";
import { Refusal, refuse } from "./refusal.ts";
import { type Input, unite } from "./union.ts";

/** The column that says which table a row of `search` came from. */
const TABLE_COLUMN = "$table";

/** The rows of all tables, or of those named, in which the predicate is true; a text alone may stand in any column. */
export function bindSearch(
  input: Relation | null,
  operator: syntax.SearchOperator,
  environment: Environment,
): Relation {
  if (input !== null) return searched("search_arg0", input, operator, environment);
  const named = operator.tables.flatMap((table) => namedTables(table, environment));
  const found =
    operator.tables.length > 0
      ? named.map(({ name, table }) => ({
          name,
          relation: searched(name, environment.table(table), operator, environment),
        }))
      : searchedEverywhere(operator, environment);
  const [first, ...others] = found;
  if (first === undefined) return refuse("SYNTAX", "search needs a table.", operator.span);
  return others.length === 0 ? first.relation : unite(found, { isInner: false, source: null });
}

interface NamedTable {
  readonly name: string;
  readonly table: syntax.Expression;
}

/** A table by its name, or those whose names fit a pattern. */
function namedTables(table: syntax.Expression, environment: Environment): NamedTable[] {
  if (table.kind !== "name") return [{ name: "search_arg0", table }];
  if (!table.isPattern) return [{ name: table.name, table }];
  const names = matchNames(table.name, environment.tableNames());
  if (names.length === 0) return refuse("UNKNOWN_TABLE", `No table is called ${table.name}.`, table.span);
  return names.map((name) => ({ name, table: { ...table, name, isPattern: false } }));
}

/** Every stored table that may be read and has what the condition names, as in Kusto. */
function searchedEverywhere(operator: syntax.SearchOperator, environment: Environment): Input[] {
  let refusal: Refusal | null = null;
  // A condition looks in the logs alone, as long as not every column of the other tables can be looked into.
  const names = operator.predicate.kind === "star" ? [...environment.compilation.tables.keys()] : ["logs"];
  const found = names.flatMap((name): Input[] => {
    const table: syntax.Expression = { kind: "name", name, isPattern: false, span: operator.span };
    try {
      return [{ name, relation: searched(name, environment.table(table), operator, environment) }];
    } catch (error) {
      if (!(error instanceof Refusal) || error.problem.code !== "UNKNOWN_NAME") throw error;
      refusal ??= error;
      return [];
    }
  });
  if (found.length === 0 && refusal !== null) throw refusal;
  return found;
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
  // `search *` asks for everything.
  const matching =
    predicate.kind === "star"
      ? relation
      : filter(relation, context.predicate(isCaseSensitive ? caseSensitive(predicate) : predicate));
  const columns = matching.columns.filter((column) => column.name !== TABLE_COLUMN);
  return project(matching, [
    { name: TABLE_COLUMN, expression: literal("string", name) },
    ...columns.map((column) => ({ name: column.name, expression: columnOf(matching, column.name) })),
  ]);
}
