import { INTEGERS } from "./arithmetic.ts";
import { convertedOperand } from "./conversions.ts";
import {
  type CallWriter,
  type FunctionDefinition,
  type FunctionTable,
  overload,
  parameter,
} from "./definition.ts";

/** A number out of a dynamic value, which may be a whole one of 64 bits: more than a real holds. */
interface ExactNumber {
  /** Int64; NULL for anything but a whole number of 64 bits. */
  readonly whole: string;
  /** The value as a real, which is enough for anything else. */
  readonly real: string;
}

/** An operand that is dynamic or an integer. What is written may be repeated. */
export function exactNumber(call: CallWriter, index: number): ExactNumber {
  if (call.operands[index]?.type !== "dynamic") {
    const value = call.share(`toInt64(${call.operand(index)})`);
    return { whole: value, real: value };
  }
  const whole = call.share(`toInt64OrNull(${call.textOperand(index)})`);
  return { whole, real: call.share(convertedOperand(call, index, "real")) };
}

/** What is made of two whole numbers where both are, and of their reals everywhere else. */
export function exactResult(
  call: CallWriter,
  ofWhole: (left: string, right: string) => string,
  ofReals: (left: string, right: string) => string,
): string {
  const [left, right] = [exactNumber(call, 0), exactNumber(call, 1)];
  const areWhole = `isNotNull(${left.whole}) AND isNotNull(${right.whole})`;
  return `if(${areWhole}, ${ofWhole(left.whole, right.whole)}, ${ofReals(left.real, right.real)})`;
}

function arithmetic(summary: string, ofWhole: Operation, ofReals: Operation): FunctionDefinition {
  const pairs = [
    ["dynamic", INTEGERS],
    [INTEGERS, "dynamic"],
    ["dynamic", "dynamic"],
  ] as const;
  return {
    summary,
    overloads: pairs.map(([left, right]) =>
      overload([parameter("left", left), parameter("right", right)], "real", "possible", (call) =>
        exactResult(call, ofWhole, ofReals),
      ),
    ),
  };
}

type Operation = (left: string, right: string) => string;

const whole = (operator: string): Operation => {
  return (left, right) => `toFloat64(toInt128(${left}) ${operator} toInt128(${right}))`;
};
const real = (operator: string): Operation => {
  return (left, right) => `toFloat64(${left}) ${operator} toFloat64(${right})`;
};

/**
 * Arithmetic with attributes, under names that a query cannot write as a function. The result is a real, since an
 * attribute may be one, but it is that of the whole numbers, however large, and not that of their nearest reals.
 */
export const EXACT_OPERATORS = {
  exactAdd: arithmetic("The sum.", whole("+"), real("+")),
  exactSubtract: arithmetic("The difference.", whole("-"), real("-")),
  exactModulo: arithmetic(
    "The remainder, never negative.",
    (left, right) => `toFloat64(positiveModuloOrNull(toInt128(${left}), abs(toInt128(${right}))))`,
    (left, right) => `positiveModulo(toFloat64(${left}), abs(toFloat64(${right})))`,
  ),
} as const satisfies FunctionTable;
