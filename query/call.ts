import type { Call, Expression } from "./expression.ts";
import type { NullRule, Overload, Parameter } from "./functions/definition.ts";
import { scalarFunction } from "./functions/registry.ts";
import { hasSqlNull, type ScalarType } from "./scalar-type.ts";

/** Throws a TypeError when the function does not take operands of exactly these types: whoever builds a plan checks first. */
export function call(name: string, ...operands: readonly Expression[]): Call {
  const overload = scalarFunction(name)?.overloads.find((candidate) => takesExactly(candidate, operands));
  if (overload === undefined)
    throw new TypeError(`${name} does not take (${operands.map(({ type }) => type).join(", ")})`);
  return callOverload(name, overload, operands);
}

/** A call whose operands have been matched with the parameters of the overload. */
export function callOverload(name: string, overload: Overload, operands: readonly Expression[]): Call {
  const type = typeof overload.result === "function" ? overload.result(operands) : overload.result;
  return {
    kind: "call",
    name,
    overload,
    operands,
    type,
    isNullable: isNullable(overload.nulls, type, operands),
  };
}

/** Whether a call's result can be NULL in SQL. */
export function isNullable(rule: NullRule, type: ScalarType, operands: readonly Expression[]): boolean {
  if (!hasSqlNull(type) || rule === "never") return false;
  return rule === "possible" || operands.some((operand) => operand.isNullable);
}

/** The parameter that takes the operand of that position; undefined when there are too many operands. */
export function parameterAt(parameters: readonly Parameter[], position: number): Parameter | undefined {
  const last = parameters.at(-1);
  return parameters[position] ?? (last?.occurs === "repeated" ? last : undefined);
}

export function takes(parameter: Parameter, type: ScalarType): boolean {
  if (parameter.type === "any") return true;
  return typeof parameter.type === "string" ? parameter.type === type : parameter.type.includes(type);
}

/** Operands that a call cannot do without. */
export function requiredCount(parameters: readonly Parameter[]): number {
  return parameters.filter(({ occurs }) => occurs === undefined).length;
}

function takesExactly({ parameters }: Overload, operands: readonly Expression[]): boolean {
  return (
    operands.length >= requiredCount(parameters) &&
    operands.every((operand, i) => {
      const parameter = parameterAt(parameters, i);
      return parameter !== undefined && takes(parameter, operand.type);
    })
  );
}

/** The conjunction; of one condition it is the condition. Throws a TypeError when there is none. */
export function allOf(conditions: readonly Expression[]): Expression {
  return connected("and", conditions);
}

/** The disjunction; of one condition it is the condition. Throws a TypeError when there is none. */
export function anyOf(conditions: readonly Expression[]): Expression {
  return connected("or", conditions);
}

function connected(connective: "and" | "or", conditions: readonly Expression[]): Expression {
  const [first, ...rest] = conditions;
  return first !== undefined && rest.length === 0 ? first : call(connective, ...conditions);
}
