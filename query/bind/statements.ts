import { unitRow } from "../plan/build.ts";
import type * as syntax from "../syntax/tree.ts";
import type { Environment } from "./environment.ts";
import { ExpressionContext } from "./expression-context.ts";
import { refuse } from "./refusal.ts";

/** Puts the names of `let` statements in reach. */
export function bindStatements(statements: readonly syntax.Statement[], environment: Environment): void {
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
      environment.define(name.name, {
        kind: "scalar",
        value: environment.naming(() => new ExpressionContext(environment, unitRow()).scalar(value)),
      });
  }
}
