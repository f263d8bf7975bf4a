import type { Expression } from "../expression.ts";
import { CALL_MAX_DEPTH } from "../limits.ts";
import type * as syntax from "../syntax/tree.ts";
import { convert } from "./conversion.ts";
import { DiscoveryNeeded } from "./discovery.ts";
import { type Compilation, Environment, type FunctionValue, type NamedValue } from "./environment.ts";
import type { ExpressionContext } from "./expression-context.ts";
import { ExternalNeeded } from "./external-table.ts";
import { Refusal, refuse } from "./refusal.ts";
import { bindStatements, namedScalar } from "./statements.ts";
import { typeNamed } from "./types.ts";

type Result = Extract<NamedValue, { kind: "scalar" | "table" }>;
/** The result of a function: its body with the arguments in place of the parameters. */
export function bindFunctionCall(
  value: FunctionValue,
  expression: syntax.CallExpression,
  context: ExpressionContext,
): Result {
  const { declaration, environment, isKept = false } = value;
  const { name, arguments: args, span } = expression;
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
  const bind = (): Result => {
    const place = context.within(inner);
    bindStatements(declaration.statements, place);
    return bindBody(declaration.body, place);
  };
  return isKept ? withinKept(name, environment.compilation, bind) : bind();
}

/** What goes wrong in the body of a kept function lies, for whoever reads the query, where that is called. */
function withinKept(name: syntax.Identifier, { calling }: Compilation, bind: () => Result): Result {
  if (calling.includes(name.name)) {
    const way = [...calling.slice(calling.indexOf(name.name)), name.name].join(" > ");
    return refuse("UNSUPPORTED", `A function cannot call itself: ${way}.`, name.span);
  }
  calling.push(name.name);
  try {
    return bind();
  } catch (error) {
    throw calledAt(error, name);
  } finally {
    calling.pop();
  }
}

function calledAt(error: unknown, { name, span }: syntax.Identifier): unknown {
  if (error instanceof DiscoveryNeeded) return new DiscoveryNeeded(error.relation, span, error.computes);
  if (error instanceof ExternalNeeded) return new ExternalNeeded(error.source, span);
  if (!(error instanceof Refusal)) return error;
  return new Refusal({ ...error.problem, message: `In ${name}(): ${error.problem.message}`, span });
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
  context: ExpressionContext,
): NamedValue {
  const { environment } = context;
  if (type === "anyTable" || !("name" in type))
    return { kind: "table", relation: environment.naming(() => environment.table(argument)) };
  const place = context.within(environment);
  const value = environment.naming(() => place.scalar(argument));
  return namedScalar(converted(value, type), place);
}

function converted(value: Expression, type: syntax.Identifier): Expression {
  const to = typeNamed(type);
  return to === "dynamic" ? value : convert(value, to);
}

/** The body stands where the call does: a scalar one may mention the columns of that place through its arguments only. */
function bindBody(body: syntax.Expression, place: ExpressionContext): Result {
  const { environment } = place;
  if (environment.isTabular(body)) return { kind: "table", relation: environment.table(body) };
  return namedScalar(place.scalar(body), place);
}
