import { areComparable, type ScalarType } from "./scalar-type.ts";

/** What a function answers with for arguments of these types; undefined when it does not take them. */
type ResultType = (types: readonly ScalarType[]) => ScalarType | undefined;

export interface ScalarFunction {
  readonly resultType: ResultType;
}

/** At least one truth value; any number of them, so that long conditions stay shallow trees. */
const connective: ResultType = (types) =>
  types.length > 0 && types.every((type) => type === "bool") ? "bool" : undefined;

const comparison: ResultType = ([left, right, ...rest]) =>
  left !== undefined && right !== undefined && rest.length === 0 && areComparable(left, right)
    ? "bool"
    : undefined;

function fixed(parameters: readonly ScalarType[], result: ScalarType): ResultType {
  return (types) =>
    types.length === parameters.length && types.every((type, i) => type === parameters[i])
      ? result
      : undefined;
}

/**
 * Every scalar function and operator of a plan: the one table that typing, emission and documentation share.
 * A plan can name no other; each entry has its SQL in `emit/scalar-functions.ts`.
 */
export const SCALAR_FUNCTIONS = {
  and: { resultType: connective },
  or: { resultType: connective },
  not: { resultType: fixed(["bool"], "bool") },
  equal: { resultType: comparison },
  notEqual: { resultType: comparison },
  less: { resultType: comparison },
  lessOrEqual: { resultType: comparison },
  greater: { resultType: comparison },
  greaterOrEqual: { resultType: comparison },
  /** Substring, whatever the case of either side. */
  contains: { resultType: fixed(["string", "string"], "bool") },
  /** Text of a dynamic value: a string without quotes, anything else as JSON, empty where there is nothing. */
  toString: { resultType: fixed(["dynamic"], "string") },
} as const satisfies Record<string, ScalarFunction>;

export type ScalarFunctionName = keyof typeof SCALAR_FUNCTIONS;

/** Every aggregate function of a plan; each entry has its SQL in `emit/aggregate-functions.ts`. */
export const AGGREGATE_FUNCTIONS = {
  /** Rows. */
  count: { resultType: fixed([], "long") },
  /** The largest value; null when there is none. */
  max: {
    resultType: ([type, ...rest]) =>
      type !== undefined && type !== "dynamic" && rest.length === 0 ? type : undefined,
  },
} as const satisfies Record<string, ScalarFunction>;

export type AggregateFunctionName = keyof typeof AGGREGATE_FUNCTIONS;
