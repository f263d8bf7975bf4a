import { type ColumnReference, column, type Expression } from "./expression.ts";
import { AGGREGATE_FUNCTIONS, type AggregateFunctionName } from "./functions.ts";
import type { ScalarType } from "./scalar-type.ts";
import { TABLES, type TableName } from "./schema.ts";
import { unreachable } from "./unreachable.ts";

/** One column of a relation; names are unique within it and their order is the order of the answer. */
export interface PlanColumn {
  readonly name: string;
  readonly type: ScalarType;
}

export interface NamedExpression {
  readonly name: string;
  readonly expression: Expression;
}

export interface SortKey {
  readonly expression: Expression;
  readonly direction: "ascending" | "descending";
}

export interface AggregateCall {
  readonly name: string;
  readonly aggregate: AggregateFunctionName;
  readonly operands: readonly Expression[];
  readonly type: ScalarType;
}

interface RelationNode<Kind extends string> {
  readonly kind: Kind;
  readonly columns: readonly PlanColumn[];
}

/** All rows of a table that the guard lets through. */
export interface Scan extends RelationNode<"scan"> {
  readonly table: TableName;
}

/** The rows for which the predicate is true. */
export interface Filter extends RelationNode<"filter"> {
  readonly input: Relation;
  readonly predicate: Expression;
}

/** Computes columns beside those of the input; one with the name of an existing column takes its place. */
export interface Extend extends RelationNode<"extend"> {
  readonly input: Relation;
  readonly assignments: readonly NamedExpression[];
}

/** Computes the columns of the answer; the others are gone. */
export interface Project extends RelationNode<"project"> {
  readonly input: Relation;
  readonly assignments: readonly NamedExpression[];
}

/** Orders the rows; nulls count as the smallest value, as in Kusto. */
export interface Sort extends RelationNode<"sort"> {
  readonly input: Relation;
  readonly keys: readonly SortKey[];
}

/** The first rows, in the order of the input or, without one, any. */
export interface Limit extends RelationNode<"limit"> {
  readonly input: Relation;
  readonly maxRows: number;
}

/** One row per distinct combination of the keys, which are not dynamic; without keys exactly one row. */
export interface Aggregate extends RelationNode<"aggregate"> {
  readonly input: Relation;
  readonly keys: readonly NamedExpression[];
  readonly aggregates: readonly AggregateCall[];
}

/** A tabular expression: an immutable tree. A new kind does not compile until every table over kinds has it. */
export type Relation = Scan | Filter | Extend | Project | Sort | Limit | Aggregate;

// The constructors throw a TypeError for a plan that does not hang together: users' mistakes are found before.

export function scan(table: TableName): Scan {
  return { kind: "scan", table, columns: TABLES[table].columns.map(({ name, type }) => ({ name, type })) };
}

export function filter(input: Relation, predicate: Expression): Filter {
  checkReferences(predicate, input);
  if (predicate.type !== "bool") throw new TypeError(`a filter takes a bool, not a ${predicate.type}`);
  return { kind: "filter", input, predicate, columns: input.columns };
}

export function extend(input: Relation, assignments: readonly NamedExpression[]): Extend {
  const added = assignedColumns(input, assignments);
  const replaced = input.columns.map((old) => added.find((column) => column.name === old.name) ?? old);
  const appended = added.filter((column) => !input.columns.some((old) => old.name === column.name));
  return { kind: "extend", input, assignments, columns: [...replaced, ...appended] };
}

export function project(input: Relation, assignments: readonly NamedExpression[]): Project {
  return { kind: "project", input, assignments, columns: assignedColumns(input, assignments) };
}

/** Keeps the columns of these names. */
export function keep(input: Relation, names: readonly string[]): Project {
  return project(
    input,
    names.map((name) => ({ name, expression: columnOf(input, name) })),
  );
}

export function sort(input: Relation, keys: readonly SortKey[]): Sort {
  for (const key of keys) checkReferences(key.expression, input);
  return { kind: "sort", input, keys, columns: input.columns };
}

export function limit(input: Relation, maxRows: number): Limit {
  if (!Number.isSafeInteger(maxRows) || maxRows < 0) throw new TypeError(`no number of rows: ${maxRows}`);
  return { kind: "limit", input, maxRows, columns: input.columns };
}

export function aggregateCall(
  name: string,
  aggregate: AggregateFunctionName,
  ...operands: readonly Expression[]
): AggregateCall {
  const types = operands.map((operand) => operand.type);
  const type = AGGREGATE_FUNCTIONS[aggregate].resultType(types);
  if (type === undefined) throw new TypeError(`${aggregate} does not take (${types.join(", ")})`);
  return { name, aggregate, operands, type };
}

export function aggregate(
  input: Relation,
  keys: readonly NamedExpression[],
  aggregates: readonly AggregateCall[],
): Aggregate {
  for (const { operands } of aggregates) for (const operand of operands) checkReferences(operand, input);
  const columns = [...assignedColumns(input, keys), ...aggregates.map(({ name, type }) => ({ name, type }))];
  checkUnique(columns);
  if (keys.some(({ expression }) => expression.type === "dynamic"))
    throw new TypeError("a dynamic value is no key");
  return { kind: "aggregate", input, keys, aggregates, columns };
}

/** A reference to a column of the relation. Throws a TypeError when it has none of that name. */
export function columnOf(relation: Relation, name: string): ColumnReference {
  const found = relation.columns.find((candidate) => candidate.name === name);
  if (found === undefined) throw new TypeError(`no column ${name}`);
  return column(found.name, found.type);
}

function assignedColumns(input: Relation, assignments: readonly NamedExpression[]): PlanColumn[] {
  for (const { expression } of assignments) checkReferences(expression, input);
  const columns = assignments.map(({ name, expression }) => ({ name, type: expression.type }));
  checkUnique(columns);
  return columns;
}

function checkUnique(columns: readonly PlanColumn[]): void {
  const names = new Set(columns.map((candidate) => candidate.name));
  if (names.size < columns.length) throw new TypeError("two columns of one name");
}

function checkReferences(expression: Expression, input: Relation): void {
  switch (expression.kind) {
    case "literal":
      break;
    case "column":
      if (columnOf(input, expression.name).type !== expression.type)
        throw new TypeError(`column ${expression.name} is not a ${expression.type}`);
      break;
    case "attribute":
      if (columnOf(input, expression.column).type !== "dynamic")
        throw new TypeError(`column ${expression.column} is no property bag`);
      break;
    case "call":
      for (const operand of expression.operands) checkReferences(operand, input);
      break;
    default:
      unreachable(expression);
  }
}
