import type { Expression } from "../expression.ts";
import { isNumeric, SCALAR_TYPES, type ScalarType } from "../scalar-type.ts";
import { convertedOperand } from "./conversions.ts";
import {
  type CallWriter,
  FunctionArgumentError,
  type FunctionDefinition,
  type FunctionTable,
  overload,
  parameter,
  repeated,
  type SqlTemplate,
  simple,
  sql,
} from "./definition.ts";
import { nanosecondsOf } from "./nanoseconds.ts";

/** From the narrowest. */
const WIDENING: readonly ScalarType[] = ["int", "long", "real", "decimal"];

/**
 * The type that values of several are given: of numbers the widest, of a dynamic value and another that of the other;
 * values that have nothing in common become dynamic.
 */
function commonType(operands: readonly (Expression | undefined)[]): ScalarType {
  const types = new Set(operands.flatMap((operand) => operand?.type ?? []));
  types.delete("dynamic");
  const [first, ...others] = types;
  if (first !== undefined && others.length === 0) return first;
  if (first === undefined || ![...types].every(isNumeric)) return "dynamic";
  return WIDENING.findLast((type) => types.has(type)) ?? "dynamic";
}

const IFF: FunctionDefinition = {
  summary: "One value where the condition is true, another one where it is false or null.",
  overloads: [
    ...SCALAR_TYPES.map((type) =>
      overload(
        [parameter("if", "bool"), parameter("then", type), parameter("else", type)],
        type,
        "propagate",
        sql`if(${0}, ${1}, ${2})`,
      ),
    ),
    overload(
      [parameter("if", "bool"), parameter("then", "any"), parameter("else", "any")],
      ([, ...values]) => commonType(values),
      "possible",
      (call) =>
        `if(${call.operand(0)}, ${convertedOperand(call, 1, call.type)}, ${convertedOperand(call, 2, call.type)})`,
    ),
  ],
};

/** The position of each value among the operands of `case`: every second one, and the last. */
function isValuePosition(operands: readonly Expression[], position: number): boolean {
  return position % 2 === 1 || position === operands.length - 1;
}

function caseSql(call: CallWriter): string {
  const { operands } = call;
  if (operands.length % 2 === 0)
    throw new FunctionArgumentError(
      operands.length - 1,
      "case() takes pairs of a condition and a value, and one last value for the rest.",
    );
  const parts = operands.map(({ type }, i) => {
    if (isValuePosition(operands, i)) return convertedOperand(call, i, call.type);
    if (type !== "bool" && type !== "dynamic")
      throw new FunctionArgumentError(i, `This condition is not a bool: it is ${type}.`);
    return convertedOperand(call, i, "bool");
  });
  return `multiIf(${parts.join(", ")})`;
}

const CASE: FunctionDefinition = {
  summary: "The value after the first condition that is true, and the last value if none is.",
  overloads: [
    overload(
      [parameter("predicate", "bool"), parameter("then", "any"), repeated("more", "any")],
      (operands) => commonType(operands.filter((_, i) => isValuePosition(operands, i))),
      "possible",
      caseSql,
    ),
  ],
};

/** Nothing is the empty text for these types. */
function firstText(call: CallWriter): string {
  const last = call.operands.length - 1;
  const tests = call.operands
    .slice(0, last)
    .map((_, i) => `${call.sharedOperand(i)} != '', ${call.sharedOperand(i)}`);
  return `multiIf(${tests.join(", ")}, ${call.operand(last)})`;
}

function each(name: string): SqlTemplate {
  return (call) => `${name}(${call.operands.map((_, i) => call.operand(i)).join(", ")})`;
}

const COALESCE: FunctionDefinition = {
  summary: "The first value that is not null; of strings, the first that is not empty.",
  overloads: SCALAR_TYPES.map((type) =>
    overload(
      [parameter("first", type), parameter("second", type), repeated("other", type)],
      type,
      "possible",
      type === "string" || type === "guid" || type === "dynamic" ? firstText : each("coalesce"),
    ),
  ),
};

