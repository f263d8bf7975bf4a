import { isNullable, parameterAt, requiredCount, takes } from "../call.ts";
import { type ColumnReference, column, type Expression, isLoose } from "../expression.ts";
import type { Overload } from "../functions/definition.ts";
import { aggregateFunction } from "../functions/registry.ts";
import type { KeptTable } from "../kept.ts";
import { hasSqlNull } from "../scalar-type.ts";
import { TABLES, type TableName } from "../schema.ts";
import { unreachable } from "../unreachable.ts";
import type {
  Aggregate,
  AggregateCall,
  Expand,
  Extend,
  Filter,
  Join,
  KeptScan,
  Limit,
  NamedExpression,
  PlanColumn,
  Project,
  Relation,
  Scan,
  Series,
  Sort,
  SortKey,
  Union,
  Values,
  Window,
  WindowCall,
} from "./relation.ts";

// The constructors throw a TypeError for a plan that does not hang together: users' mistakes are found before.

export function scan(table: TableName): Scan {
  const columns = TABLES[table].columns.map(({ name, type, storage }) => {
    return { name, type, isNullable: false, isLoose: storage.kind === "bag" };
  });
  return { kind: "scan", table, columns };
}

/** The rows of a kept table; a column may be empty anywhere. */
export function keptScan(table: KeptTable): KeptScan {
  const columns = table.columns.map(({ name, type }) => ({ name, type, isNullable: hasSqlNull(type) }));
  checkUnique(columns);
  return { kind: "keptScan", table, columns };
}

export function values(columns: readonly PlanColumn[], rows: readonly (readonly Expression[])[]): Values {
  checkUnique(columns);
  if (rows.some((row) => row.some((cell, i) => cell.type !== columns[i]?.type)))
    throw new TypeError("a value is of another type than its column");
  return { kind: "values", columns, rows };
}

/** One row without columns: what `print` computes over. */
export function unitRow(): Values {
  return values([], [[]]);
}

export function series(name: string, start: Expression, step: Expression, count: number): Series {
  if (!Number.isSafeInteger(count) || count < 0) throw new TypeError(`no number of rows: ${count}`);
  return { kind: "series", columns: [{ name, type: start.type, isNullable: false }], start, step, count };
}

export function filter(input: Relation, predicate: Expression): Filter {
  checkReferences(predicate, input);
  if (predicate.type !== "bool") throw new TypeError(`a filter takes a bool, not a ${predicate.type}`);
  return { kind: "filter", input, predicate, columns: input.columns };
}

