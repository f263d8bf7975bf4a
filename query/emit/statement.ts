import type { QueryScope } from "../guard.ts";
import type { TableSchema } from "../schema.ts";
import { AGGREGATE_FUNCTION_SQL } from "./aggregate-functions.ts";
import { type Bindings, type BoundExpression, identifiersOf } from "./binding.ts";
import { ExpressionWriter, writeDatetime } from "./expression-writer.ts";
import { type BoundSortKey, type Definition, isBlock, type SelectBlock } from "./select-block.ts";
import type { SqlWriter } from "./sql-writer.ts";
import { writeWireColumn } from "./wire-format.ts";

/** Writes the SELECTs of one statement. Whatever table is read, only the rows of the scope are. */
export class StatementWriter {
  readonly #out: SqlWriter;
  readonly #scope: QueryScope;

  constructor(out: SqlWriter, scope: QueryScope) {
    this.#out = out;
    this.#scope = scope;
  }

  /** The outermost SELECT, with its columns in their wire format. */
  writeOutermost(block: SelectBlock): void {
    this.#write(block, () =>
      this.#out.list(block.bindings.values(), ", ", (binding) => writeWireColumn(this.#out, binding)),
    );
  }

  #write(block: SelectBlock, writeColumns: () => void): void {
    const { definitions, source, groupBy, orderBy, maxRows } = block;
    if (definitions.length > 0) {
      this.#out.text("WITH ");
      this.#out.list(definitions, ", ", (definition) => this.#writeDefinition(definition));
      this.#out.text("\n");
    }
    this.#out.text("SELECT ");
    if (block.bindings.size === 0) this.#out.text("1");
    else writeColumns();
    this.#out.text("\nFROM ");
    if (isBlock(source)) this.#writeNested(source);
    else this.#out.text(source.table);
    this.#writeWhere(block);
    if (groupBy !== null && groupBy.length > 0) this.#out.text(`\nGROUP BY ${groupBy.join(", ")}`);
    if (orderBy.length > 0) {
      this.#out.text("\nORDER BY ");
      this.#out.list(orderBy, ", ", (key) => this.#writeSortKey(key));
    }
    if (maxRows !== null) {
      this.#out.text("\nLIMIT ");
      this.#out.parameter("UInt64", String(maxRows));
    }
  }

  #writeNested(block: SelectBlock): void {
    this.#out.text("(\n");
    this.#write(block, () => this.#out.text(nestedColumns(block.bindings)));
    this.#out.text("\n)");
  }

  #writeDefinition(definition: Definition): void {
    if (definition.kind === "scalar") {
      this.#writeBound(definition.value);
    } else {
      const { call, bindings } = definition;
      AGGREGATE_FUNCTION_SQL[call.aggregate](new ExpressionWriter(this.#out, bindings), call.operands);
    }
    this.#out.text(` AS ${definition.alias}`);
  }

  #writeWhere({ source, where }: SelectBlock): void {
    if (isBlock(source)) {
      if (where.length === 0) return;
      this.#out.text("\nWHERE ");
    } else {
      this.#out.text("\nWHERE ");
      this.#writeScope(source);
      if (where.length > 0) this.#out.text(" AND ");
    }
    this.#out.list(where, " AND ", (condition) => this.#writeBound(condition));
  }

  #writeScope(table: TableSchema): void {
    const { organizationId, timeRange } = this.#scope;
    this.#out.text(`${table.organizationColumn} = `);
    this.#out.parameter("UInt32", String(organizationId));
    if (timeRange.from !== null) {
      this.#out.text(` AND ${table.timeColumn} >= `);
      writeDatetime(this.#out, timeRange.from);
    }
    if (timeRange.to !== null) {
      this.#out.text(` AND ${table.timeColumn} <= `);
      writeDatetime(this.#out, timeRange.to);
    }
  }

  #writeSortKey({ value, direction }: BoundSortKey): void {
    const writer = new ExpressionWriter(this.#out, value.bindings);
    writer.write(value.expression);
    // Nulls come last by default, which is right when descending; and a clause about nulls that cannot occur would
    // keep ClickHouse from reading in the order of the primary key.
    if (direction === "descending") this.#out.text(" DESC");
    else if (writer.storedColumn(value.expression) === null) this.#out.text(" ASC NULLS FIRST");
  }

  #writeBound({ expression, bindings }: BoundExpression): void {
    new ExpressionWriter(this.#out, bindings).write(expression);
  }
}

function nestedColumns(bindings: Bindings): string {
  return [...new Set([...bindings.values()].flatMap(identifiersOf))].join(", ");
}
