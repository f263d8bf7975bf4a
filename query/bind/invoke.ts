import type { Relation } from "../plan/relation.ts";
import { weightOf } from "../plan/weight.ts";
import type * as syntax from "../syntax/tree.ts";
import { Environment } from "./environment.ts";
import { nearestName } from "./nearest-name.ts";
import { refuse } from "./refusal.ts";

/** What the function's first argument is called: no name of a query has a space at its end. */
const INPUT = "invoke ";

/** A call of a function made by `let`, or kept, with the table before it as the first argument. */
export function bindInvoke(
  input: Relation,
  { call }: syntax.InvokeOperator,
  environment: Environment,
): Relation {
  const { name, span } = call;
  const named = environment.lookup(name.name);
  if (named?.kind !== "function") {
    const suggestion = nearestName(name.name, environment.names());
    const advice = suggestion === null ? "" : ` Did you mean ${suggestion}()?`;
    refuse(
      "UNKNOWN_FUNCTION",
      `There is no function ${name.name}() of your own.${advice}`,
      name.span,
      suggestion,
    );
  }
  const inner = new Environment(environment.compilation, environment);
  // It is read where the function mentions it, and not before.
  environment.compilation.scans -= weightOf(input).scans;
  inner.define(INPUT, { kind: "table", relation: input });
  const table: syntax.Expression = { kind: "name", name: INPUT, isPattern: false, span };
  return inner.table({ ...call, arguments: [{ names: [], value: table, span }, ...call.arguments] });
}
