import type { Expression } from "../expression.ts";
import { functionOfSeveralResults, scalarFunction } from "../functions/registry.ts";
import { resultName } from "../functions/several-results.ts";
import type * as syntax from "../syntax/tree.ts";
import { impliedName } from "./column-names.ts";
import { resolveCall } from "./conversion.ts";
import type { ExpressionContext } from "./expression-context.ts";
import { refuse } from "./refusal.ts";

/** A column that a call makes: the name that it has by itself, and its value. */
interface MadeColumn {
  readonly impliedName: string;
  readonly expression: Expression;
}

/** The columns that a call makes of one computation; null for any other expression. */
export function severalColumns(
  value: syntax.Expression,
  context: ExpressionContext,
): readonly MadeColumn[] | null {
  if (value.kind !== "call" || context.environment.lookup(value.name.name) !== undefined) return null;
  const several = functionOfSeveralResults(value.name.name);
  if (several === undefined) return null;
  const { name, arguments: args, span } = value;
  const operands = args.map((argument) => context.scalar(argument.value));
  const spans = args.map((argument) => argument.span);
  const [first] = args;
  const argumentName = (first === undefined ? null : impliedName(first.value)) ?? "";
  return Object.keys(several.results).flatMap((result) => {
    const definition = scalarFunction(resultName(name.name, result));
    if (definition === undefined) return [];
    // What is wrong with a call is said of the function as it was written.
    const call = resolveCall(name.name, definition, operands, span, spans);
    return [{ impliedName: `${name.name}_${argumentName}_${result}`, expression: call }];
  });
}

/** Refuses such a call where one value belongs. */
export function refuseSeveralColumns({ name, span }: syntax.CallExpression): never {
  return refuse(
    "WRONG_TYPE",
    `${name.name}() makes several columns: it stands by itself in extend or project, as in extend (a, b) = ${name.name}(...).`,
    span,
  );
}
