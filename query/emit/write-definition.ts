import { KEPT_ROWS } from "../kept.ts";
import { ExpressionWriter, type SelectContext } from "./expression-writer.ts";
import { keptCell } from "./kept-cell.ts";
import { orderClause } from "./order-clause.ts";
import type { Definition } from "./select-block.ts";
import { writeWindow } from "./window-functions.ts";

/** What a column of a SELECT is, in SQL. */
export function writeDefinition(context: SelectContext, definition: Definition): string {
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
    case "cell":
      return keptCell(`${KEPT_ROWS.cellsColumn}[${definition.place}]`, definition.type);
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
