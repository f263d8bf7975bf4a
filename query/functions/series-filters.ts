import { SERIES_ANALYSED_MAX_POINTS, SERIES_FILTER_MAX_COEFFICIENTS } from "../limits.ts";
import {
  type CallWriter,
  constant,
  FunctionArgumentError,
  type FunctionTable,
  optional,
  parameter,
  type SqlTemplate,
  simple,
} from "./definition.ts";
import { arrayOfElements } from "./json-arrays.ts";
import {
  areIntegers,
  completeSeries,
  constantOperand,
  eitherOf,
  elementOfInteger,
  presentJson,
  seriesOfReals,
} from "./series-values.ts";

/** The numbers of a filter. Throws a FunctionArgumentError for anything but a short list of them. */
function coefficients(call: CallWriter, index: number): number[] {
  const parsed: unknown = JSON.parse(constantOperand(call, index, "null"));
  const numbers = Array.isArray(parsed) ? parsed.filter((item) => typeof item === "number") : [];
  if (!Array.isArray(parsed) || numbers.length === 0 || numbers.length < parsed.length)
    throw new FunctionArgumentError(index, "A filter is an array of numbers, such as dynamic([1, -1]).");
  if (numbers.length > SERIES_FILTER_MAX_COEFFICIENTS)
    throw new FunctionArgumentError(index, `A filter has at most ${SERIES_FILTER_MAX_COEFFICIENTS} numbers.`);
  return numbers;
}

function numberList(call: CallWriter, numbers: readonly number[]): string {
  return `[${numbers.map((number) => call.parameter("Float64", String(number))).join(", ")}]`;
}

/** Each point is a sum of the ones up to it, each times a number; what lies outside the series is 0. */
function weighted(call: CallWriter, series: string, numbers: readonly number[], ahead: number): string {
  const shifts = numbers.map((_, i) => `toInt64(${i - ahead})`).join(", ");
  const shifted = `arrayShiftRight(${series}, f.2, toFloat64(0))`;
  const step = `arrayMap((s, x) -> s + f.1 * x, acc, ${shifted})`;
  const start = `arrayMap(x -> toFloat64(0), ${series})`;
  return call.step(
    `arrayFold((acc, f) -> ${step}, arrayZip(${numberList(call, numbers)}, [${shifts}]), ${start})`,
  );
}

/** A series of integers stays one where the filter is one of integers; null unless all its elements are numbers. */
function filtered(call: CallWriter, series: string, result: string, staysInteger: boolean): string {
  const reals = seriesOfReals(result);
  const integers = arrayOfElements(`arrayMap(x -> ${elementOfInteger("x")}, ${result})`);
  return presentJson(series, staysInteger ? eitherOf(areIntegers(call, 0), integers, reals) : reals);
}

const finite: SqlTemplate = (call) => {
  const numbers = coefficients(call, 1);
  const isSigned = numbers.some((number) => number < 0);
  const normalizes = constantOperand(call, 2, !isSigned);
  if (normalizes && isSigned) return "''";
  const sum = normalizes ? numbers.reduce((total, number) => total + number, 0) : 1;
  const ahead = constantOperand(call, 3, false) ? Math.floor(numbers.length / 2) : 0;
  const series = completeSeries(call, 0, SERIES_ANALYSED_MAX_POINTS);
  const scaled = numbers.map((number) => number / sum);
  const result = weighted(call, series, scaled, ahead);
  return filtered(call, series, result, !normalizes && numbers.every(Number.isSafeInteger));
};

const infinite: SqlTemplate = (call) => {
  const [numerators, denominators] = [coefficients(call, 1), coefficients(call, 2)];
  const [first = 0, ...others] = denominators;
  if (first === 0) throw new FunctionArgumentError(2, "The first number of the denominators is not 0.");
  const series = completeSeries(call, 0, SERIES_ANALYSED_MAX_POINTS);
  const forward = weighted(
    call,
    series,
    numerators.map((number) => number / first),
    0,
  );
  const scaled = others.map((number) => call.parameter("Float64", String(number / first)));
  const fed = scaled.map((number, i) => ` - ${number} * acc[-${i + 1}]`).join("");
  const result = call.step(
    `arrayFold((acc, x) -> arrayPushBack(acc, x${fed}), ${forward}, CAST([], 'Array(Float64)'))`,
  );
  const areWhole = [...numerators, ...denominators].every(Number.isSafeInteger) && Math.abs(first) === 1;
  return filtered(call, series, result, areWhole);
};

const TOO_LONG = `Of a series with more than ${SERIES_ANALYSED_MAX_POINTS} elements the result is null.`;

/** Digital filters. */
export const SERIES_FILTER_FUNCTIONS = {
  series_fir: {
    ...simple(
      "Each element is a weighted sum of those up to it: moving averages, differences.",
      [
        parameter("series", "dynamic"),
        constant("filter", "dynamic"),
        { ...optional("normalize", "bool"), isConstant: true },
        { ...optional("center", "bool"), isConstant: true },
      ],
      "dynamic",
      "never",
      finite,
    ),
    approximate: TOO_LONG,
  },
  series_iir: {
    ...simple(
      "Each element is a weighted sum of those up to it and of the results before it: cumulative sums, smoothing.",
      [
        parameter("series", "dynamic"),
        constant("numerators", "dynamic"),
        constant("denominators", "dynamic"),
      ],
      "dynamic",
      "never",
      infinite,
    ),
    approximate: TOO_LONG,
  },
} as const satisfies FunctionTable;
