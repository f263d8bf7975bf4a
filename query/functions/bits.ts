import { INTEGERS } from "./arithmetic.ts";
import {
  type CallWriter,
  type FunctionDefinition,
  type FunctionTable,
  optional,
  overload,
  parameter,
  type SqlTemplate,
  simple,
  sql,
} from "./definition.ts";

function bitwise(summary: string, template: SqlTemplate): FunctionDefinition {
  return simple(
    summary,
    [parameter("value1", INTEGERS), parameter("value2", INTEGERS)],
    "long",
    "propagate",
    template,
  );
}

/** Kusto shifts by the distance modulo 64, and gives null for a negative one. */
function shift(summary: string, name: "bitShiftLeft" | "bitShiftRight"): FunctionDefinition {
  return simple(
    summary,
    [parameter("value", INTEGERS), parameter("shift", INTEGERS)],
    "long",
    "possible",
    (call) => {
      const distance = call.sharedOperand(1);
      return `if(${distance} >= 0, ${name}(toInt64(${call.operand(0)}), bitAnd(${distance}, 63)), NULL)`;
    },
  );
}

const MOST_HEX_DIGITS = 16;

/** Negative numbers show every digit of their type, others none that is not needed. */
function hexadecimal(call: CallWriter, sqlType: string): string {
  const digits = call.share(`trim(LEADING '0' FROM lower(hex(${sqlType}(${call.operand(0)}))))`);
  const least = call.operands.length === 1 ? "1" : `toInt64(${call.operand(1)})`;
  const length = `greatest(toInt64(length(${digits})), least(greatest(ifNull(${least}, 1), 1), ${MOST_HEX_DIGITS}))`;
  return `ifNull(leftPad(${digits}, ${length}, '0'), '')`;
}

const TOHEX: FunctionDefinition = {
  summary: "The number in hexadecimal digits, with zeros in front up to a length.",
  overloads: (["int", "long"] as const).map((type) =>
    overload([parameter("value", type), optional("minLength", INTEGERS)], "string", "never", (call) =>
      hexadecimal(call, type === "int" ? "toInt32" : "toInt64"),
    ),
  ),
};

/** Functions of the bits of whole numbers. */
export const BIT_FUNCTIONS = {
  binary_and: bitwise("The bits that both have.", sql`toInt64(bitAnd(${0}, ${1}))`),
  binary_or: bitwise("The bits that one has.", sql`toInt64(bitOr(${0}, ${1}))`),
  binary_xor: bitwise("The bits that only one has.", sql`toInt64(bitXor(${0}, ${1}))`),
  binary_not: simple(
    "The bits that it does not have.",
    [parameter("value", INTEGERS)],
    "long",
    "propagate",
    sql`toInt64(bitNot(${0}))`,
  ),
  binary_shift_left: shift("The bits, moved to the left.", "bitShiftLeft"),
  binary_shift_right: shift("The bits, moved to the right; the sign stays.", "bitShiftRight"),
  bitset_count_ones: simple(
    "How many bits are set.",
    [parameter("value", INTEGERS)],
    "long",
    "propagate",
    sql`toInt64(bitCount(toInt64(${0})))`,
  ),
  tohex: TOHEX,
} as const satisfies FunctionTable;
