import {
  type CallWriter,
  type FunctionDefinition,
  type FunctionTable,
  parameter,
  type SqlTemplate,
  simple,
} from "./definition.ts";
import { arrayOfElements, isArray, operandType } from "./json-arrays.ts";
import { areIntegers, eitherOf, itemsOfSeries, ofSeries, seriesOfReals } from "./series-values.ts";
import { valueToJson } from "./value-text.ts";

const SERIES = parameter("series", "dynamic");
const EITHER = ["dynamic", "long", "real"] as const;

/** The elements of both operands side by side, as far as the longer one goes; a number stands beside every element. */
function pairs(call: CallWriter): {
  readonly lists: readonly [string, string];
  readonly areSeries: string;
  readonly areIntegers: string;
} {
  const dynamic = [0, 1].filter((index) => operandType(call, index) === "dynamic");
  const lengths = dynamic.map((index) => `length(${itemsOfSeries(call, index)})`);
  const length = call.step(
    `toUInt64(${lengths.length > 1 ? `greatest(${lengths.join(", ")})` : (lengths[0] ?? "0")})`,
  );
  const list = (index: number): string => {
    if (dynamic.includes(index))
      return call.step(`arrayResize(${itemsOfSeries(call, index)}, ${length}, 'null')`);
    const text = valueToJson(call.sharedOperand(index), operandType(call, index));
    return call.step(`arrayWithConstant(${length}, ${text})`);
  };
  const areSeries = dynamic.map((index) => isArray(call.sharedOperand(index))).join(" AND ");
  const whole = [0, 1].map((index) => {
    if (dynamic.includes(index)) return areIntegers(call, index);
    return operandType(call, index) === "long" ? "true" : "false";
  });
  return {
    lists: [list(0), list(1)],
    areSeries: areSeries === "" ? "false" : areSeries,
    areIntegers: whole.join(" AND "),
  };
}

/** Element by element; null where one of both is no number. Two series of integers make a third, but for a quotient. */
function arithmetic(
  summary: string,
  real: (x: string, y: string) => string,
  integer?: typeof real,
): FunctionDefinition {
  const template: SqlTemplate = (call) => {
    const { lists, areSeries, areIntegers } = pairs(call);
    const [left, right] = lists;
    const reals = seriesOfReals(
      `arrayMap((x, y) -> ${real("toFloat64OrNull(x)", "toFloat64OrNull(y)")}, ${left}, ${right})`,
    );
    if (integer === undefined) return eitherOf(areSeries, reals, "''");
    const value = integer("toInt64OrNull(x)", "toInt64OrNull(y)");
    const integers = arrayOfElements(
      `arrayMap((x, y) -> ifNull(toString(${value}), 'null'), ${left}, ${right})`,
    );
    return eitherOf(areSeries, eitherOf(areIntegers, integers, reals), "''");
  };
  return simple(
    summary,
    [parameter("series1", EITHER), parameter("series2", EITHER)],
    "dynamic",
    "never",
    template,
  );
}

/** Element by element; null where one of both is no number. */
function comparison(summary: string, operator: string): FunctionDefinition {
  const template: SqlTemplate = (call) => {
    const { lists, areSeries } = pairs(call);
    const exact = `toInt64OrNull(x) ${operator} toInt64OrNull(y)`;
    const result = `ifNull(${exact}, toFloat64OrNull(x) ${operator} toFloat64OrNull(y))`;
    const item = `multiIf(isNull(${result}), 'null', ${result}, 'true', 'false')`;
    return eitherOf(areSeries, arrayOfElements(`arrayMap((x, y) -> ${item}, ${lists.join(", ")})`), "''");
  };
  return simple(
    summary,
    [parameter("series1", EITHER), parameter("series2", EITHER)],
    "dynamic",
    "never",
    template,
  );
}

/** A function of each number; null stays where there is none. */
function ofEach(summary: string, write: (value: string) => string): FunctionDefinition {
  const template = ofSeries((_, items) =>
    seriesOfReals(`arrayMap(x -> ${write("toFloat64OrNull(x)")}, ${items})`),
  );
  return simple(summary, [SERIES], "dynamic", "never", template);
}

/** Functions of the numbers of series, one by one. */
export const SERIES_ARITHMETIC_FUNCTIONS = {
  series_add: arithmetic(
    "The sums of the elements of two series.",
    (x, y) => `${x} + ${y}`,
    (x, y) => `${x} + ${y}`,
  ),
  series_subtract: arithmetic(
    "The differences of the elements of two series.",
    (x, y) => `${x} - ${y}`,
    (x, y) => `${x} - ${y}`,
  ),
  series_multiply: arithmetic(
    "The products of the elements of two series.",
    (x, y) => `${x} * ${y}`,
    (x, y) => `${x} * ${y}`,
  ),
  series_divide: arithmetic("The quotients of the elements of two series.", (x, y) => `${x} / ${y}`),
  series_pow: arithmetic(
    "The elements of one series to the power of those of another.",
    (x, y) => `pow(${x}, ${y})`,
  ),
  series_equals: comparison("Whether the elements of two series are equal.", "="),
  series_not_equals: comparison("Whether the elements of two series differ.", "!="),
  series_greater: comparison("Whether the elements of one series are greater than those of another.", ">"),
  series_greater_equals: comparison(
    "Whether the elements of one series are greater than those of another, or equal.",
    ">=",
  ),
  series_less: comparison("Whether the elements of one series are smaller than those of another.", "<"),
  series_less_equals: comparison(
    "Whether the elements of one series are smaller than those of another, or equal.",
    "<=",
  ),
  series_abs: ofEach("The elements without their signs.", (x) => `abs(${x})`),
  series_sign: ofEach("-1, 0 or 1 for each element.", (x) => `toFloat64(sign(${x}))`),
  series_ceiling: ofEach("The elements rounded up.", (x) => `ceil(${x})`),
  series_floor: ofEach("The elements rounded down.", (x) => `floor(${x})`),
  series_exp: ofEach("e to the power of the elements.", (x) => `exp(${x})`),
  series_log: ofEach("The natural logarithms of the elements.", (x) => `log(${x})`),
  series_sin: ofEach("The sines of the elements.", (x) => `sin(${x})`),
  series_cos: ofEach("The cosines of the elements.", (x) => `cos(${x})`),
  series_tan: ofEach("The tangents of the elements.", (x) => `tan(${x})`),
  series_asin: ofEach("The angles whose sines the elements are.", (x) => `asin(${x})`),
  series_acos: ofEach("The angles whose cosines the elements are.", (x) => `acos(${x})`),
  series_atan: ofEach("The angles whose tangents the elements are.", (x) => `atan(${x})`),
} as const satisfies FunctionTable;
