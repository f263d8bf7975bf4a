import { fileTable } from "../file-source.ts";
import { expandedElements } from "../functions/expansion.ts";
import type { GuardedScan, Relation } from "../plan/relation.ts";
import { TABLES } from "../schema.ts";
import { type Bindings, identifiersOf } from "./binding.ts";
import { datetimeConstant, ExpressionWriter, type SelectContext } from "./expression-writer.ts";
import { layered, type NamedSql } from "./layers.ts";
import type { Parameters } from "./parameters.ts";
import type {
  BoundSortKey,
  Definition,
  JoinSource,
  SelectBlock,
  SeriesSource,
  TableSource,
  ValuesSource,
} from "./select-block.ts";
import type { PlanSplitter } from "./split-plan.ts";
import { nullableSqlType } from "./sql-types.ts";
import { writeWindow } from "./window-functions.ts";
import { wireColumn } from "./wire-format.ts";

/** What stands behind FROM. */
interface WrittenSource {
  readonly sql: string;
  /** The scan when the source is a table itself; a SELECT in brackets has restricted its own. */
  readonly scan: GuardedScan | null;
}

/** Writes the SELECTs of one statement. Whatever table is read, only the rows of its scope are. */
export class StatementWriter {
  readonly #parameters: Parameters;
  readonly #splitter: PlanSplitter;
  #tablesRead = 0;
  #tablesRestricted = 0;

  constructor(parameters: Parameters, splitter: PlanSplitter) {
    this.#parameters = parameters;
    this.#splitter = splitter;
  }

  /** The outermost SELECT, with its columns in their wire format. */
  writeOutermost(block: SelectBlock): string {
    const sql = this.#select(block, [...block.bindings.values()].map(wireColumn));
    if (this.#tablesRead !== this.#tablesRestricted)
      throw new TypeError("a table is read without its restriction");
    return sql;
  }

  #nested(block: SelectBlock): string {
    const identifiers = [...[...block.bindings.values()].flatMap(identifiersOf), ...block.hidden];
    return `(\n${this.#select(block, [...new Set(identifiers)])}\n)`;
  }

