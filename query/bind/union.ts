import { type Expression, literal } from "../expression.ts";
import { MISSING_TABLES_MAX_COUNT } from "../limits.ts";
import { columnOf, project, union } from "../plan/build.ts";
import type { NamedExpression, Relation } from "../plan/relation.ts";
import type { ScalarType } from "../scalar-type.ts";
import type { Span } from "../span.ts";
import type * as syntax from "../syntax/tree.ts";
import { UniqueNames } from "./column-names.ts";
import { nullLiteral } from "./conversion.ts";
import type { Compilation, Environment } from "./environment.ts";
import { Refusal, refuse } from "./refusal.ts";

export interface Input {
  readonly name: string;
  readonly relation: Relation;
}

interface NamedTable {
  readonly name: string;
  readonly table: syntax.Expression;
}

/**
 * The rows of all tables, with `isfuzzy=true` of those that there are; `kind=outer`, the default, has every column of
 * any of them, `inner` those of all.
 */
export function bindUnion(
  input: Relation | null,
  operator: syntax.UnionOperator,
  environment: Environment,
): Relation {
  const piped: Input[] =
    input === null ? [] : [{ name: environment.aliasOf(input) ?? "union_arg0", relation: input }];
  const isFuzzy = parameterName(operator, "isfuzzy") === "true";
  const missing: Refusal[] = [];
  const bound = bindInputs(operator.tables, piped.length, environment, isFuzzy ? missing : null);
  const inputs = [...piped, ...bound];
  const [first] = inputs;
  if (first === undefined) throw missing[0] ?? noTable(operator.span);
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

function noTable(span: Span): Refusal {
  return new Refusal({ code: "SYNTAX", message: "union needs a table.", span, suggestion: null });
}

/** With `missing`, tables that there are not are left out and what is wrong with each is put there. */
function bindInputs(
  tables: readonly syntax.Expression[],
  before: number,
  environment: Environment,
  missing: Refusal[] | null,
): Input[] {
  const found = <T>(bind: () => T): T | null =>
    missing === null ? bind() : orMissing(bind, environment, missing);
  return tables.flatMap((table, i): Input[] => {
    const legs = found(() =>
      table.kind === "name" && table.isPattern
        ? matchTables(table, environment)
        : [{ name: nameOf(table, environment) ?? `union_arg${before + i}`, table }],
    );
    return (legs ?? []).flatMap(({ name, table: leg }) => {
      const relation = found(() => environment.table(leg));
      return relation === null ? [] : [{ name, relation }];
    });
  });
}

/** Null for what names a table that there is not, wherever in it: a leg may be a function that somebody keeps. */
function orMissing<T>(bind: () => T, { compilation }: Environment, missing: Refusal[]): T | null {
  const { scans, bareNames } = compilation;
  const namesBefore = bareNames.length;
  try {
    return bind();
  } catch (error) {
    if (!(error instanceof Refusal) || error.problem.code !== "UNKNOWN_TABLE") throw error;
    compilation.scans = scans;
    bareNames.splice(namesBefore);
    missing.push(error);
    noteMissing(error, compilation);
    return null;
  }
}

/** What lies in a kept function has no place in the query. */
function noteMissing({ problem: { message, span } }: Refusal, { calling, missingTables }: Compilation): void {
  const isKnown = missingTables.some((known) => known.message === message);
  if (!isKnown && missingTables.length < MISSING_TABLES_MAX_COUNT)
    missingTables.push({ message, span: calling.length === 0 ? span : null });
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
function matchTables({ name, span }: syntax.NameExpression, environment: Environment): NamedTable[] {
  const pattern = new RegExp(
    `^${name
      .split("*")
      .map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, "\\$&"))
      .join(".*")}$`,
  );
  const names = new Set([...environment.tableNames(), ...environment.viewNames()]);
  const matching = [...names].filter((table) => pattern.test(table));
  if (matching.length === 0) return refuse("UNKNOWN_TABLE", `No table is called ${name}.`, span);
  return matching.map((table) => ({
    name: table,
    table: { kind: "name", name: table, isPattern: false, span },
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
