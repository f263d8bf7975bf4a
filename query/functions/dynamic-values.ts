import type { ScalarType } from "../scalar-type.ts";
import {
  type CallWriter,
  constant,
  type FunctionDefinition,
  type FunctionTable,
  type Overload,
  optional,
  overload,
  parameter,
  type SqlTemplate,
  simple,
} from "./definition.ts";
import { TREE_FUNCTIONS } from "./dynamic-trees.ts";
import {
  arrayOfElements,
  elementsOf,
  isArray,
  letting,
  MAX_ELEMENTS,
  operandToComparable,
  operandToElement,
  operandToJson,
  operandType,
  toJson,
} from "./json-arrays.ts";

/** A text that is no JSON stays that text, as a string; an empty one is null. */
const parse: SqlTemplate = (call) => {
  if (operandType(call, 0) !== "string") return operandToJson(call, 0);
  const parsed = (text: string) =>
    `arrayMap(y -> multiIf(y = 'null' OR ${text} = '', '', y = '', toJSONString(${text}), y), [JSONExtractRaw(${text})])[1]`;
  return letting(call.operand(0), parsed);
};

const LIMIT = `${MAX_ELEMENTS}`;

/** The steps are counted with real numbers, so that no difference overflows. */
function steps(start: string, stop: string, step: string): string {
  const count = `floor((toFloat64(${stop}) - toFloat64(${start})) / toFloat64(${step})) + 1`;
  const known = `ifNull(if(isFinite(${count}), ${count}, 0), 0)`;
  return `range(toUInt64(greatest(least(${known}, ${LIMIT}), 0)))`;
}

function rangeOf(type: "long" | "real" | "timespan", unit: string): SqlTemplate {
  return (call) => {
    const [start, stop] = [call.sharedOperand(0), call.sharedOperand(1)];
    const step = call.operands.length > 2 ? call.sharedOperand(2) : unit;
    const integer = type === "real" ? "toFloat64" : "toInt64";
    const value = `assumeNotNull(${start}) + ${integer}(i) * assumeNotNull(${step})`;
    return rangeArray(call, steps(start, stop, step), value, type);
  };
}

function rangeArray(call: CallWriter, positions: string, value: string, type: ScalarType): string {
  const items = `arrayMap(x -> ${toJson("x", type)}, arrayMap(i -> ${value}, ${positions}))`;
  const isKnown = call.operands.flatMap((operand, i) =>
    operand.isNullable ? [`isNotNull(${call.sharedOperand(i)})`] : [],
  );
  return isKnown.length === 0
    ? arrayOfElements(items)
    : `if(${isKnown.join(" AND ")}, ${arrayOfElements(items)}, '')`;
}

/** The time `i` steps behind another, both as nanoseconds. */
function timeAt(start: string, step: string): string {
  return `fromUnixTimestamp64Nano(assumeNotNull(${start}) + toInt64(i) * assumeNotNull(${step}), 'UTC')`;
}

const datetimeRange: SqlTemplate = (call) => {
  const nanoseconds = (index: number) => `toUnixTimestamp64Nano(${call.sharedOperand(index)})`;
  const step = call.operands.length > 2 ? call.sharedOperand(2) : "toInt64(3600000000000)";
  const value = timeAt(nanoseconds(0), step);
  return rangeArray(call, steps(nanoseconds(0), nanoseconds(1), step), value, "datetime");
};

/** As many values as the last operand says. */
function points(type: "long" | "real" | "timespan" | "datetime"): SqlTemplate {
  return (call) => {
    const [start, step] = [call.sharedOperand(0), call.sharedOperand(1)];
    const distance = type === "real" ? `toFloat64(i) * ${step}` : `toInt64(i) * ${step}`;
    const value =
      type === "datetime" ? timeAt(`toUnixTimestamp64Nano(${start})`, step) : `${start} + ${distance}`;
    return rangeArray(call, `range(toUInt64(${call.operand(2)}))`, value, type);
  };
}

