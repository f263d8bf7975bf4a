import type { Expression } from "../expression.ts";
import { CALL_MAX_DEPTH } from "../limits.ts";
import { unitRow } from "../plan/build.ts";
import type * as syntax from "../syntax/tree.ts";
import { convert } from "./conversion.ts";
import { Environment, type NamedValue } from "./environment.ts";
import { ExpressionContext } from "./expression-context.ts";
import { refuse } from "./refusal.ts";
import { bindStatements } from "./statements.ts";
import { typeNamed } from "./types.ts";

type FunctionValue = Extract<NamedValue, { kind: "function" }>;

/** The result of a function made by `let`: its body with the arguments in place of the parameters. */
export function bindFunctionCall(
  { declaration, environment }: FunctionValue,
  { name, arguments: args, span }: syntax.CallExpression,
  context: Pick<ExpressionContext, "environment"> & { readonly relation?: ExpressionContext["relation"] },
): Extract<NamedValue, { kind: "scalar" | "table" }> {
  const depth = context.environment.depth + 1;
  if (depth > CALL_MAX_DEPTH)
    return refuse("TOO_COMPLEX", `Calls are nested more than ${CALL_MAX_DEPTH} deep.`, span);
  context.environment.step(span);
  const inner = new Environment(environment.compilation, environment, depth);
  const { parameters } = declaration;
  if (args.length > parameters.length)
    return refuse("WRONG_ARGUMENTS", `${name.name}() takes ${parameters.length} arguments.`, span);
  for (const [i, parameter] of parameters.entries()) {
    const argument = argumentOf(args, parameter, i) ?? parameter.defaultValue;
    if (argument === null)
      return refuse("WRONG_ARGUMENTS", `${name.name}() needs its argument ${parameter.name.name}.`, span);
    inner.define(parameter.name.name, bindArgument(parameter, argument, context));
  }
  bindStatements(declaration.statements, inner);
  return bindBody(declaration.body, inner, context.relation);
}

function argumentOf(
  args: readonly syntax.Argument[],
  { name }: syntax.FunctionParameter,
  position: number,
): syntax.Expression | null {
  const named = args.find(({ names }) => names[0]?.name === name.name);
  if (named !== undefined) return named.value;
  const positional = args[position];
  return positional !== undefined && positional.names.length === 0 ? positional.value : null;
}

function bindArgument(
  { type }: syntax.FunctionParameter,
  argument: syntax.Expression,
  context: Pick<ExpressionContext, "environment"> & { readonly relation?: ExpressionContext["relation"] },
): NamedValue {
  if (type === "anyTable" || !("name" in type))
    return { kind: "table", relation: context.environment.naming(() => context.environment.table(argument)) };
  const value = context.environment.naming(() =>
    new ExpressionContext(context.environment, context.relation ?? unitRow()).scalar(argument),
  );
  return { kind: "scalar", value: converted(value, type) };
}

function converted(value: Expression, type: syntax.Identifier): Expression {
  const to = typeNamed(type);
  return to === "dynamic" ? value : convert(value, to);
}

/** The body stands where the call does: a scalar one may mention the columns of that place through its arguments only. */
function bindBody(
  body: syntax.Expression,
  environment: Environment,
  relation: ExpressionContext["relation"] | undefined,
): Extract<NamedValue, { kind: "scalar" | "table" }> {
  if (environment.isTabular(body)) return { kind: "table", relation: environment.table(body) };
  const value = new ExpressionContext(environment, relation ?? unitRow()).scalar(body);
  return { kind: "scalar", value };
}
