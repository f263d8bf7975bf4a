import { type Expression, literal } from "../expression.ts";
import { columnOf, project, union } from "../plan/build.ts";
import type { NamedExpression, Relation } from "../plan/relation.ts";
import type { ScalarType } from "../scalar-type.ts";
import type * as syntax from "../syntax/tree.ts";
import { UniqueNames } from "./column-names.ts";
import { nullLiteral } from "./conversion.ts";
import type { Environment } from "./environment.ts";
import { refuse } from "./refusal.ts";

export interface Input {
  readonly name: string;
  readonly relation: Relation;
}

/** The rows of all tables; `kind=outer`, the default, has every column of any of them, `inner` those of all. */
export function bindUnion(
  input: Relation | null,
  operator: syntax.UnionOperator,
  environment: Environment,
): Relation {
  const piped: Input[] =
    input === null ? [] : [{ name: environment.aliasOf(input) ?? "union_arg0", relation: input }];
  const isFuzzy = parameterName(operator, "isfuzzy") === "true";
  const inputs = [...piped, ...bindInputs(operator.tables, piped.length, environment, isFuzzy)];
  const [first] = inputs;
  if (first === undefined) return refuse("SYNTAX", "union needs a table.", operator.span);
  const kind = parameterName(operator, "kind") ?? "outer";
  if (kind !== "outer" && kind !== "inner")
    return refuse("UNSUPPORTED", `union has no kind ${kind}.`, operator.span);
  const source = parameterName(operator, "withsource");
  return unite(inputs, { isInner: kind === "inner", source });
}

/** The rows of all inputs with the columns of any, or of all, of them; `source` is the name of a column for theirs. */
export function unite(
  inputs: readonly Input[],
  { isInner, source }: { readonly isInner: boolean; readonly source: string | null },
): Relation {
  const columns = unitedColumns(inputs, isInner);
  return union(
    inputs.map(({ name, relation }) => {
      const assignments = columns.map((column) => assignmentFrom(column, relation));
      const named: NamedExpression[] =
        source === null ? [] : [{ name: source, expression: literal("string", name) }];
      return project(relation, [...named, ...assignments.filter((assignment) => assignment.name !== source)]);
    }),
  );
}

function bindInputs(
  tables: readonly syntax.Expression[],
  before: number,
  environment: Environment,
  isFuzzy: boolean,
): Input[] {
  return tables.flatMap((table, i): Input[] => {
    if (table.kind === "name" && table.isPattern) {
      const matching = matchTables(table, environment);
      if (matching.length === 0 && !isFuzzy)
        return refuse("UNKNOWN_TABLE", `No table is called ${table.name}.`, table.span);
      return matching;
    }
    const relation = environment.table(table);
    return [{ name: nameOf(table, environment) ?? `union_arg${before + i}`, relation }];
  });
}

/** Tables and views go by their names, anything else by its place unless `as` names it. */
function nameOf(table: syntax.Expression, environment: Environment): string | null {
  if (table.kind === "name") {
    const named = environment.lookup(table.name);
    return named === undefined || named.kind === "function" ? table.name : null;
  }
  if (table.kind !== "pipeline") return null;
  const last = table.operators.at(-1);
  return last?.kind === "as" ? last.name.name : null;
}

/** `union logs*`: the tables, and the views of the query, whose names fit. */
function matchTables({ name, span }: syntax.NameExpression, environment: Environment): Input[] {
  const pattern = new RegExp(
    `^${name
      .split("*")
      .map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, "\\$&"))
      .join(".*")}$`,
  );
  const names = new Set([...environment.tableNames(), ...environment.viewNames()]);
  const matching = [...names].filter((table) => pattern.test(table));
  return matching.map((table) => ({
    name: table,
    relation: environment.table({ kind: "name", name: table, isPattern: false, span }),
  }));
}

function parameterName({ parameters }: syntax.UnionOperator, name: string): string | null {
  const value = parameters.find((parameter) => parameter.name.name === name)?.value;
  if (value?.kind === "name") return value.name;
  return value?.kind === "literal" ? String(value.value) : null;
}

interface UnitedColumn {
  readonly name: string;
  /** The name in the inputs. */
  readonly from: string;
  readonly type: ScalarType;
}

/** Columns by name and type; a name with several types becomes one column for each: `x_long`, `x_string`. */
function unitedColumns(inputs: readonly Input[], isInner: boolean): UnitedColumn[] {
  const types = new Map<string, Set<ScalarType>>();
  for (const { relation } of inputs)
    for (const { name, type } of relation.columns) types.set(name, (types.get(name) ?? new Set()).add(type));
  const names = new UniqueNames([...types].filter(([, of]) => of.size === 1).map(([name]) => name));
  return [...types].flatMap(([name, of]): UnitedColumn[] => {
    const isEverywhere = inputs.every(({ relation }) =>
      relation.columns.some((column) => column.name === name),
    );
    if (isInner && (!isEverywhere || of.size > 1)) return [];
    const [only, ...others] = of;
    if (only !== undefined && others.length === 0) return [{ name, from: name, type: only }];
    return [...of].map((type) => ({ name: names.claim(`${name}_${type}`), from: name, type }));
  });
}

function assignmentFrom({ name, from, type }: UnitedColumn, relation: Relation): NamedExpression {
  const has = relation.columns.some((column) => column.name === from && column.type === type);
  const expression: Expression = has ? columnOf(relation, from) : nullLiteral(type);
  return { name, expression };
}