function pointsOverload(type: "long" | "real" | "timespan" | "datetime", step: ScalarType): Overload {
  const parameters = [parameter("start", type), parameter("step", step), constant("count", "long")];
  return overload(parameters, "dynamic", "never", points(type));
}

function rangeParameters(type: ScalarType, step: ScalarType) {
  return [parameter("start", type), parameter("stop", type), optional("step", step)];
}

const repeat: SqlTemplate = (call) => {
  const value = call.share(operandToElement(call, 0));
  const count = call.sharedOperand(1);
  const bounded = `toUInt64(greatest(least(ifNull(${count}, 0), ${LIMIT}), 0))`;
  return `if(ifNull(${count} >= 0, false), ${arrayOfElements(`arrayMap(i -> ${value}, range(${bounded}))`)}, '')`;
};

/** The elements of an array, and anything else as the one element of one. */
function itemsOf(json: string): string {
  return `if(${isArray(json)}, ${elementsOf(json)}, [JSONExtractRaw(${json})])`;
}

function membership(folds: boolean): SqlTemplate {
  return (call) => {
    const fold = (text: string) => (folds ? `lowerUTF8(${text})` : text);
    const items = letting(call.operand(1), itemsOf);
    const list = folds ? `arrayMap(x -> ${fold("x")}, ${items})` : items;
    return letting(
      fold(operandToComparable(call, 0)),
      (wanted) => `(${wanted} != '' AND has(${list}, ${wanted}))`,
    );
  };
}

/** Null for two nulls, as for values of any other type. */
const equality: SqlTemplate = (call) => {
  const [left, right] = [0, 1].map((i) => call.share(operandToComparable(call, i)));
  return `if(${left} = '' AND ${right} = '', NULL, ${left} = ${right})`;
};

function inArray(summary: string, folds: boolean): FunctionDefinition {
  const parameters = [parameter("value", "any"), parameter("array", "dynamic")];
  return simple(summary, parameters, "bool", "never", membership(folds));
}

const parseDefinition: FunctionDefinition = {
  ...simple("The value that a JSON text describes.", [parameter("value", "any")], "dynamic", "never", parse),
  approximate:
    "Whole real numbers lose their `.0`, and a text with a whole number beyond 64 bits stays a text. Of entries with the same key the first is found.",
};

export const DYNAMIC_FUNCTIONS = {
  parse_json: parseDefinition,
  parsejson: parseDefinition,
  todynamic: parseDefinition,
  toobject: parseDefinition,
  ...TREE_FUNCTIONS,
  range: {
    summary: "An array of values from one to another in equal steps, 1 048 576 at most.",
    overloads: [
      overload(rangeParameters("long", "long"), "dynamic", "never", rangeOf("long", "toInt64(1)")),
      overload(rangeParameters("real", "real"), "dynamic", "never", rangeOf("real", "toFloat64(1)")),
      overload(
        rangeParameters("timespan", "timespan"),
        "dynamic",
        "never",
        rangeOf("timespan", "toInt64(3600000000000)"),
      ),
      overload(rangeParameters("datetime", "timespan"), "dynamic", "never", datetimeRange),
    ],
  },
  repeat: simple(
    "An array of the same value several times, 1 048 576 at most.",
    [parameter("value", "any"), parameter("count", "long")],
    "dynamic",
    "never",
    repeat,
  ),
} as const satisfies FunctionTable;

/** Operators on dynamic values, under names that a query cannot write as a function. */
export const DYNAMIC_OPERATORS = {
  dynamicEqual: simple(
    "The same value.",
    [parameter("left", "any"), parameter("right", "any")],
    "bool",
    "possible",
    equality,
  ),
  seriesPoints: {
    summary: "An array of as many values as that, in equal steps.",
    overloads: [
      pointsOverload("long", "long"),
      pointsOverload("real", "real"),
      pointsOverload("timespan", "timespan"),
      pointsOverload("datetime", "timespan"),
    ],
  },
  inArray: inArray("One of the elements of an array.", false),
  inArrayIgnoreCase: inArray("One of the elements of an array, whatever the case.", true),
} as const satisfies FunctionTable;
