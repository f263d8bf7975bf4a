import { INTEGERS, NUMBERS, REALS } from "./arithmetic.ts";
import {
  type CallWriter,
  type FunctionDefinition,
  type FunctionTable,
  type Overload,
  optional,
  overload,
  parameter,
  type SqlTemplate,
  simple,
  sql,
} from "./definition.ts";

/** A real function of one number. */
function real(
  summary: string,
  template: SqlTemplate,
  nulls: Overload["nulls"] = "propagate",
): FunctionDefinition {
  return simple(summary, [parameter("number", NUMBERS)], "real", nulls, template);
}

function real2(summary: string, first: string, second: string, template: SqlTemplate): FunctionDefinition {
  return simple(
    summary,
    [parameter(first, NUMBERS), parameter(second, NUMBERS)],
    "real",
    "propagate",
    template,
  );
}

/** A bool about a number. */
function test(summary: string, template: SqlTemplate): FunctionDefinition {
  return simple(summary, [parameter("number", NUMBERS)], "bool", "propagate", template);
}

/** Logarithms of negative numbers are null. */
function logarithm(name: string): SqlTemplate {
  return (call) => `if(${call.sharedOperand(0)} < 0, NULL, ${name}(${call.sharedOperand(0)}))`;
}

/** Reals of this size and more are whole. */
const LARGEST_FRACTION = "4503599627370496";

/** Halves go away from zero; ClickHouse's own rounding of reals takes halves to the even neighbour. */
function rounded(value: string, scale: string): string {
  const scaled = `(abs(${value}) * ${scale})`;
  const up = `(${scaled} - floor(${scaled}) >= 0.5)`;
  return `if(not(${scaled} < ${LARGEST_FRACTION}), toFloat64(${value}), sign(${value}) * (floor(${scaled}) + ${up}) / ${scale})`;
}

/** Digits beyond these change no number. */
const MOST_DIGITS = 300;

function scaleOf(call: CallWriter): string {
  return call.share(`exp10(greatest(least(toInt64(${call.operand(1)}), ${MOST_DIGITS}), -${MOST_DIGITS}))`);
}

function roundedInteger(call: CallWriter): string {
  const digits = call.operands[1];
  if (digits === undefined || (digits.kind === "literal" && Number(digits.value) >= 0))
    return call.operand(0);
  return `accurateCastOrNull(${rounded(call.sharedOperand(0), scaleOf(call))}, '${call.type === "int" ? "Int32" : "Int64"}')`;
}

const ROUND: FunctionDefinition = {
  summary: "Rounded to a number of decimal places, halves away from zero.",
  overloads: [
    ...INTEGERS.flatMap((type) => [
      overload([parameter("number", type)], type, "propagate", roundedInteger),
      overload(
        [parameter("number", type), parameter("precision", INTEGERS)],
        type,
        "possible",
        roundedInteger,
      ),
    ]),
    ...REALS.map((type) =>
      overload([parameter("number", type), optional("precision", INTEGERS)], type, "propagate", (call) =>
        rounded(call.sharedOperand(0), call.operands.length === 1 ? "1" : scaleOf(call)),
      ),
    ),
  ],
};

const ABS: FunctionDefinition = {
  summary: "The number without its sign.",
  overloads: [
    overload([parameter("number", INTEGERS)], "long", "propagate", sql`toInt64(abs(${0}))`),
    ...REALS.map((type) => overload([parameter("number", type)], type, "propagate", sql`abs(${0})`)),
    overload([parameter("number", "timespan")], "timespan", "propagate", sql`toInt64(abs(${0}))`),
  ],
};

const CEILING: FunctionDefinition = {
  summary: "The smallest whole number that is not smaller.",
  overloads: [
    overload([parameter("number", INTEGERS)], "real", "propagate", sql`toFloat64(${0})`),
    ...REALS.map((type) => overload([parameter("number", type)], type, "propagate", sql`ceil(${0})`)),
  ],
};

const RAND: FunctionDefinition = {
  summary: "A random real from 0 to less than 1, or a random whole number from 0 to less than `range`.",
  approximate: "Calls that are written alike inside one operator give the same number.",
  overloads: [
    overload([], "real", "never", () => "randCanonical()"),
    overload([parameter("range", INTEGERS)], "real", "propagate", (call) => {
      const range = call.sharedOperand(0);
      return `if(${range} > 1, floor(randCanonical() * ${range}), randCanonical())`;
    }),
  ],
};

/** Functions of numbers. */
export const MATH_FUNCTIONS = {
  abs: ABS,
  ceiling: CEILING,
  round: ROUND,
  sign: real("-1, 0 or 1; 0 of not a number.", sql`if(isNaN(${0}), toFloat64(0), toFloat64(sign(${0})))`),
  sqrt: real("The square root; not a number for negative ones.", sql`sqrt(${0})`),
  pow: real2("A power.", "base", "exponent", sql`pow(${0}, ${1})`),
  exp: real("e to that power.", sql`exp(${0})`),
  exp2: real("2 to that power.", sql`exp2(${0})`),
  exp10: real("10 to that power.", sql`exp10(${0})`),
  log: real("The natural logarithm; null for negative numbers.", logarithm("log"), "possible"),
  log2: real("The logarithm to base 2; null for negative numbers.", logarithm("log2"), "possible"),
  log10: real("The logarithm to base 10; null for negative numbers.", logarithm("log10"), "possible"),
  gamma: real("The gamma function.", sql`tgamma(${0})`),
  loggamma: real("The logarithm of the gamma function.", sql`lgamma(${0})`),
  erf: real("The error function.", sql`erf(${0})`),
  erfc: real("The complementary error function.", sql`erfc(${0})`),
  sin: real("The sine of an angle in radians.", sql`sin(${0})`),
  cos: real("The cosine of an angle in radians.", sql`cos(${0})`),
  tan: real("The tangent of an angle in radians.", sql`tan(${0})`),
  cot: real("The cotangent of an angle in radians.", sql`(1 / tan(${0}))`),
  asin: real("The angle in radians whose sine it is.", sql`asin(${0})`),
  acos: real("The angle in radians whose cosine it is.", sql`acos(${0})`),
  atan: real("The angle in radians whose tangent it is.", sql`atan(${0})`),
  atan2: real2("The angle in radians of the point (x, y).", "y", "x", sql`atan2(${0}, ${1})`),
  degrees: real("An angle in degrees, from radians.", sql`(${0} * 180 / pi())`),
  radians: real("An angle in radians, from degrees.", sql`(${0} * pi() / 180)`),
  pi: simple("The circle's constant.", [], "real", "never", () => "pi()"),
  rand: RAND,
  isnan: test("True for not a number.", sql`isNaN(${0})`),
  isinf: test("True for an infinite number.", sql`isInfinite(${0})`),
  isfinite: test("True for a number that is neither infinite nor not a number.", sql`isFinite(${0})`),
} as const satisfies FunctionTable;
