import type { ScalarType } from "../scalar-type.ts";
import {
  type CallWriter,
  type FunctionDefinition,
  type FunctionTable,
  type Overload,
  overload,
  parameter,
  type SqlTemplate,
  sql,
} from "./definition.ts";
import {
  checkedDifference,
  checkedProduct,
  checkedSum,
  constantSpan,
  DATETIME_RANGE,
  datetimeOf,
  FIRST_DATETIME_NS,
  int64,
  LAST_DATETIME_NS,
  nanosecondsOf,
  nanosecondsSinceOrigin,
  TIMESPAN_RANGE,
  wholePart,
} from "./nanoseconds.ts";

export const INTEGERS = ["int", "long"] as const satisfies readonly ScalarType[];
export const REALS = ["real", "decimal"] as const satisfies readonly ScalarType[];
export const NUMBERS = [...INTEGERS, ...REALS] as const satisfies readonly ScalarType[];

type Types = ScalarType | readonly ScalarType[];

function binary(
  left: Types,
  right: Types,
  result: ScalarType,
  nulls: Overload["nulls"],
  template: SqlTemplate,
) {
  return overload([parameter("left", left), parameter("right", right)], result, nulls, template);
}

/** Numbers of every kind: whole ones give a long, one decimal makes the result decimal. */
function numeric(
  integers: { readonly nulls: Overload["nulls"]; readonly template: SqlTemplate },
  reals: SqlTemplate,
): Overload[] {
  const upToReal = [...INTEGERS, "real"] as const;
  return [
    binary(INTEGERS, INTEGERS, "long", integers.nulls, integers.template),
    binary(upToReal, upToReal, "real", "propagate", reals),
    binary(NUMBERS, NUMBERS, "decimal", "propagate", reals),
  ];
}

/** A datetime and a timespan, which are the operands at these positions. */
function shifted(call: CallWriter, datetime: number, span: number, sign: "+" | "-"): string {
  const time = call.share(nanosecondsOf(call.operand(datetime)));
  const constant = constantSpan(call.operands[span]);
  if (constant !== null) {
    const shift = sign === "+" ? constant : -constant;
    const limit = (shift >= 0n ? LAST_DATETIME_NS : FIRST_DATETIME_NS) - shift;
    const isInRange = `${time} ${shift >= 0n ? "<=" : ">="} ${call.parameter("Int64", String(limit))}`;
    return `if(${isInRange}, ${datetimeOf(`${time} + ${call.parameter("Int64", String(shift))}`)}, NULL)`;
  }
  const shift = call.sharedOperand(span);
  const [isLater, opposite] = sign === "+" ? [`${shift} >= 0`, "-"] : [`${shift} <= 0`, "+"];
  const last = `${time} <= ${int64(LAST_DATETIME_NS)} ${opposite} ${shift}`;
  const first = `${time} >= ${int64(FIRST_DATETIME_NS)} ${opposite} ${shift}`;
  return `if(if(${isLater}, ${last}, ${first}), ${datetimeOf(`${time} ${sign} ${shift}`)}, NULL)`;
}

/** The nanoseconds from the year 1 to the first operand, a datetime, as an Int128. */
function sinceOrigin(call: CallWriter): string {
  return nanosecondsSinceOrigin(nanosecondsOf(call.operand(0)));
}

function elapsed(call: CallWriter): string {
  const [left, right] = [0, 1].map((i) => call.share(nanosecondsOf(call.operand(i))));
  return checkedDifference(left ?? "", right ?? "");
}

const SCALED: SqlTemplate = (call) => checkedProduct(call.sharedOperand(0), call.sharedOperand(1));
const SCALED_BY_REAL: SqlTemplate = (call) => wholePart(`${call.operand(0)} * ${call.operand(1)}`);

/** Never negative, whatever the signs are. */
/** The size of the most negative number has no place in 64 signed bits; a divisor that is written out is none. */
const INTEGER_MODULO: SqlTemplate = (call) => {
  const divisor = call.operands[1];
  const isSmall = divisor?.kind === "literal" && Math.abs(Number(divisor.value)) < 2 ** 62;
  const size = `${isSmall ? "toInt64" : "toInt128"}(abs(${call.operand(1)}))`;
  return `toInt64(positiveModuloOrNull(toInt64(${call.operand(0)}), ${size}))`;
};

const ADD: FunctionDefinition = {
  summary: "The sum.",
  approximate: `${DATETIME_RANGE} ${TIMESPAN_RANGE} Decimals are computed as real numbers.`,
  overloads: [
    ...numeric({ nulls: "propagate", template: sql`toInt64(${0} + ${1})` }, sql`(${0} + ${1})`),
    binary("datetime", "timespan", "datetime", "possible", (call) => shifted(call, 0, 1, "+")),
    binary("timespan", "datetime", "datetime", "possible", (call) => shifted(call, 1, 0, "+")),
    binary("timespan", "timespan", "timespan", "possible", (call) =>
      checkedSum(call.sharedOperand(0), call.sharedOperand(1)),
    ),
  ],
};