  #subquery(relation: Relation): string {
    return this.#nested(this.#splitter.split(relation));
  }

  #select(block: SelectBlock, columns: readonly string[]): string {
    const shared = new Map<string, string>();
    const context: SelectContext = {
      parameters: this.#parameters,
      shared,
      subquery: (relation) => this.#subquery(relation),
    };
    const definitions = block.definitions.map((definition) => ({
      alias: definition.alias,
      sql: this.#definition(context, definition),
      isOfRows: !OF_GROUPS.has(definition.kind),
    }));
    const source = this.#source(context, block);
    const conditions = this.#conditions(context, block);
    const sharedDefinitions = [...shared].map(([alias, sql]) => ({ alias, sql, isOfRows: true }));
    const layers = layered([...sharedDefinitions, ...definitions]);
    const own = layers.pop() ?? [];
    const inner = layers.reduce<WrittenSource>((below, layer) => {
      const lines = [`SELECT *, ${layer.map(named).join(", ")}`, ...this.#from(below, [])];
      return { sql: `(\n${lines.join("\n")}\n)`, scan: null };
    }, source);
    const { groupBy, orderBy, limitPer, maxRows } = block;
    return [
      ...(own.length > 0 ? [`WITH ${own.map(named).join(", ")}`] : []),
      `SELECT ${columns.length > 0 ? columns.join(", ") : "1"}`,
      ...this.#from(inner, conditions),
      ...(groupBy !== null && groupBy.length > 0 ? [`GROUP BY ${groupBy.join(", ")}`] : []),
      ...(orderBy.length > 0 ? [`ORDER BY ${orderBy.map(sortKey).join(", ")}`] : []),
      ...(limitPer !== null
        ? [`LIMIT ${this.#count(limitPer.maxRows)} BY ${limitPer.identifiers.join(", ")}`]
        : []),
      ...(maxRows !== null ? [`LIMIT ${this.#count(maxRows)}`] : []),
    ].join("\n");
  }

  /** FROM and WHERE, which are written nowhere else: of a table, only the rows of its scope are read. */
  #from({ sql, scan }: WrittenSource, conditions: readonly string[]): string[] {
    const restriction = scan === null ? [] : this.#restriction(scan);
    const where = [...restriction, ...conditions];
    return [`FROM ${sql}`, ...(where.length > 0 ? [`WHERE ${where.join(" AND ")}`] : [])];
  }

  #source(context: SelectContext, block: SelectBlock): WrittenSource {
    const { source } = block;
    if (source.kind === "table") return { sql: this.#table(source.scan), scan: source.scan };
    return { sql: this.#madeSource(context, block, source), scan: null };
  }

  #madeSource(
    context: SelectContext,
    block: SelectBlock,
    source: Exclude<SelectBlock["source"], TableSource>,
  ): string {
    switch (source.kind) {
      case "block":
        return this.#nested(source.block) + expansion(context, block);
      case "join":
        return this.#join(source);
      case "union":
        return `(\n${source.branches.map((branch) => this.#nested(branch).slice(2, -2)).join("\nUNION ALL\n")}\n)`;
      case "values":
        return values(context, source);
      case "series":
        return this.#series(context, source);
    }
  }

  #table({ table: name, scope: { files } }: GuardedScan): string {
    this.#tablesRead++;
    const { table } = TABLES[name];
    return files === undefined ? table : fileTable(files, (text) => this.#parameters.add("String", text));
  }

  #join({ joinKind, left, right, on }: JoinSource): string {
    const pairs = on.map((pair) => `${pair.left} ${pair.isNullable ? "<=>" : "="} ${pair.right}`);
    return `${this.#nested(left)} AS l\n${JOINS[joinKind]} JOIN ${this.#nested(right)} AS r ON ${pairs.join(" AND ")}`;
  }

  #series(context: SelectContext, { alias, start, step, count }: SeriesSource): string {
    const writer = new ExpressionWriter(context, start.bindings);
    const [first, increment] = [start, step].map(({ expression }) => writer.write(expression));
    const rows = `SELECT number FROM numbers(${this.#count(count)})`;
    const value =
      start.expression.type === "datetime"
        ? `fromUnixTimestamp64Nano(toUnixTimestamp64Nano(${first}) + toInt64(number) * ${increment}, 'UTC')`
        : `${first} + toInt64(number) * ${increment}`;
    return `(SELECT ${SERIES_CAST[start.expression.type] ?? ""}(${value}) AS ${alias} FROM (${rows}))`;
  }

  #conditions(context: SelectContext, { where }: SelectBlock): string[] {
    return where.map(({ expression, bindings }) =>
      new ExpressionWriter(context, bindings).writeCondition(expression),
    );
  }

  #restriction({ table: name, scope: { organizationId, timeRange } }: GuardedScan): string[] {
    this.#tablesRestricted++;
    const table = TABLES[name];
    const from = timeRange.from === null ? null : datetimeConstant(this.#parameters, timeRange.from);
    const to = timeRange.to === null ? null : datetimeConstant(this.#parameters, timeRange.to);
    return [
      `${table.organizationColumn} = ${this.#parameters.add("UInt32", String(organizationId))}`,
      ...(from === null ? [] : [`${table.timeColumn} >= ${from}`]),
      ...(to === null ? [] : [`${table.timeColumn} <= ${to}`]),
    ];
  }

  #definition(context: SelectContext, definition: Definition): string {
    switch (definition.kind) {
      case "scalar": {
        const { expression, bindings } = definition.value;
        return new ExpressionWriter(context, bindings).write(expression);
      }
      case "strings": {
        const { expression, bindings } = definition.value;
        return new ExpressionWriter(context, bindings).writeStrings(expression);
      }
      case "groupingKey": {
        const { expression, bindings } = definition.value;
        return new ExpressionWriter(context, bindings).writeGrouping(expression).key;
      }
      case "groupingValue": {
        const { expression, bindings } = definition.value;
        return new ExpressionWriter(context, bindings).writeGrouping(expression).result(definition.key);
      }
      case "aggregate":
        return new ExpressionWriter(context, definition.bindings).writeCall(definition.call);
      case "renamed":
        return definition.identifier;
      case "filled":
        return `ifNull(${definition.identifier}, '')`;
      case "ordinal":
        return `row_number() OVER (${orderClause(definition.orderBy)})`;
      case "section": {
        const { expression, bindings } = definition.restart;
        const restart = new ExpressionWriter(context, bindings).write(expression);
        return `countIf(${restart}) OVER (ORDER BY ${definition.ordinal} ROWS UNBOUNDED PRECEDING)`;
      }
      case "window":
        return writeWindow(new ExpressionWriter(context, definition.bindings), definition);
    }
  }

  #count(rows: number): string {
    return this.#parameters.add("UInt64", String(rows));
  }
}