export function extend(input: Relation, assignments: readonly NamedExpression[]): Extend {
  const added = assignedColumns(input, assignments);
  const replaced = input.columns.map((old) => added.find((candidate) => candidate.name === old.name) ?? old);
  const appended = added.filter((candidate) => !input.columns.some((old) => old.name === candidate.name));
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

export function limit(input: Relation, maxRows: number, per: readonly string[] = []): Limit {
  if (!Number.isSafeInteger(maxRows) || maxRows < 0) throw new TypeError(`no number of rows: ${maxRows}`);
  for (const name of per) columnOf(input, name);
  return { kind: "limit", input, maxRows, per, columns: input.columns };
}

/** Throws a TypeError when the function does not take operands of exactly these types. */
export function aggregateCall(
  name: string,
  aggregate: string,
  ...operands: readonly Expression[]
): AggregateCall {
  const overload = aggregateFunction(aggregate)?.overloads.find(
    ({ parameters }) =>
      operands.length >= requiredCount(parameters) &&
      operands.every((operand, i) => {
        const parameter = parameterAt(parameters, i);
        return parameter !== undefined && takes(parameter, operand.type);
      }),
  );
  if (overload === undefined)
    throw new TypeError(`${aggregate} does not take (${operands.map(({ type }) => type).join(", ")})`);
  return aggregateOverload(name, aggregate, overload, operands);
}

/** A call whose operands have been matched with the parameters of the overload. */
export function aggregateOverload(
  name: string,
  aggregate: string,
  overload: Overload,
  operands: readonly Expression[],
): AggregateCall {
  const type = typeof overload.result === "function" ? overload.result(operands) : overload.result;
  return {
    name,
    aggregate,
    overload,
    operands,
    type,
    isNullable: isNullable(overload.nulls, type, operands),
  };
}

export function aggregate(
  input: Relation,
  keys: readonly NamedExpression[],
  aggregates: readonly AggregateCall[],
): Aggregate {
  for (const { operands } of aggregates) for (const operand of operands) checkReferences(operand, input);
  const calls = aggregates.map(({ name, type, isNullable, isLoose: loose }) => {
    return { name, type, isNullable, isLoose: loose === true };
  });
  const columns = [...assignedColumns(input, keys), ...calls];
  checkUnique(columns);
  if (keys.some(({ expression }) => expression.type === "dynamic"))
    throw new TypeError("a dynamic value is no key");
  return { kind: "aggregate", input, keys, aggregates, columns };
}

export function join(parts: Omit<Join, "kind" | "columns">): Join {
  for (const pair of parts.on)
    if (columnOf(parts.left, pair.left).type !== columnOf(parts.right, pair.right).type)
      throw new TypeError(`${pair.left} and ${pair.right} are of different types`);
  const { joinKind } = parts;
  const columns = [
    ...renamed(parts.left, parts.leftNames, joinKind === "right" || joinKind === "full"),
    ...renamed(parts.right, parts.rightNames, joinKind === "left" || joinKind === "full"),
  ];
  checkUnique(columns);
  return { kind: "join", ...parts, columns };
}

export function union(inputs: readonly Relation[]): Union {
  const [first, ...rest] = inputs;
  if (first === undefined) throw new TypeError("a union of nothing");
  const columns = first.columns.map(({ name, type }) => {
    const others = rest.map((input) => input.columns.find((candidate) => candidate.name === name));
    if (others.some((other) => other?.type !== type))
      throw new TypeError(`${name} is not the same everywhere`);
    const references = inputs.map((input) => columnOf(input, name));
    return {
      name,
      type,
      isNullable: references.some((reference) => reference.isNullable),
      isLoose: references.some(isLoose),
    };
  });
  if (rest.some((input) => input.columns.length !== columns.length))
    throw new TypeError("the inputs of a union have other columns");
  return { kind: "union", inputs, columns };
}

export function expand(
  input: Relation,
  expansions: Expand["expansions"],
  indexName: string | null = null,
  maxElements: number | null = null,
  members: Expand["members"] = "bags",
): Expand {
  for (const { expression } of expansions) {
    checkReferences(expression, input);
    if (expression.type !== "dynamic") throw new TypeError("only a dynamic value has elements");
  }
  const added = expansions.map(({ name, expression }): PlanColumn => {
    return { name, type: "dynamic", isNullable: false, isLoose: isLoose(expression) };
  });
  if (indexName !== null) added.push({ name: indexName, type: "long", isNullable: false });
  const kept = input.columns.map((old) => added.find(({ name }) => name === old.name) ?? old);
  const columns = [...kept, ...added.filter(({ name }) => !input.columns.some((old) => old.name === name))];
  checkUnique(columns);
  return { kind: "expand", input, expansions, indexName, maxElements, members, columns };
}

export function window(input: Relation, calls: readonly WindowCall[]): Window {
  for (const { operands, restart } of calls) {
    for (const operand of operands) checkReferences(operand, input);
    if (restart !== null) checkReferences(restart, input);
  }
  const columns = [
    ...input.columns,
    ...calls.map(({ name, type }) => ({ name, type, isNullable: hasSqlNull(type) })),
  ];
  checkUnique(columns);
  return { kind: "window", input, calls, columns };
}

/** A reference to a column of the relation. Throws a TypeError when it has none of that name. */
export function columnOf(relation: Relation, name: string): ColumnReference {
  const found = relation.columns.find((candidate) => candidate.name === name);
  if (found === undefined) throw new TypeError(`no column ${name}`);
  return column(found.name, found.type, found.isNullable, found.isLoose);
}

function renamed(side: Relation, names: ReadonlyMap<string, string>, isFilled: boolean): PlanColumn[] {
  return side.columns.flatMap((old) => {
    const name = names.get(old.name);
    return name === undefined
      ? []
      : [{ ...old, name, isNullable: old.isNullable || (isFilled && hasSqlNull(old.type)) }];
  });
}

function assignedColumns(input: Relation, assignments: readonly NamedExpression[]): PlanColumn[] {
  for (const { expression } of assignments) checkReferences(expression, input);
  const columns = assignments.map(({ name, expression }) => ({
    name,
    type: expression.type,
    isNullable: expression.isNullable,
    isLoose: isLoose(expression),
  }));
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
    case "scalarSubquery":
      break;
    case "column":
      if (columnOf(input, expression.name).type !== expression.type)
        throw new TypeError(`column ${expression.name} is not a ${expression.type}`);
      break;
    case "attribute":
      if (columnOf(input, expression.column).type !== "dynamic")
        throw new TypeError(`column ${expression.column} is no property bag`);
      break;
    case "inSubquery":
      checkReferences(expression.operand, input);
      break;
    case "call":
      for (const operand of expression.operands) checkReferences(operand, input);
      break;
    default:
      unreachable(expression);
  }
}