const SUBTRACT: FunctionDefinition = {
  summary: "The difference; of two times, the span between them.",
  approximate: `${DATETIME_RANGE} ${TIMESPAN_RANGE} Decimals are computed as real numbers.`,
  overloads: [
    ...numeric({ nulls: "propagate", template: sql`toInt64(${0} - ${1})` }, sql`(${0} - ${1})`),
    binary("datetime", "timespan", "datetime", "possible", (call) => shifted(call, 0, 1, "-")),
    binary("datetime", "datetime", "timespan", "possible", elapsed),
    binary("timespan", "timespan", "timespan", "possible", (call) =>
      checkedDifference(call.sharedOperand(0), call.sharedOperand(1)),
    ),
  ],
};

const MULTIPLY: FunctionDefinition = {
  summary: "The product; a span and a number make a span.",
  approximate: `${TIMESPAN_RANGE} Decimals are computed as real numbers.`,
  overloads: [
    ...numeric({ nulls: "propagate", template: sql`toInt64(${0} * ${1})` }, sql`(${0} * ${1})`),
    binary("timespan", INTEGERS, "timespan", "possible", SCALED),
    binary(INTEGERS, "timespan", "timespan", "possible", SCALED),
    binary("timespan", REALS, "timespan", "possible", SCALED_BY_REAL),
    binary(REALS, "timespan", "timespan", "possible", SCALED_BY_REAL),
  ],
};

const DIVIDE: FunctionDefinition = {
  summary: "The quotient: cut to a whole number for two whole numbers, null when these are divided by zero.",
  approximate: `${TIMESPAN_RANGE} Decimals are computed as real numbers.`,
  overloads: [
    ...numeric(
      { nulls: "possible", template: sql`toInt64(intDivOrNull(toInt64(${0}), toInt64(${1})))` },
      sql`(${0} / ${1})`,
    ),
    binary("timespan", "timespan", "real", "propagate", sql`(${0} / ${1})`),
    binary(
      "datetime",
      "timespan",
      "real",
      "propagate",
      (call) => `(toFloat64(${sinceOrigin(call)}) / ${call.operand(1)})`,
    ),
    binary("timespan", INTEGERS, "timespan", "possible", sql`toInt64(intDivOrNull(${0}, toInt64(${1})))`),
    binary("timespan", REALS, "timespan", "possible", (call) =>
      wholePart(`${call.operand(0)} / ${call.operand(1)}`),
    ),
  ],
};

const MODULO: FunctionDefinition = {
  summary: "The remainder of a division, never negative; null for whole numbers divided by zero.",
  approximate: "Decimals are computed as real numbers.",
  overloads: [
    ...numeric({ nulls: "possible", template: INTEGER_MODULO }, sql`positiveModulo(${0}, abs(${1}))`),
    binary("timespan", "timespan", "timespan", "possible", INTEGER_MODULO),
    binary("datetime", "timespan", "timespan", "possible", (call) => {
      const size = `toInt128(abs(${call.operand(1)}))`;
      return `toInt64(positiveModuloOrNull(${sinceOrigin(call)}, ${size}))`;
    }),
  ],
};

/** A whole quotient that is rounded down; NULL for a divisor that is not positive. */
const FLOOR_DIVIDE: SqlTemplate = (call) => {
  const [value, size] = [`toInt64(${call.sharedOperand(0)})`, `toInt64(${call.sharedOperand(1)})`];
  const divisor = `greatest(${size}, 0)`;
  return `if(${size} > 0, intDivOrNull(${value} - positiveModuloOrNull(${value}, ${divisor}), ${divisor}), NULL)`;
};

/** Arithmetic under names that a query cannot write as a function. */
export const ARITHMETIC_OPERATORS = {
  add: ADD,
  subtract: SUBTRACT,
  multiply: MULTIPLY,
  divide: DIVIDE,
  modulo: MODULO,
  /** The number of whole steps of a positive size; no operator of KQL. */
  floorDivide: {
    summary: "How many whole steps fit.",
    overloads: [
      binary(INTEGERS, INTEGERS, "long", "possible", FLOOR_DIVIDE),
      binary("timespan", "timespan", "long", "possible", FLOOR_DIVIDE),
      binary(NUMBERS, NUMBERS, "long", "possible", (call) =>
        wholePart(`floor(${call.operand(0)} / ${call.operand(1)})`),
      ),
    ],
  },
  negate: {
    summary: "The number with the other sign.",
    overloads: [
      overload([parameter("value", INTEGERS)], "long", "propagate", sql`toInt64(-${0})`),
      ...(["real", "decimal", "timespan"] as const).map((type) =>
        overload([parameter("value", type)], type, "propagate", sql`(-${0})`),
      ),
    ],
  },
} as const satisfies FunctionTable;
