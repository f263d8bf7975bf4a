import { callOverload, parameterAt, requiredCount, takes } from "../call.ts";
import { type Call, type Expression, type Literal, literal } from "../expression.ts";
import {
  FunctionArgumentError,
  type FunctionDefinition,
  type Overload,
  type Parameter,
} from "../functions/definition.ts";
import { scalarFunction } from "../functions/registry.ts";
import { trialWriter } from "../functions/trial.ts";
import { isNumeric, type ScalarType } from "../scalar-type.ts";
import type { Span } from "../span.ts";
import { refuse } from "./refusal.ts";

/** The function that makes a value of each type of another. */
const CONVERSIONS: Readonly<Record<ScalarType, string>> = {
  bool: "tobool",
  int: "toint",
  long: "tolong",
  real: "toreal",
  decimal: "todecimal",
  string: "tostring",
  datetime: "todatetime",
  timespan: "totimespan",
  guid: "toguid",
  dynamic: "todynamic",
};

const NUMBER_RANK: Readonly<Partial<Record<ScalarType, number>>> = { int: 0, long: 1, real: 2, decimal: 3 };

/** How far the types are apart; undefined when Kusto does not convert by itself. */
function conversionCost(from: ScalarType, to: ScalarType): number | undefined {
  if (from === to) return 0;
  const [fromRank, toRank] = [NUMBER_RANK[from], NUMBER_RANK[to]];
  if (fromRank !== undefined && toRank !== undefined)
    return toRank > fromRank ? 2 * (toRank - fromRank) : undefined;
  if (from === "dynamic") return DYNAMIC_COST[to];
  return undefined;
}

/** A dynamic value is rather a text than a number. */
const DYNAMIC_COST: Readonly<Partial<Record<ScalarType, number>>> = {
  string: 20,
  real: 21,
  long: 22,
  int: 23,
  datetime: 24,
  timespan: 25,
  bool: 26,
  guid: 27,
  decimal: 28,
};

/** The value as one of that type; what cannot be converted at run time is null. */
export function convert(expression: Expression, to: ScalarType): Expression {
  if (expression.type === to) return expression;
  if (expression.kind === "literal") {
    const constant = convertLiteral(expression, to);
    if (constant !== null) return constant;
  }
  const name = CONVERSIONS[to];
  const overload = conversionOverload(expression.type, to);
  if (overload === undefined) throw new TypeError(`${name} does not take a ${expression.type}`);
  return callOverload(name, overload, [expression]);
}

/** False for types between which there is no conversion, such as a guid and a number. */
export function isConvertible(from: ScalarType, to: ScalarType): boolean {
  return from === to || conversionOverload(from, to) !== undefined;
}

function conversionOverload(from: ScalarType, to: ScalarType): Overload | undefined {
  return scalarFunction(CONVERSIONS[to])?.overloads.find(
    ({ parameters: [parameter] }) => parameter !== undefined && takes(parameter, from),
  );
}

/** Numbers widened at once, so that constants stay constants. */
function convertLiteral({ type, value }: Literal, to: ScalarType): Literal | null {
  if (value === null) return isNumeric(type) && isNumeric(to) ? nullLiteral(to) : null;
  if (type === "int" && to === "long") return literal("long", BigInt(value));
  if ((type === "int" || type === "long" || type === "real") && (to === "real" || to === "decimal"))
    return literal(to, Number(value));
  return null;
}

/** The null of a type; of text, the empty one. */
export function nullLiteral(type: ScalarType): Literal {
  switch (type) {
    case "string":
      return literal("string", "");
    default:
      return { kind: "literal", type, value: null, isNullable: type !== "guid" && type !== "dynamic" };
  }
}

/** A call with its operands converted to what the function takes; refuses what it does not take. */
export function resolveCall(
  name: string,
  definition: FunctionDefinition,
  operands: readonly Expression[],
  span: Span,
  operandSpans: readonly Span[] = [],
): Expression {
  const { overload, operands: converted } = resolveOverload(name, definition, operands, span);
  const resolved = callOverload(name, overload, converted);
  checkArguments(resolved, span, operandSpans);
  return resolved;
}

/** A call of a function that exists, by its name. Throws a TypeError for one that does not. */
export function callNamed(name: string, operands: readonly Expression[], span: Span): Expression {
  const definition = scalarFunction(name);
  if (definition === undefined) throw new TypeError(`there is no function ${name}`);
  return resolveCall(name, definition, operands, span);
}

