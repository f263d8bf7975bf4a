import type { ScalarType } from "../scalar-type.ts";
import { INTEGERS, NUMBERS, REALS } from "./arithmetic.ts";
import {
  type CallWriter,
  type FunctionDefinition,
  type FunctionTable,
  type Overload,
  overload,
  parameter,
  type SqlTemplate,
  simple,
  sql,
} from "./definition.ts";
import { DATETIME_RANGE, TIMESPAN_RANGE } from "./nanoseconds.ts";
import {
  datetimeOfTicks,
  integerOfReal,
  parsedBool,
  parsedDatetime,
  parsedGuid,
  parsedInteger,
  parsedReal,
  parsedTimespan,
  ticksOfDatetime,
  timespanOfTicks,
} from "./parsed-text.ts";
import { valueToJson, valueToText } from "./value-text.ts";

type Types = ScalarType | readonly ScalarType[];

function from(type: Types, result: ScalarType, nulls: Overload["nulls"], template: SqlTemplate): Overload {
  return overload([parameter("value", type)], result, nulls, template);
}

/** A conversion of the shared operand. */
function shared(write: (value: string) => string): SqlTemplate {
  return (call) => write(call.sharedOperand(0));
}

/** How a dynamic value is read. Its JSON text is looked at only in the rows where its text does not say enough. */
interface DynamicReading {
  /** The result for the text, which is shared, if that is enough; NULL to look further. */
  readonly quick: (text: string) => string;
  /** The result for a string, by its text. */
  readonly string: (text: string) => string;
  /** The result for a number, by its value as a real. */
  readonly number: (real: string) => string;
  readonly bool: (value: "0" | "1") => string;
}

function ofDynamic({ quick, string, number, bool }: DynamicReading): SqlTemplate {
  return (call) => {
    const text = call.textOperand(0);
    const known = call.share(quick(text));
    const json = call.sharedOperand(0);
    return (
      `multiIf(isNotNull(${known}), ${known}, ${text} = '', NULL, startsWith(${json}, '"'), ${string(text)}, ` +
      `${json} = 'true', ${bool("1")}, ${json} = 'false', ${bool("0")}, ${number(`toFloat64OrNull(${json})`)})`
    );
  };
}

/** The same where no truth value counts. A text is read as the JSON of the same text is, which is then not looked at. */
function ofNumberOrText({ quick, string }: Pick<DynamicReading, "quick" | "string">): SqlTemplate {
  return (call) => {
    const text = call.textOperand(0);
    const known = call.share(quick(text));
    return call.share(`multiIf(isNotNull(${known}), ${known}, ${text} = '', NULL, ${string(text)})`);
  };
}

/** A real number out of a text at once; NULL for anything but a finite one. */
const READ_REAL: Pick<DynamicReading, "quick" | "string"> = {
  quick: (text) => `if(isFinite(toFloat64OrNull(${text})), toFloat64OrNull(${text}), NULL)`,
  string: parsedReal,
};

function to(sqlType: string): SqlTemplate {
  return (call) => `to${sqlType}(${call.operand(0)})`;
}

function toInteger(type: "int" | "long"): FunctionDefinition {
  const bits = type === "int" ? "Int32" : "Int64";
  return {
    summary: `The value as ${type === "int" ? "an int" : "a long"}: reals are cut, texts that are no whole number give null.`,
    overloads: [
      from([...INTEGERS, "bool"], type, "propagate", to(bits)),
      from(
        REALS,
        type,
        "possible",
        shared((value) => integerOfReal(value, type)),
      ),
      from(
        "string",
        type,
        "possible",
        shared((value) => parsedInteger(value, type)),
      ),
      from(
        "datetime",
        type,
        "propagate",
        shared((value) => `to${bits}(${ticksOfDatetime(value)})`),
      ),
      from(
        "timespan",
        type,
        "propagate",
        shared((value) => `to${bits}(intDiv(${value}, 100))`),
      ),
      from(
        "dynamic",
        type,
        "possible",
        ofDynamic({
          quick: (text) => `to${bits}OrNull(${text})`,
          string: (text) => parsedInteger(text, type),
          number: (real) => `to${bits}(${integerOfReal(real, "long")})`,
          bool: (value) => `to${bits}(${value})`,
        }),
      ),
    ],
  };
}

function toReal(type: "real" | "decimal"): FunctionDefinition {
  return {
    summary: `The value as a ${type}; texts that are no number give null.`,
    ...(type === "decimal" ? { approximate: "Decimals are held as real numbers of about 16 digits." } : {}),
    overloads: [
      from([...NUMBERS, "bool"], type, "propagate", to("Float64")),
      from("string", type, "possible", shared(parsedReal)),
      from(
        "datetime",
        type,
        "propagate",
        shared((value) => `toFloat64(${ticksOfDatetime(value)})`),
      ),
      from(
        "timespan",
        type,
        "propagate",
        shared((value) => `toFloat64(intDiv(${value}, 100))`),
      ),
      {
        ...from(
          "dynamic",
          type,
          "possible",
          ofDynamic({ ...READ_REAL, number: (real) => real, bool: (value) => `toFloat64(${value})` }),
        ),
        withoutBools: ofNumberOrText(READ_REAL),
      },
    ],
  };
}

