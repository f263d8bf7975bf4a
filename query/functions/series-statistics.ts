import {
  type CallWriter,
  type FunctionTable,
  optional,
  parameter,
  type SqlTemplate,
  simple,
} from "./definition.ts";
import { MAX_ELEMENTS } from "./json-arrays.ts";
import {
  completeSeries,
  eitherOf,
  itemsOfSeries,
  numbersOf,
  presentJson,
  presentNumber,
  seriesOfReals,
} from "./series-values.ts";
import { bagFunction, type SeveralResults } from "./several-results.ts";

const SERIES = parameter("series", "dynamic");

/** The straight line through the points of a series: SQL of numbers. */
interface FittedLine {
  readonly slope: string;
  readonly intercept: string;
  readonly variance: string;
  /** Of what the line leaves. */
  readonly residualVariance: string;
  readonly rSquare: string;
  /** Array(Float64). */
  readonly values: string;
}

/** The line of least squares; positions count from 1. Of one point the slope is NaN. */
export function fittedLine(call: CallWriter, numbers: string): FittedLine {
  const count = call.step(`toFloat64(length(${numbers}))`);
  const positions = `arrayEnumerate(${numbers})`;
  const mean = call.step(`arrayAvg(${numbers})`);
  const middle = call.step(`(${count} + 1) / 2`);
  const products = `arraySum((x, i) -> (i - ${middle}) * (x - ${mean}), ${numbers}, ${positions})`;
  const slope = call.step(`12 * ${products} / (${count} * (${count} * ${count} - 1))`);
  const intercept = call.step(`${mean} - ${slope} * ${middle}`);
  const values = call.step(`arrayMap(i -> ${intercept} + ${slope} * i, ${positions})`);
  const squares = call.step(`arraySum(x -> (x - ${mean}) * (x - ${mean}), ${numbers})`);
  const left = call.step(`arraySum((x, y) -> (x - y) * (x - y), ${numbers}, ${values})`);
  return {
    slope,
    intercept,
    variance: `${squares} / (${count} - 1)`,
    residualVariance: `${left} / (${count} - 1)`,
    rSquare: `1 - ${left} / ${squares}`,
    values,
  };
}

export const FIT_LINE: SeveralResults = {
  name: "series_fit_line",
  summary: "The straight line through a series.",
  parameters: [SERIES],
  results: {
    rsquare: "real",
    slope: "real",
    variance: "real",
    rvariance: "real",
    interception: "real",
    line_fit: "dynamic",
  },
  sql: (call) => {
    const numbers = completeSeries(call, 0, MAX_ELEMENTS);
    const line = fittedLine(call, numbers);
    return {
      rsquare: presentNumber(numbers, line.rSquare),
      slope: presentNumber(numbers, line.slope),
      variance: presentNumber(numbers, line.variance),
      rvariance: presentNumber(numbers, line.residualVariance),
      interception: presentNumber(numbers, line.intercept),
      line_fit: presentJson(numbers, seriesOfReals(line.values)),
    };
  },
};

/** What lines leave of the first 1, 2, ... points, as an Array(Float64), from sums that grow with the points. */
function squaresLeft(call: CallWriter, numbers: string): string {
  const sums = `arrayCumSum(${numbers})`;
  const products = `arrayCumSum((x, i) -> x * i, ${numbers}, arrayEnumerate(${numbers}))`;
  const squares = `arrayCumSum(x -> x * x, ${numbers})`;
  const [sxy, sxx, syy] = ["(p - s * (i + 1) / 2)", "(i * (toFloat64(i) * i - 1) / 12)", "(q - s * s / i)"];
  const left = `if(i < 2, 0, greatest(${syy} - ${sxy} * ${sxy} / ${sxx}, 0))`;
  return call.step(
    `arrayMap((s, p, q, i) -> ${left}, ${sums}, ${products}, ${squares}, arrayEnumerate(${numbers}))`,
  );
}

