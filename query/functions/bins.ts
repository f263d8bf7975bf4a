import type { ScalarType } from "../scalar-type.ts";
import { INTEGERS, NUMBERS } from "./arithmetic.ts";
import {
  type CallWriter,
  type FunctionDefinition,
  type FunctionTable,
  type Grouping,
  type Overload,
  overload,
  parameter,
  type SqlTemplate,
} from "./definition.ts";
import {
  constantSpan,
  DATETIME_RANGE,
  DAY_NS,
  DAYS_BEFORE_1970,
  datetimeInRange,
  datetimeOf,
  dividesDay,
  FIRST_DATETIME_NS,
  int64,
  nanosecondsOf,
  nanosecondsSinceOrigin,
} from "./nanoseconds.ts";

type Types = ScalarType | readonly ScalarType[];

/** Below these, nothing that is computed for a bin of a datetime leaves 64 bits. */
const LARGEST_PLAIN_BIN_NS = 2n ** 62n;

/** The multiple of `size` at or below the value; NULL for a size that is not positive. */
function integerBin(call: CallWriter): string {
  const value = `toInt64(${call.sharedOperand(0)})`;
  const size = call.operands[1];
  const isPositive = size?.kind === "literal" && size.value !== null && Number(size.value) > 0;
  if (isPositive) return `(${value} - positiveModulo(${value}, toInt64(${call.operand(1)})))`;
  const divisor = `toInt64(${call.sharedOperand(1)})`;
  return `if(${divisor} > 0, ${value} - positiveModuloOrNull(${value}, greatest(${divisor}, 0)), NULL)`;
}

function realBin(call: CallWriter): string {
  const size = call.sharedOperand(1);
  return `if(${size} > 0, floor(${call.operand(0)} / ${size}) * ${size}, NULL)`;
}

/**
 * Kusto's bins of times are counted from 0001-01-01. Where they begin at every midnight too, they can be counted from
 * 1970, which takes as long as ClickHouse's own intervals and is right before 1970.
 */
function datetimeBin(call: CallWriter): string {
  const time = call.share(nanosecondsOf(call.operand(0)));
  const size = constantSpan(call.operands[1]);
  if (size !== null && dividesDay(size))
    return datetimeOf(`${time} - positiveModulo(${time}, ${call.parameter("Int64", String(size))})`);
  if (size !== null && size > 0n && size <= LARGEST_PLAIN_BIN_NS) {
    const origin = call.parameter("Int64", String(size - ((DAYS_BEFORE_1970 * DAY_NS) % size)));
    return datetimeInRange(
      call.share(`${time} - positiveModulo(${time} - ${origin}, ${call.parameter("Int64", String(size))})`),
    );
  }
  const span = call.sharedOperand(1);
  const start = call.share(
    `toInt128(${time}) - positiveModuloOrNull(${nanosecondsSinceOrigin(time)}, toInt128(${span}))`,
  );
  return `if(${span} > 0 AND ${start} >= ${int64(FIRST_DATETIME_NS)}, ${datetimeOf(`toInt64(${start})`)}, NULL)`;
}

/** Constant sizes whose bins are as many in 64 bits of nanoseconds as 32 bits can count, or fewer. */
const SMALLEST_COUNTED_BIN_NS = 2n ** 32n;

/** The number of the bin, which takes half the room of its beginning and less work. */
function binNumber(call: CallWriter): Grouping | undefined {
  const size = constantSpan(call.operands[1]);
  if (size === null || !dividesDay(size) || size < SMALLEST_COUNTED_BIN_NS) return undefined;
  const width = call.parameter("UInt64", String(size));
  // Unsigned, since that divides faster; the first bin is whole, and begins before any datetime.
  const origin = call.parameter("UInt64", String((2n ** 63n / size) * size));
  const time = `toUInt64(${nanosecondsOf(call.operand(0))})`;
  return {
    key: `toUInt32(intDiv(${time} + ${origin}, ${width}))`,
    result: (key) => datetimeOf(`toInt64(${key} * ${width} - ${origin})`),
  };
}

/** Null only where a time or a size is, or a bin begins before the first time there is. */
function datetimeBins(): Overload {
  const parameters = [parameter("value", "datetime"), parameter("roundTo", "timespan")];
  return { ...overload(parameters, "datetime", "possible", datetimeBin), grouping: binNumber };
}

function binsOf(value: Types, size: Types, result: ScalarType, template: SqlTemplate): Overload {
  return overload([parameter("value", value), parameter("roundTo", size)], result, "possible", template);
}

const UP_TO_REAL = [...INTEGERS, "real"] as const;

const BIN: FunctionDefinition = {
  summary: "The start of the bin, of a size, that holds the value; null for a size that is not positive.",
  approximate: `${DATETIME_RANGE} Decimals are computed as real numbers.`,
  overloads: [
    binsOf(INTEGERS, INTEGERS, "long", integerBin),
    binsOf(UP_TO_REAL, UP_TO_REAL, "real", realBin),
    binsOf(NUMBERS, NUMBERS, "decimal", realBin),
    datetimeBins(),
    binsOf("timespan", "timespan", "timespan", integerBin),
  ],
};

/** The difference of two remainders, so that nothing leaves 64 bits. */
function integerBinAt(value: string, size: string, fixed: string): string {
  // The store may compute both sides of a condition, and divides by some negative numbers never.
  const divisor = `greatest(${size}, 0)`;
  const remainder = (of: string) => `positiveModuloOrNull(${of}, ${divisor})`;
  return `if(${size} > 0, ${value} - positiveModuloOrNull(${remainder(value)} - ${remainder(fixed)}, ${divisor}), NULL)`;
}

function realBinAt(call: CallWriter): string {
  const [size, fixed] = [call.sharedOperand(1), call.sharedOperand(2)];
  return `if(${size} > 0, floor((${call.operand(0)} - ${fixed}) / ${size}) * ${size} + ${fixed}, NULL)`;
}

function binsAt(types: readonly [Types, Types, Types], result: ScalarType, template: SqlTemplate): Overload {
  const [value, size, fixed] = types;
  return overload(
    [parameter("value", value), parameter("bin_size", size), parameter("fixed_point", fixed)],
    result,
    "possible",
    template,
  );
}

const plainBinAt: SqlTemplate = (call) => {
  const [value, size, fixed] = [0, 1, 2].map((i) => `toInt64(${call.sharedOperand(i)})`);
  return integerBinAt(value ?? "", size ?? "", fixed ?? "");
};

const BIN_AT: FunctionDefinition = {
  summary: "The start of the bin that holds the value, where one bin starts at a fixed point.",
  approximate: `${DATETIME_RANGE} Decimals are computed as real numbers.`,
  overloads: [
    binsAt([INTEGERS, INTEGERS, INTEGERS], "long", plainBinAt),
    binsAt([UP_TO_REAL, UP_TO_REAL, UP_TO_REAL], "real", realBinAt),
    binsAt([NUMBERS, NUMBERS, NUMBERS], "decimal", realBinAt),
    binsAt(["timespan", "timespan", "timespan"], "timespan", plainBinAt),
    binsAt(["datetime", "timespan", "datetime"], "datetime", (call) => {
      const [value, fixed] = [0, 2].map((i) => call.share(nanosecondsOf(call.operand(i))));
      return datetimeInRange(call.share(integerBinAt(value ?? "", call.sharedOperand(1), fixed ?? "")));
    }),
  ],
};

/** Rounding down to bins. */
export const BIN_FUNCTIONS = { bin: BIN, floor: BIN, bin_at: BIN_AT } as const satisfies FunctionTable;