/** Some arguments turn out to be impossible only as the call is written. */
export function checkArguments(
  { overload, operands, type }: Pick<Call, "overload" | "operands" | "type">,
  span: Span,
  operandSpans: readonly Span[] = [],
): void {
  try {
    overload.sql(trialWriter({ operands, type }));
  } catch (error) {
    if (!(error instanceof FunctionArgumentError)) throw error;
    refuse("WRONG_ARGUMENTS", error.message, operandSpans[error.argument] ?? span);
  }
}

export function resolveOverload(
  name: string,
  definition: FunctionDefinition,
  operands: readonly Expression[],
  span: Span,
): { overload: Overload; operands: Expression[] } {
  const { overloads } = definition;
  let best: { overload: Overload; cost: number } | null = null;
  for (const overload of overloads) {
    const cost = overloadCost(overload, operands);
    if (cost !== undefined && (best === null || cost < best.cost)) best = { overload, cost };
  }
  if (best === null) return refuseOperands(name, definition, operands, span);
  const { overload } = best;
  return {
    overload,
    operands: operands.map((operand, i) => {
      const parameter = parameterAt(overload.parameters, i);
      return parameter === undefined ? operand : fit(operand, parameter);
    }),
  };
}

function fit(operand: Expression, parameter: Parameter): Expression {
  const target = targetType(operand.type, parameter);
  return target === undefined ? operand : convert(operand, target);
}

/** The type of the parameter's that is nearest to the operand's. */
function targetType(from: ScalarType, { type }: Parameter): ScalarType | undefined {
  if (type === "any") return from;
  const candidates = typeof type === "string" ? [type] : type;
  let best: { type: ScalarType; cost: number } | undefined;
  for (const candidate of candidates) {
    const cost = conversionCost(from, candidate);
    if (cost !== undefined && (best === undefined || cost < best.cost)) best = { type: candidate, cost };
  }
  return best?.type;
}

function overloadCost({ parameters }: Overload, operands: readonly Expression[]): number | undefined {
  if (operands.length < requiredCount(parameters)) return undefined;
  let total = 0;
  for (const [i, operand] of operands.entries()) {
    const parameter = parameterAt(parameters, i);
    if (parameter === undefined) return undefined;
    if (parameter.isConstant === true && operand.kind !== "literal") return undefined;
    const target = targetType(operand.type, parameter);
    const cost = target === undefined ? undefined : conversionCost(operand.type, target);
    if (cost === undefined) return undefined;
    total += parameter.type === "any" ? 1 : cost;
  }
  return total;
}

function refuseOperands(
  name: string,
  { overloads }: FunctionDefinition,
  operands: readonly Expression[],
  span: Span,
): never {
  const counts = overloads.map(({ parameters }) => requiredCount(parameters));
  const fewest = Math.min(...counts);
  // Of several ways to call it, one that takes what stands there first.
  const type = operands[0]?.type;
  const first =
    overloads.find(
      ({ parameters: [parameter] }) =>
        type !== undefined && parameter !== undefined && parameter.type !== "any" && takes(parameter, type),
    ) ?? overloads[0];
  const signature = first === undefined ? "" : ` It takes ${name}${signatureOf(first)}.`;
  if (
    operands.length < fewest ||
    overloads.every(({ parameters }) => !parameterAt(parameters, operands.length - 1))
  )
    return refuse(
      "WRONG_ARGUMENTS",
      `${name}() does not take ${operands.length} arguments.${signature}`,
      span,
    );
  const types = operands.map(({ type }) => type).join(", ");
  const constants = overloads.some((overload) =>
    overload.parameters.some(
      ({ isConstant }, i) => isConstant && operands[i] && operands[i].kind !== "literal",
    ),
  );
  if (constants) return refuse("NOT_A_CONSTANT", `${name}() needs a constant here.${signature}`, span);
  const isQuotedLength = operands.some(
    ({ type }, i) =>
      type === "string" && first !== undefined && parameterAt(first.parameters, i)?.type === "timespan",
  );
  const advice = isQuotedLength ? " A length of time stands without quotes, as in 1h." : "";
  return refuse("WRONG_TYPE", `${name}() does not take (${types}).${signature}${advice}`, span);
}

/** The parameters as the reference shows them. */
export function signatureOf({ parameters }: Pick<Overload, "parameters">): string {
  const shown = parameters.map(({ name, type, occurs }) => {
    const types = typeof type === "string" ? type : type.join("|");
    const text = `${name}: ${types}`;
    return occurs === "optional" ? `[${text}]` : occurs === "repeated" ? `${text}, ...` : text;
  });
  return `(${shown.join(", ")})`;
}