/** Where a series is cut so that two lines leave the least: how many points the first one has; two points for each at least. */
function cutOf(call: CallWriter, centred: string): string {
  const before = squaresLeft(call, centred);
  const behind = squaresLeft(call, call.step(`arrayReverse(${centred})`));
  const count = `toInt64(length(${centred}))`;
  const cuts = `greatest(${count} - 3, 0)`;
  const losses = call.step(
    `arrayMap((x, y) -> x + y, arraySlice(${before}, 2, ${cuts}), arraySlice(arrayReverse(${behind}), 3, ${cuts}))`,
  );
  return call.step(`if(empty(${losses}), ${count}, toInt64(indexOf(${losses}, arrayMin(${losses}))) + 1)`);
}

const SIDES = {
  rsquare: "real",
  slope: "real",
  interception: "real",
  variance: "real",
  rvariance: "real",
} as const;

function named<T>(side: "left" | "right", results: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(results).map(([name, result]) => [`${side}_${name}`, result]));
}

export const FIT_2LINES: SeveralResults = {
  name: "series_fit_2lines",
  summary: "The two straight lines, one behind the other, that fit a series best.",
  approximate:
    "The cut is where both lines together leave the least, with two points for each at least; the right line counts its positions from the cut.",
  parameters: [SERIES],
  results: {
    rsquare: "real",
    split_idx: "long",
    variance: "real",
    rvariance: "real",
    line_fit: "dynamic",
    ...named("right", SIDES),
    ...named("left", SIDES),
  },
  sql: (call) => {
    const numbers = completeSeries(call, 0, MAX_ELEMENTS);
    const mean = call.step(`arrayAvg(${numbers})`);
    const centred = call.step(`arrayMap(x -> x - ${mean}, ${numbers})`);
    const cut = cutOf(call, centred);
    const left = fittedLine(call, call.step(`arraySlice(${numbers}, 1, ${cut})`));
    const right = fittedLine(call, call.step(`arraySlice(${numbers}, ${cut} + 1)`));
    const values = call.step(`arrayConcat(${left.values}, ${right.values})`);
    const total = call.step(`arraySum(x -> x * x, ${centred})`);
    const lost = call.step(`arraySum((x, y) -> (x - y) * (x - y), ${numbers}, ${values})`);
    const others = `(toFloat64(length(${numbers})) - 1)`;
    const side = (line: FittedLine) => ({
      rsquare: presentNumber(numbers, line.rSquare),
      slope: presentNumber(numbers, line.slope),
      interception: presentNumber(numbers, line.intercept),
      variance: presentNumber(numbers, line.variance),
      rvariance: presentNumber(numbers, line.residualVariance),
    });
    return {
      rsquare: presentNumber(numbers, `1 - ${lost} / ${total}`),
      split_idx: presentNumber(numbers, cut),
      variance: presentNumber(numbers, `${total} / ${others}`),
      rvariance: presentNumber(numbers, `${lost} / ${others}`),
      line_fit: presentJson(numbers, seriesOfReals(values)),
      ...named("right", side(right)),
      ...named("left", side(left)),
    };
  },
};

/** Of the finite numbers alone, or of nothing where there is anything else. */
function describe(
  call: CallWriter,
): Record<"min" | "min_idx" | "max" | "max_idx" | "avg" | "stdev" | "variance" | "sum" | "len", string> {
  const all = call.step(numbersOf(itemsOfSeries(call, 0)));
  const known = "arrayFilter(x -> isNotNull(x) AND isFinite(x)";
  const ignores = call.operands.length > 1 ? `ifNull(${call.operand(1)}, false)` : "false";
  const numbers = call.step(`arrayMap(x -> assumeNotNull(x), ${known}, ${all}))`);
  const isKnown = call.step(`notEmpty(${numbers}) AND (${ignores} OR length(${numbers}) = length(${all}))`);
  const mean = call.step(`arrayAvg(${numbers})`);
  const count = `toFloat64(length(${numbers}))`;
  const squares = `arraySum(x -> (x - ${mean}) * (x - ${mean}), ${numbers})`;
  const variance = call.step(`if(${count} < 2, 0, ${squares} / (${count} - 1))`);
  const [min, max] = [call.step(`arrayMin(${numbers})`), call.step(`arrayMax(${numbers})`)];
  const result = (sql: string) => eitherOf(isKnown, sql, "NULL");
  return {
    min: result(min),
    min_idx: result(`toInt64(indexOf(${all}, ${min})) - 1`),
    max: result(max),
    max_idx: result(`toInt64(indexOf(${all}, ${max})) - 1`),
    avg: result(mean),
    stdev: result(`sqrt(${variance})`),
    variance: result(variance),
    sum: result(`arraySum(${numbers})`),
    len: result(`toInt64(length(${all}))`),
  };
}