/** What is computed after the rows are filtered, of many of them. */
const OF_GROUPS: ReadonlySet<Definition["kind"]> = new Set(["aggregate", "groupingValue", "window"]);

function named({ sql, alias }: NamedSql): string {
  return `${sql} AS ${alias}`;
}

const JOINS: Readonly<Record<JoinSource["joinKind"], string>> = {
  inner: "INNER",
  left: "LEFT",
  right: "RIGHT",
  full: "FULL OUTER",
  leftSemi: "LEFT SEMI",
  leftAnti: "LEFT ANTI",
};

const SERIES_CAST: Readonly<Partial<Record<string, string>>> = {
  int: "toInt32",
  long: "toInt64",
  timespan: "toInt64",
};

/** One row for each element, `ARRAY JOIN`, of the block's source. */
function expansion(context: SelectContext, block: SelectBlock): string {
  const { expansions, expansionIndex, expansionMax } = block;
  if (expansions.length === 0) return "";
  const arrays = expansions.map(({ alias, value, isOfTexts }) => {
    const writer = new ExpressionWriter(context, value.bindings);
    const elements = isOfTexts
      ? writer.writeStrings(value.expression)
      : expandedElements(writer.share(writer.write(value.expression)), block.expansionMembers);
    const sql =
      expansionMax === null
        ? elements
        : `arraySlice(${elements}, 1, ${context.parameters.add("UInt64", String(expansionMax))})`;
    return { alias, sql: writer.share(sql) };
  });
  const index =
    expansionIndex === null
      ? []
      : [
          `arrayMap(i -> toInt64(i - 1), arrayEnumerate(${longest(arrays.map(({ sql }) => sql))})) AS ${expansionIndex}`,
        ];
  return `\nARRAY JOIN ${[...arrays.map(({ alias, sql }) => `${sql} AS ${alias}`), ...index].join(", ")}`;
}

function longest(arrays: readonly string[]): string {
  return arrays.reduce((left, right) => `if(length(${left}) >= length(${right}), ${left}, ${right})`);
}

/** Rows that stand in the query, column by column. */
function values(context: SelectContext, { columns, rowCount }: ValuesSource): string {
  if (columns.length === 0) return rowCount === 1 ? "(SELECT 1)" : `(SELECT 1 FROM numbers(${rowCount}))`;
  const writer = new ExpressionWriter(context, NO_COLUMNS);
  const arrays = columns.map(({ alias, type, cells }) => {
    const items = cells.map(({ expression }) => writer.write(expression));
    return `CAST([${items.join(", ")}], 'Array(${nullableSqlType(type)})') AS ${alias}`;
  });
  return `(SELECT 1) ARRAY JOIN ${arrays.join(", ")}`;
}

const NO_COLUMNS: Bindings = new Map();

function sortKey({ identifier, isNullable, direction, nulls }: BoundSortKey): string {
  const order = `${identifier}${direction === "descending" ? " DESC" : ""}`;
  if (!isNullable) return order;
  return `${order}${direction === "ascending" ? " ASC" : ""} NULLS ${nulls === "first" ? "FIRST" : "LAST"}`;
}

function orderClause(keys: readonly BoundSortKey[]): string {
  return keys.length === 0 ? "" : `ORDER BY ${keys.map(sortKey).join(", ")}`;
}
