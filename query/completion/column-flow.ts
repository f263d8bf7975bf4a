import { impliedName } from "../bind/column-names.ts";
import type {
  Argument,
  Expression,
  FunctionDeclaration,
  Operator,
  PipelineExpression,
} from "../syntax/tree.ts";
import type { CompletionVocabulary, NamedColumn } from "./vocabulary.ts";

type Columns = readonly NamedColumn[];

/** Subqueries and names inside one another that are followed: the stack, and nobody reads more. */
const FLOW_MAX_DEPTH = 16;

/** Columns of a table that are followed: time, where tables with many columns are joined again and again. */
const COLUMNS_MAX_COUNT = 1000;

/** The columns of tables, as far as the text tells: types and functions are not looked up. */
export class ColumnFlow {
  readonly #tables: ReadonlyMap<string, Columns>;
  readonly #lets: ReadonlyMap<string, Expression | FunctionDeclaration>;
  /** What is known of the names of `let`; null also for one that is being looked at, which can mean itself. */
  readonly #known = new Map<string, Columns | null>();
  #depth = 0;

  constructor(vocabulary: CompletionVocabulary, lets: ReadonlyMap<string, Expression | FunctionDeclaration>) {
    this.#tables = new Map(vocabulary.tables?.map(({ name, columns }) => [name, columns]));
    this.#lets = lets;
  }

  /** The columns of a table; null for what is none, or is unknown. `rows` are those of operators without a source. */
  columnsOf(table: Expression | FunctionDeclaration, rows: Columns): Columns | null {
    if (this.#depth >= FLOW_MAX_DEPTH) return null;
    this.#depth++;
    const columns = this.#columnsOf(table, rows);
    this.#depth--;
    return columns;
  }

  #letColumns(name: string, value: Expression | FunctionDeclaration, rows: Columns): Columns | null {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    this.#known.set(name, null);
    const columns = this.columnsOf(value, rows);
    this.#known.set(name, columns);
    return columns;
  }

  #columnsOf(table: Expression | FunctionDeclaration, rows: Columns): Columns | null {
    switch (table.kind) {
      case "name": {
        const named = this.#lets.get(table.name);
        return named === undefined
          ? (this.#tables.get(table.name) ?? null)
          : this.#letColumns(table.name, named, rows);
      }
      case "function":
        return this.columnsOf(table.body, rows);
      case "datatable":
      case "externaldata":
        return table.columns.map(({ name, type }) => ({ name: name.name, type: type.name }));
      case "pipeline":
        return this.#pipeline(table, rows);
      case "call": {
        const named = this.#lets.get(table.name.name);
        if (named !== undefined) return this.#letColumns(table.name.name, named, rows);
        const [first] = table.arguments;
        return table.name.name === "materialize" && first !== undefined
          ? this.columnsOf(first.value, rows)
          : null;
      }
      default:
        return null;
    }
  }

  #pipeline({ source, operators }: PipelineExpression, rows: Columns): Columns | null {
    let columns = source === null ? rows : this.columnsOf(source, rows);
    for (const operator of operators)
      columns = this.#after(operator, columns ?? []).slice(0, COLUMNS_MAX_COUNT);
    return columns;
  }

  #after(operator: Operator, input: Columns): Columns {
    switch (operator.kind) {
      case "extend":
      case "serialize":
        return withColumns(input, named(operator.assignments, input));
      case "project":
      case "print":
        return named(operator.assignments, input);
      case "distinct":
        return operator.columns.some(({ value }) => value.kind === "star")
          ? input
          : named(operator.columns, input);
      case "project-away":
        return input.filter(({ name }) => !matchesAny(name, operator.names));
      case "project-keep":
        return input.filter(({ name }) => matchesAny(name, operator.names));
      case "project-rename":
        return renamed(input, operator.assignments);
      case "summarize":
        return withColumns(named(operator.by, input), named(operator.aggregates, input));
      case "count":
        return [{ name: operator.as?.name ?? "Count", type: "long" }];
      case "make-series":
        return named(
          [...operator.by, operator.on, ...operator.aggregates.map(({ argument }) => argument)],
          input,
        );
      case "sample-distinct":
      case "top-hitters":
        return named([{ names: [], value: operator.of, span: operator.span }], input);
      case "join":
      case "lookup":
        return withColumns(input, this.columnsOf(operator.right, input) ?? []);
      case "union":
        return operator.tables.reduce(
          (all, table) => withColumns(all, this.columnsOf(table, input) ?? []),
          input,
        );
      case "range":
        return [{ name: operator.name.name, type: null }];
      case "parse":
      case "parse-where":
        return withColumns(
          input,
          operator.pattern.flatMap((part) =>
            part.kind === "column" ? [{ name: part.name.name, type: part.type?.name ?? "string" }] : [],
          ),
        );
      case "parse-kv":
        return withColumns(
          input,
          operator.columns.map(({ name, type }) => ({ name: name.name, type: type.name })),
        );
      case "mv-expand":
      case "mv-apply":
        return withColumns(
          input,
          named(
            operator.columns.map(({ argument }) => argument),
            input,
          ),
        );
      case "getschema":
        return ["ColumnName", "ColumnOrdinal", "DataType", "ColumnType"].map((name) => ({
          name,
          type: null,
        }));
      default:
        return input;
    }
  }
}

/** The columns that assignments make; those without a name of their own or an implied one are left out. */
function named(assignments: readonly Argument[], input: Columns): Columns {
  return assignments.flatMap(({ names, value }) => {
    const type = value.kind === "name" ? (input.find(({ name }) => name === value.name)?.type ?? null) : null;
    if (names.length > 0) return names.map(({ name }) => ({ name, type }));
    const name = impliedName(value) ?? (value.kind === "call" ? `${value.name.name}_` : null);
    return name === null ? [] : [{ name, type }];
  });
}

function withColumns(columns: Columns, more: Columns): Columns {
  const names = new Set(more.map(({ name }) => name));
  return [...columns.filter(({ name }) => !names.has(name)), ...more].slice(0, COLUMNS_MAX_COUNT);
}

function renamed(columns: Columns, assignments: readonly Argument[]): Columns {
  const names = new Map(
    assignments.flatMap(({ names: [to], value }) =>
      to !== undefined && value.kind === "name" ? [[value.name, to.name] as const] : [],
    ),
  );
  return columns.map((column) => ({ ...column, name: names.get(column.name) ?? column.name }));
}

function matchesAny(name: string, patterns: readonly { readonly expression: Expression }[]): boolean {
  return patterns.some(({ expression }) => expression.kind === "name" && matches(name, expression.name));
}

/** `*` stands for any characters; the parts between the stars are looked for from left to right. */
function matches(name: string, pattern: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return name === pattern;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}