const TO_BOOL: FunctionDefinition = {
  summary: "The value as a bool: true for numbers that are not zero; texts that are neither give null.",
  overloads: [
    from("bool", "bool", "propagate", sql`${0}`),
    from(NUMBERS, "bool", "propagate", sql`(${0} != 0)`),
    from("string", "bool", "possible", shared(parsedBool)),
    from(
      "dynamic",
      "bool",
      "possible",
      ofDynamic({
        quick: (text) => `multiIf(${text} = 'true', true, ${text} = 'false', false, NULL)`,
        string: parsedBool,
        number: (real) => `(${real} != 0)`,
        bool: (value) => (value === "1" ? "true" : "false"),
      }),
    ),
  ],
};

/** A number is ticks; anything that is no text and no number gives null. */
function fromTextOrTicks(parse: (text: string) => string, ofTicks: (ticks: string) => string): SqlTemplate {
  return (call: CallWriter) => {
    const json = call.sharedOperand(0);
    const ticks = call.share(`toInt64OrNull(${json})`);
    return `if(isNotNull(${ticks}), ${ofTicks(ticks)}, ${parse(call.textOperand(0))})`;
  };
}

const TO_DATETIME: FunctionDefinition = {
  summary:
    "The value as a datetime: a text in one of the documented formats, month before day, or ticks since year 1.",
  approximate: `${DATETIME_RANGE} Texts with a time alone are null.`,
  overloads: [
    from("datetime", "datetime", "propagate", sql`${0}`),
    from(INTEGERS, "datetime", "possible", shared(datetimeOfTicks)),
    from(REALS, "datetime", "possible", (call) =>
      datetimeOfTicks(call.share(integerOfReal(call.sharedOperand(0), "long"))),
    ),
    from("string", "datetime", "possible", shared(parsedDatetime)),
    from("dynamic", "datetime", "possible", fromTextOrTicks(parsedDatetime, datetimeOfTicks)),
  ],
};

const TO_TIMESPAN: FunctionDefinition = {
  summary: "The value as a timespan: a text such as `1.02:03:04.5` or `90s`, or ticks.",
  approximate: TIMESPAN_RANGE,
  overloads: [
    from("timespan", "timespan", "propagate", sql`${0}`),
    from(INTEGERS, "timespan", "possible", shared(timespanOfTicks)),
    from(REALS, "timespan", "possible", (call) =>
      timespanOfTicks(call.share(integerOfReal(call.sharedOperand(0), "long"))),
    ),
    from("string", "timespan", "possible", shared(parsedTimespan)),
    from("dynamic", "timespan", "possible", fromTextOrTicks(parsedTimespan, timespanOfTicks)),
  ],
};

const TO_GUID: FunctionDefinition = {
  summary: "The value as a guid: 32 hexadecimal digits, with hyphens anywhere.",
  overloads: [
    from("guid", "guid", "never", sql`${0}`),
    from("string", "guid", "never", shared(parsedGuid)),
    from("dynamic", "guid", "never", (call) => parsedGuid(call.textOperand(0))),
  ],
};

const TO_STRING: FunctionDefinition = simple(
  "The value as a text; the empty one for null.",
  [parameter("value", "any")],
  "string",
  "never",
  (call) => {
    const type = call.operands[0]?.type ?? "string";
    if (type === "string" || type === "guid") return call.operand(0);
    return type === "dynamic" ? call.textOperand(0) : valueToText(call.sharedOperand(0), type);
  },
);

const TO_REAL = toReal("real");

const CONVERSIONS: Readonly<Record<Exclude<ScalarType, "dynamic">, FunctionDefinition>> = {
  bool: TO_BOOL,
  int: toInteger("int"),
  long: toInteger("long"),
  real: TO_REAL,
  decimal: toReal("decimal"),
  string: TO_STRING,
  datetime: TO_DATETIME,
  timespan: TO_TIMESPAN,
  guid: TO_GUID,
};

/** The SQL of one operand of a call, converted. Throws a TypeError for types between which there is no conversion. */
export function convertedOperand(call: CallWriter, index: number, to: ScalarType): string {
  const operand = call.operands[index];
  if (operand === undefined || operand.type === to) return call.operand(index);
  if (to === "dynamic") return valueToJson(call.sharedOperand(index), operand.type);
  const conversion = CONVERSIONS[to].overloads.find(({ parameters: [first] }) =>
    first === undefined || first.type === "any" ? true : [first.type].flat().includes(operand.type),
  );
  if (conversion === undefined) throw new TypeError(`a ${operand.type} cannot be made a ${to}`);
  return conversion.sql({
    operands: [operand],
    type: to,
    operand: () => call.operand(index),
    sharedOperand: () => call.sharedOperand(index),
    textOperand: () => call.textOperand(index),
    storedOperand: () => call.storedOperand(index),
    enumOperand: () => call.enumOperand(index),
    bagParts: () => call.bagParts(index),
    wordsOperand: () => call.wordsOperand(index),
    conditionOperand: () => call.conditionOperand(index),
    numberOperand: () => call.numberOperand(index),
    stringArray: (values) => call.stringArray(values),
    share: (text) => call.share(text),
    shareOfGroup: (text) => call.shareOfGroup(text),
    step: (text) => call.step(text),
    parameter: (type, value) => call.parameter(type, value),
  });
}

/** Conversions between types; none of them fails. */
export const CONVERSION_FUNCTIONS = {
  tostring: TO_STRING,
  toint: CONVERSIONS.int,
  tolong: CONVERSIONS.long,
  toreal: TO_REAL,
  todouble: TO_REAL,
  todecimal: CONVERSIONS.decimal,
  tobool: TO_BOOL,
  toboolean: TO_BOOL,
  todatetime: TO_DATETIME,
  totimespan: TO_TIMESPAN,
  totime: TO_TIMESPAN,
  toguid: TO_GUID,
} as const satisfies FunctionTable;