const ORDERED = ["int", "long", "real", "decimal", "string", "datetime", "timespan", "bool"] as const;

/** Not a number if one of the numbers is not. */
function notANumberWins(template: SqlTemplate): SqlTemplate {
  return (call) => {
    const tests = call.operands.map((_, i) => `ifNull(isNaN(${call.sharedOperand(i)}), false)`);
    return `if(${tests.join(" OR ")}, nan, ${template(call)})`;
  };
}

function extreme(summary: string, name: "greatest" | "least"): FunctionDefinition {
  return {
    summary,
    overloads: ORDERED.map((type) =>
      overload(
        [parameter("first", type), parameter("second", type), repeated("other", type)],
        type,
        "propagate",
        type === "real" || type === "decimal" ? notANumberWins(each(name)) : each(name),
      ),
    ),
  };
}

/** A bag's entry that is the empty string has an empty text too, but a JSON text of two quotes. */
const IS_NULL: SqlTemplate = (call) => {
  switch (call.operands[0]?.type) {
    case "string":
      return "false";
    case "guid":
      return `(${call.operand(0)} = '')`;
    case "dynamic":
      return `(${call.textOperand(0)} = '' AND ${call.operand(0)} = '')`;
    default:
      return `isNull(${call.operand(0)})`;
  }
};

const ISNOTNULL = simple(
  "False for null; strings are never null.",
  [parameter("value", "any")],
  "bool",
  "never",
  (call) => `not(${IS_NULL(call)})`,
);

const GETTYPE: SqlTemplate = (call) => {
  const type = call.operands[0]?.type;
  if (type !== "dynamic") return `'${type ?? "string"}'`;
  const json = call.sharedOperand(0);
  return (
    `multiIf(${json} = '', 'null', startsWith(${json}, '"'), 'string', startsWith(${json}, '{'), 'dictionary', ` +
    `startsWith(${json}, '['), 'array', ${json} IN ('true', 'false'), 'bool', match(${json}, '^-?[0-9]+$'), 'long', 'double')`
  );
};

/** The types of a value and its centre, and of the distance between them. */
const DISTANCES: readonly (readonly [value: ScalarType, delta: ScalarType])[] = [
  ["long", "long"],
  ["real", "real"],
  ["datetime", "timespan"],
  ["timespan", "timespan"],
];

const NUMBER_OF: Readonly<Partial<Record<ScalarType, (value: string) => string>>> = {
  datetime: (value) => `toInt128(${nanosecondsOf(value)})`,
  real: (value) => value,
};

const AROUND: FunctionDefinition = {
  summary: "True if the value is no further from the centre than delta.",
  overloads: DISTANCES.map(([value, delta]) =>
    overload(
      [parameter("value", value), parameter("center", value), parameter("delta", delta)],
      "bool",
      "propagate",
      (call) => {
        const number = NUMBER_OF[value] ?? ((operand) => `toInt128(${operand})`);
        return `(abs(${number(call.operand(0))} - ${number(call.operand(1))}) <= ${call.operand(2)})`;
      },
    ),
  ),
};

/** Choices between values, and questions about null. */
export const CONDITION_FUNCTIONS = {
  iff: IFF,
  iif: IFF,
  case: CASE,
  coalesce: COALESCE,
  max_of: extreme("The largest of the values; nulls do not count.", "greatest"),
  min_of: extreme("The smallest of the values; nulls do not count.", "least"),
  around: AROUND,
  not: simple("True if it is false.", [parameter("expression", "bool")], "bool", "propagate", sql`not(${0})`),
  isnull: simple(
    "True for null; strings are never null.",
    [parameter("value", "any")],
    "bool",
    "never",
    IS_NULL,
  ),
  isnotnull: ISNOTNULL,
  notnull: ISNOTNULL,
  gettype: simple(
    "The name of the value's type; of a dynamic value, of what it holds.",
    [parameter("value", "any")],
    "string",
    "never",
    GETTYPE,
  ),
} as const satisfies FunctionTable;
