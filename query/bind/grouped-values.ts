import { requiredCount } from "../call.ts";
import type { Expression } from "../expression.ts";
import { aggregateFunction } from "../functions/registry.ts";
import type * as syntax from "../syntax/tree.ts";
import type { ExpressionContext } from "./expression-context.ts";
import { refuse } from "./refusal.ts";

/** Refuses what reads a single row where aggregates stand: there, many rows become one. */
export function checkGrouped(
  bound: Expression,
  expression: syntax.Expression,
  { aggregates }: ExpressionContext,
): void {
  if (aggregates === null || !readsRow(bound, aggregates.results)) return;
  const suggestion = expression.kind === "name" ? aggregateOf(expression.name) : null;
  const meant = suggestion === null ? "such as take_any()" : `such as ${suggestion}`;
  refuse(
    "WRONG_TYPE",
    `This differs from row to row, and many rows become one here: put it into an aggregate, ${meant}, or behind by.`,
    expression.span,
    suggestion,
  );
}

function readsRow(expression: Expression, results: ReadonlySet<Expression>): boolean {
  switch (expression.kind) {
    case "column":
      return !results.has(expression);
    case "attribute":
      return true;
    case "call":
      return expression.operands.some((operand) => readsRow(operand, results));
    case "inSubquery":
      return readsRow(expression.operand, results);
    default:
      return false;
  }
}

/** `count()` for `count`, `avg(column)` for `avg`, and for a column one of its values. */
function aggregateOf(name: string): string {
  const overloads = aggregateFunction(name)?.overloads ?? [];
  if (overloads.some(({ parameters }) => requiredCount(parameters) === 0)) return `${name}()`;
  if (overloads.length > 0) return `${name}(column)`;
  return `take_any(${/^[A-Za-z_]\w*$/.test(name) ? name : `['${name.replace(/[\\']/g, "\\$&")}']`})`;
}
