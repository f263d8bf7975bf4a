import { type FileSource, fileTable } from "../file-source.ts";
import { KEPT_ROWS } from "../kept.ts";
import { columnOf } from "../plan/build.ts";
import type { ArchivedRows, GuardedScan, Relation } from "../plan/relation.ts";
import { TABLES } from "../schema.ts";
import { expansion, values } from "./array-join.ts";
import { columnsOfMap } from "./attribute-definitions.ts";
import { attributeIdentifiers, bindingOf, identifiersOf, storedBinding } from "./binding.ts";
import { ExpressionWriter, type SelectContext } from "./expression-writer.ts";
import { indexedWords } from "./indexed-words.ts";
import { JOINS } from "./join-words.ts";
import { type Layer, layered, type NamedSql, OF_GROUP } from "./layers.ts";
import { sortKey } from "./order-clause.ts";
import type { Parameters } from "./parameters.ts";
import { restriction } from "./restriction.ts";
import type {
  Definition,
  JoinSource,
  SelectBlock,
  SeriesSource,
  Source,
  StoredScan,
  TableSource,
} from "./select-block.ts";
import type { PlanSplitter } from "./split-plan.ts";
import { wireColumn } from "./wire-format.ts";
import { writeDefinition } from "./write-definition.ts";

/** What stands behind FROM. */
interface WrittenSource {
  readonly sql: string;
  /** The scan when the source is a table itself; a SELECT in brackets has restricted its own. */
  readonly scan: StoredScan | null;
  /** Columns that `*` does not stand for: those that ARRAY JOIN makes, or the store of other columns. */
  readonly beyondStar: readonly string[];
}

/** Writes the SELECTs of one statement. Whatever table is read, only the rows of its scope are. */
export class StatementWriter {
  readonly #parameters: Parameters;
  readonly #splitter: PlanSplitter;
  /** The keys that the statement looks for in the map of attributes, or in their columns. */
  readonly attributes = new Set<string>();
  /** Whether the statement looks for words of messages in their index. */
  readsWords = false;
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

  /** The SELECT of a table's one column as a value, however the column is kept: attributes, for one, are two in SQL. */
  #scalar(relation: Relation): string {
    const block = this.#splitter.split(relation);
    const rows = this.#nested(block);
    const name = relation.columns[0]?.name ?? "";
    if (bindingOf(block.bindings, name).storage.kind === "plain") return rows;
    const shared = new Map<string, string>();
    const value = new ExpressionWriter(this.#context(shared), block.bindings).write(columnOf(relation, name));
    const { inner, own } = this.#layers({ sql: rows, scan: null, beyondStar: [] }, namedSql(shared), []);
    const made = own.definitions.length > 0 ? `WITH ${own.definitions.map(named).join(", ")}\n` : "";
    return `(\n${made}SELECT ${value}\nFROM ${inner.sql}\n)`;
  }