export const STATS: SeveralResults = {
  name: "series_stats",
  summary:
    "The smallest and the largest number of a series with their positions, mean, deviation and variance.",
  parameters: [SERIES, optional("ignore_nonfinite", "bool")],
  results: {
    min: "real",
    min_idx: "long",
    max: "real",
    max_idx: "long",
    avg: "real",
    stdev: "real",
    variance: "real",
  },
  sql: describe,
};

const STATS_BAG: SeveralResults = { ...STATS, results: { ...STATS.results, sum: "real", len: "long" } };

/** A number made of one or two complete series of one length; NULL otherwise. */
function ofComplete(
  count: 1 | 2,
  write: (first: string, second: string, call: CallWriter) => string,
): SqlTemplate {
  return (call) => {
    const [left, right] = [
      completeSeries(call, 0, MAX_ELEMENTS),
      completeSeries(call, count - 1, MAX_ELEMENTS),
    ];
    // Both are cut to one length, so that no lambda ever meets two.
    const shortest = call.step(`least(length(${left}), length(${right}))`);
    const [x, y] = [
      call.step(`arraySlice(${left}, 1, ${shortest})`),
      call.step(`arraySlice(${right}, 1, ${shortest})`),
    ];
    return eitherOf(`length(${left}) = length(${right}) AND notEmpty(${left})`, write(x, y, call), "NULL");
  };
}

function correlation(left: string, right: string, call: CallWriter): string {
  const mean = (list: string) => call.step(`arrayAvg(${list})`);
  const [m, n] = [mean(left), mean(right)];
  const product = `arraySum((x, y) -> (x - ${m}) * (y - ${n}), ${left}, ${right})`;
  const squares = (list: string, of: string) => `arraySum(x -> (x - ${of}) * (x - ${of}), ${list})`;
  return `${product} / sqrt(${squares(left, m)} * ${squares(right, n)})`;
}

const dotProduct = (left: string, right: string) => `arraySum((x, y) -> x * y, ${left}, ${right})`;
const magnitude = (list: string) => `sqrt(arraySum(x -> x * x, ${list}))`;

function ofTwo(summary: string, write: Parameters<typeof ofComplete>[1]) {
  const parameters = [parameter("series1", "dynamic"), parameter("series2", "dynamic")];
  return simple(summary, parameters, "real", "possible", ofComplete(2, write));
}

function ofOne(summary: string, write: (list: string) => string) {
  return simple(summary, [SERIES], "real", "possible", ofComplete(1, write));
}

/** What describes a series as a whole. */
export const SERIES_STATISTICS_FUNCTIONS = {
  series_fit_line_dynamic: bagFunction(FIT_LINE),
  series_fit_2lines_dynamic: bagFunction(FIT_2LINES),
  series_stats_dynamic: bagFunction(STATS_BAG),
  series_pearson_correlation: ofTwo("How far two series move together, from -1 to 1.", correlation),
  series_dot_product: ofTwo("The sum of the products of the elements of two series.", dotProduct),
  series_cosine_similarity: ofTwo(
    "The cosine of the angle between two series.",
    (left, right) => `${dotProduct(left, right)} / (${magnitude(left)} * ${magnitude(right)})`,
  ),
  series_magnitude: ofOne("The length of a series as a vector.", magnitude),
  series_sum: ofOne("The sum of a series.", (list) => `arraySum(${list})`),
  series_product: ofOne("The product of a series.", (list) => `arrayProduct(${list})`),
} as const satisfies FunctionTable;
