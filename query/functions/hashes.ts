import {
  type CallWriter,
  type FunctionDefinition,
  type FunctionTable,
  optional,
  overload,
  parameter,
  simple,
} from "./definition.ts";
import { TICKS_BEFORE_1970 } from "./nanoseconds.ts";

/** The bytes of a value that Kusto hashes: those of a text, or the eight of a number. */
function hashedBytes(call: CallWriter): string {
  const [operand] = call.operands;
  switch (operand?.type) {
    case "datetime":
      return `reinterpretAsFixedString(intDiv(toUnixTimestamp64Nano(${call.operand(0)}), 100) + toInt64(${TICKS_BEFORE_1970}))`;
    case "timespan":
      return `reinterpretAsFixedString(intDiv(${call.operand(0)}, 100))`;
    case "bool":
      return `reinterpretAsFixedString(toInt8(${call.operand(0)}))`;
    case "string":
    case "guid":
    case "dynamic":
      return call.textOperand(0);
    default:
      return `reinterpretAsFixedString(${call.operand(0)})`;
  }
}

function xxHash64(call: CallWriter): string {
  const hash = `reinterpretAsInt64(xxHash64(${hashedBytes(call)}))`;
  const value = call.operands[0]?.isNullable ? `ifNull(${hash}, 0)` : hash;
  if (call.operands.length < 2) return value;
  // In 64 bits the store divides no negative number by the most negative one.
  return `toInt64(positiveModuloOrNull(toInt128(${value}), toInt128(${call.operand(1)})))`;
}

const XXHASH64: FunctionDefinition = {
  summary: "A hash of the value by xxHash64; with a modulus, from 0 below it.",
  approximate: "The hash is Kusto's for texts and times; for values of other types it is another one.",
  overloads: [
    overload([parameter("source", "any")], "long", "never", xxHash64),
    overload([parameter("source", "any"), optional("mod", "long")], "long", "possible", xxHash64),
  ],
};

/** Every call is another value, also where the same is written twice: ClickHouse computes what looks the same once. */
function newGuid(call: CallWriter): string {
  return `toString(generateUUIDv4(${call.parameter("String", crypto.randomUUID())}))`;
}

export const HASH_FUNCTIONS = {
  hash: XXHASH64,
  hash_xxhash64: XXHASH64,
  new_guid: simple("A new random guid in every row.", [], "guid", "never", newGuid),
} as const satisfies FunctionTable;