  #context(shared: Map<string, string>): SelectContext {
    return {
      parameters: this.#parameters,
      shared,
      readsAttribute: (key) => this.attributes.add(key),
      subquery: (relation) => this.#subquery(relation),
      scalar: (relation) => this.#scalar(relation),
    };
  }

  #select(block: SelectBlock, columns: readonly string[]): string {
    const shared = new Map<string, string>();
    const context = this.#context(shared);
    const definitions = block.definitions.map((definition) => ({
      alias: definition.alias,
      sql: writeDefinition(context, definition),
      isOfRows: !OF_GROUPS.has(definition.kind),
    }));
    const source = this.#source(context, block);
    const conditions = this.#conditions(context, block);
    const { inner, own } = this.#layers(source, [...namedSql(shared), ...definitions], conditions);
    const { groupBy, orderBy, limitPer, maxRows } = block;
    return [
      ...(own.definitions.length > 0 ? [`WITH ${own.definitions.map(named).join(", ")}`] : []),
      `SELECT ${columns.length > 0 ? columns.join(", ") : "1"}`,
      ...this.#from(inner, own.conditions),
      ...(groupBy !== null && groupBy.length > 0 ? [`GROUP BY ${groupBy.join(", ")}`] : []),
      ...(orderBy.length > 0 ? [`ORDER BY ${orderBy.map(sortKey).join(", ")}`] : []),
      ...(limitPer !== null
        ? [`LIMIT ${this.#count(limitPer.maxRows)} BY ${limitPer.identifiers.join(", ")}`]
        : []),
      ...(maxRows !== null ? [`LIMIT ${this.#count(maxRows)}`] : []),
    ].join("\n");
  }

  /** The SELECTs that stand between the source and the one that is written, and what is left for this one. */
  #layers(
    source: WrittenSource,
    definitions: readonly NamedSql[],
    conditions: readonly string[],
  ): { readonly inner: WrittenSource; readonly own: Layer } {
    const layers = layered(definitions, conditions);
    const own = layers.pop() ?? { definitions, conditions };
    const inner = layers.reduce<WrittenSource>((below, layer) => {
      const columns = ["*", ...below.beyondStar, ...layer.definitions.map(named)];
      const lines = [`SELECT ${columns.join(", ")}`, ...this.#from(below, layer.conditions)];
      return { sql: `(\n${lines.join("\n")}\n)`, scan: null, beyondStar: [] };
    }, source);
    return { inner, own };
  }

  /** FROM and WHERE, which are written nowhere else: of a table, only the rows of its scope are read. */
  #from({ sql, scan }: Omit<WrittenSource, "beyondStar">, conditions: readonly string[]): string[] {
    const restriction = scan === null ? [] : this.#restriction(scan);
    const where = [...restriction, ...conditions];
    return [`FROM ${sql}`, ...(where.length > 0 ? [`WHERE ${where.join(" AND ")}`] : [])];
  }

  #source(context: SelectContext, block: SelectBlock): WrittenSource {
    const { source } = block;
    if (source.kind === "table") return this.#stored(source.scan);
    const beyondStar = arrayJoinedColumns(block, source);
    return { sql: this.#madeSource(context, block, source), scan: null, beyondStar };
  }

  #madeSource(
    context: SelectContext,
    block: SelectBlock,
    source: Exclude<SelectBlock["source"], TableSource>,
  ): string {
    switch (source.kind) {
      case "block":
        return this.#over(context, this.#nested(source.block), (own) => expansion(own, block));
      case "join":
        return this.#join(source);
      case "union":
        return `(\n${source.branches.map((branch) => this.#nested(branch).slice(2, -2)).join("\nUNION ALL\n")}\n)`;
      case "values":
        return source.columns.length > 0
          ? this.#over(context, "(SELECT 1)", (own) => values(own, source))
          : source.rowCount === 1
            ? "(SELECT 1)"
            : `(SELECT 1 FROM numbers(${source.rowCount}))`;
      case "series":
        return this.#series(context, source);
    }
  }

  /** Rows, and what `write` adds to them, which cannot wait for the SELECTs above: its chains are cut below it. */
  #over(context: SelectContext, rows: string, write: (own: SelectContext) => string): string {
    const shared = new Map<string, string>();
    const added = write({ ...context, shared });
    const { inner, own } = this.#layers({ sql: rows, scan: null, beyondStar: [] }, namedSql(shared), []);
    for (const { alias, sql } of own.definitions) context.shared.set(alias, sql);
    return inner.sql + added;
  }

  #stored(scan: StoredScan): WrittenSource {
    if (scan.kind === "guardedKeptScan") {
      this.#tablesRead++;
      return { sql: KEPT_ROWS.table, scan, beyondStar: [] };
    }
    const { archived, files, attributeColumns } = scan.scope;
    if (archived !== undefined)
      return { sql: this.#storedAndArchived(scan, archived), scan: null, beyondStar: [] };
    const beyondStar = files === undefined ? attributeIdentifiers(attributeColumns) : [];
    return { sql: this.#table(scan), scan, beyondStar };
  }

  /** The rows of the table and of the files as one source; ClickHouse reads only the columns that are asked of it. */
  #storedAndArchived(scan: GuardedScan, { files, moving }: ArchivedRows): string {
    const { columns, idColumn } = TABLES[scan.table];
    const rowsIn = (source: FileSource): string[] => {
      const inFiles: GuardedScan = { ...scan, scope: { ...scan.scope, files: source } };
      return this.#from({ sql: this.#table(inFiles), scan: inFiles }, []);
    };
    const moved =
      moving === null
        ? []
        : [`${idColumn} NOT IN (\n${[`SELECT ${idColumn}`, ...rowsIn(moving)].join("\n")}\n)`];
    const { attributeColumns } = scan.scope;
    const select = (attributes: readonly string[]): string => {
      const stored = columns.map((column) => storedBinding(column)).flatMap(identifiersOf);
      return `SELECT ${[...stored, ...attributes].join(", ")}`;
    };
    const branches = [
      [
        select(attributeIdentifiers(attributeColumns)),
        ...this.#from({ sql: this.#table(scan), scan }, moved),
      ],
      [
        select(columnsOfMap(attributeColumns ?? new Map(), (key) => this.#parameters.add("String", key))),
        ...rowsIn(files),
      ],
    ];
    return `(\n${branches.map((lines) => lines.join("\n")).join("\nUNION ALL\n")}\n)`;
  }

  #table({ table: name, scope: { files } }: GuardedScan): string {
    this.#tablesRead++;
    const { table } = TABLES[name];
    return files === undefined ? table : fileTable(files, (text) => this.#parameters.add("String", text));
  }

  #join({ joinKind, left, right, on }: JoinSource): string {
    const pairs = on.map(({ left, right, type, isNullable }) => {
      // A stored number may be unsigned, which the store does not compare with another in a join.
      const [first, second] = type === "long" ? [`toInt64(${left})`, `toInt64(${right})`] : [left, right];
      return `${first} ${isNullable ? "<=>" : "="} ${second}`;
    });
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

  #conditions(context: SelectContext, { source, where }: SelectBlock): string[] {
    const words = indexedWords(source, () => {
      this.readsWords = true;
    });
    const own = words === undefined ? context : { ...context, words };
    return where.map(({ expression, bindings }) =>
      new ExpressionWriter(own, bindings).writeCondition(expression),
    );
  }

  #restriction(scan: StoredScan): readonly string[] {
    this.#tablesRestricted++;
    return restriction(this.#parameters, scan);
  }

  #count(rows: number): string {
    return this.#parameters.add("UInt64", String(rows));
  }
}

/** What is computed after the rows are filtered, of many of them. */
const OF_GROUPS: ReadonlySet<Definition["kind"]> = new Set(["aggregate", "groupingValue", "window"]);

function arrayJoinedColumns({ expansions, expansionIndex }: SelectBlock, source: Source): readonly string[] {
  if (source.kind === "values") return source.columns.map(({ alias }) => alias);
  if (source.kind !== "block") return [];
  return [...expansions.map(({ alias }) => alias), ...(expansionIndex === null ? [] : [expansionIndex])];
}

function namedSql(shared: ReadonlyMap<string, string>): NamedSql[] {
  return [...shared].map(([alias, sql]) => ({ alias, sql, isOfRows: !OF_GROUP.test(alias) }));
}

const named = ({ sql, alias }: NamedSql): string => `${sql} AS ${alias}`;

const SERIES_CAST: Readonly<Partial<Record<string, string>>> = {
  int: "toInt32",
  long: "toInt64",
  timespan: "toInt64",
};
