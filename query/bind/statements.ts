import type { Expression } from "../expression.ts";
import type * as syntax from "../syntax/tree.ts";
import type { NamedValue } from "./environment.ts";
import type { ExpressionContext } from "./expression-context.ts";
import { refuse } from "./refusal.ts";

/** Puts the names of `let` statements in reach at a place. */
export function bindStatements(statements: readonly syntax.Statement[], place: ExpressionContext): void {
  const { environment } = place;
  const declared = new Set<string>();
  for (const statement of statements) {
    if (statement.kind === "set") continue;
    const { name, value } = statement;
    if (declared.has(name.name)) refuse("DUPLICATE_NAME", `Two statements declare ${name.name}.`, name.span);
    declared.add(name.name);
    if (value.kind === "function")
      environment.define(name.name, {
        kind: "function",
        declaration: value,
        environment: environment.snapshot(),
      });
    else if (environment.isTabular(value))
      environment.define(name.name, {
        kind: "table",
        relation: environment.naming(() => environment.table(value)),
      });
    else
      environment.define(
        name.name,
        namedScalar(
          environment.naming(() => place.scalar(value)),
          place,
        ),
      );
  }
}

/** A value under a name, as a value of the rows of the place where that depends on them. */
export function namedScalar(
  value: Expression,
  { relation }: ExpressionContext,
): Extract<NamedValue, { kind: "scalar" }> {
  return { kind: "scalar", value, rowsOf: mentionsRow(value) ? relation : null };
}

function mentionsRow(value: Expression): boolean {
  switch (value.kind) {
    case "column":
    case "attribute":
      return true;
    case "call":
      return value.operands.some(mentionsRow);
    case "inSubquery":
      return mentionsRow(value.operand);
    case "literal":
    case "scalarSubquery":
      return false;
  }
}
