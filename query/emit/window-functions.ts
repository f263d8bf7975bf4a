import type { WindowCall } from "../plan/relation.ts";
import { hasSqlNull } from "../scalar-type.ts";
import type { ExpressionWriter } from "./expression-writer.ts";
import type { Definition } from "./select-block.ts";
import { nullableSqlType, nullOf } from "./sql-types.ts";

type WindowDefinition = Extract<Definition, { kind: "window" }>;

/** The SQL of a window function over the rows in the order of their ordinals. */
export function writeWindow(writer: ExpressionWriter, { call, ordinal, section }: WindowDefinition): string {
  const partition = section === null ? "" : `PARTITION BY ${section} `;
  const soFar = `OVER (${partition}ORDER BY ${ordinal} ROWS UNBOUNDED PRECEDING)`;
  const [first, second] = call.operands;
  switch (call.function) {
    case "rowNumber":
      return `toInt64(row_number() ${soFar})`;
    case "shift": {
      const rows = `OVER (ORDER BY ${ordinal} ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)`;
      const name = call.offset >= 0 ? "lagInFrame" : "leadInFrame";
      const fallback = second === undefined ? nullOf(call.type) : writer.write(second);
      return `${name}(${nullable(call, written(writer, first))}, ${Math.abs(call.offset)}, ${fallback}) ${rows}`;
    }
    case "cumulate":
      return `sum(${written(writer, first)}) ${soFar}`;
    case "rank":
    case "denseRank":
      return rank(writer, call, soFar);
  }
}

/**
 * The value in a type that takes nothing, which is what stands before the first row. A stored column may be of a
 * narrower or an unsigned type, which the store would not bring together with that of the fallback.
 */
function nullable({ type }: WindowCall, value: string): string {
  return hasSqlNull(type) ? `CAST(${value}, '${nullableSqlType(type)}')` : value;
}

function written(writer: ExpressionWriter, operand: WindowCall["operands"][number] | undefined): string {
  if (operand === undefined) throw new TypeError("a window function takes an operand");
  return writer.write(operand);
}

/** The first operand is true on each row whose value differs from the row before; the second is the row's number. */
function rank(writer: ExpressionWriter, { function: kind, operands }: WindowCall, soFar: string): string {
  const changes = written(writer, operands[0]);
  if (kind === "denseRank") return `toInt64(countIf(${changes}) ${soFar})`;
  return `toInt64(max(if(${changes}, ${written(writer, operands[1])}, 0)) ${soFar})`;
}
