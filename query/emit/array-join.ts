import { expandedElements } from "../functions/expansion.ts";
import type { Bindings } from "./binding.ts";
import { ExpressionWriter, type SelectContext } from "./expression-writer.ts";
import type { SelectBlock, ValuesSource } from "./select-block.ts";
import { nullableSqlType } from "./sql-types.ts";

/** One row for each element, `ARRAY JOIN`, of the block's source. */
export function expansion(context: SelectContext, block: SelectBlock): string {
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

/** Rows that stand in the query, column by column, of one row. */
export function values(context: SelectContext, { columns }: ValuesSource): string {
  const writer = new ExpressionWriter(context, NO_COLUMNS);
  const arrays = columns.map(({ alias, type, cells }) => {
    const items = cells.map(({ expression }) => writer.write(expression));
    return `CAST([${items.join(", ")}], 'Array(${nullableSqlType(type)})') AS ${alias}`;
  });
  return ` ARRAY JOIN ${arrays.join(", ")}`;
}

const NO_COLUMNS: Bindings = new Map();
