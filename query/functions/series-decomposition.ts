import { SERIES_ANALYSED_MAX_POINTS } from "../limits.ts";
import {
  type CallWriter,
  constant,
  FunctionArgumentError,
  type FunctionTable,
  optional,
  type Parameter,
  parameter,
  simple,
} from "./definition.ts";
import { arrayOfElements } from "./json-arrays.ts";
import { OWN_PERIODS, periodsOf } from "./series-periods.ts";
import { fittedLine } from "./series-statistics.ts";
import {
  completeSeries,
  constantOperand,
  numbersOf,
  ofSeries,
  presentJson,
  seriesOfReals,
} from "./series-values.ts";
import type { SeveralResults } from "./several-results.ts";

const SERIES = parameter("series", "dynamic");
const SEASONALITY = fixed("seasonality", "long");
const TREND = fixed("trend", "string");
const TEST_POINTS = fixed("test_points", "long");
const THRESHOLD = fixed("seasonality_threshold", "real");

function fixed(name: string, type: Parameter["type"]): Parameter {
  return { ...optional(name, type), isConstant: true };
}

/** Where the options of a decomposition stand among the operands; -1 for one that the function does not take. */
interface Places {
  readonly seasonality: number;
  readonly trend: number;
  readonly testPoints: number;
  readonly threshold: number;
  readonly defaultTrend: "avg" | "linefit";
}

/** The parts of a series, Array(Float64) each and shared, as long as the series. */
interface Parts {
  readonly numbers: string;
  readonly baseline: string;
  readonly seasonal: string;
  readonly trend: string;
  readonly residual: string;
}

/** The points from one to another by the same phase of a period, then the next phase; the phases' places among them. */
function medians(call: CallWriter, numbers: string, period: string): string {
  const count = `toInt64(length(${numbers}))`;
  const known = call.step(`greatest(${period}, 1)`);
  const byPhase = `arraySort((x, i) -> (i - 1) % ${known}, ${numbers}, arrayEnumerate(${numbers}))`;
  const [whole, rest] = [call.step(`intDiv(${count}, ${known})`), call.step(`${count} % ${known}`)];
  const ranges = `arrayMap(i -> (toUInt64(1 + i * ${whole} + least(i, ${rest})), toUInt64(${whole} + if(i < ${rest}, 1, 0))), range(toInt64(0), ${known}))`;
  return call.step(`arrayReduceInRanges('quantileExactInclusive(0.5)', ${ranges}, ${byPhase})`);
}

/** The median of the same phase at each point; 0 everywhere for a period of 0. */
function seasonalOf(call: CallWriter, numbers: string, trained: string, period: string): string {
  const phases = medians(call, trained, period);
  const turns = `intDiv(toInt64(length(${numbers})), greatest(${period}, 1)) + 1`;
  const repeated = `arrayFlatten(arrayMap(i -> ${phases}, range(toUInt64(${turns}))))`;
  const weight = call.step(`toFloat64(${period} != 0)`);
  return call.step(`arrayMap(x -> x * ${weight}, arraySlice(${repeated}, 1, length(${numbers})))`);
}

function trendOf(call: CallWriter, numbers: string, rest: string, kind: string): string {
  if (kind === "none") return `arrayMap(x -> toFloat64(0), ${numbers})`;
  if (kind === "avg") {
    const mean = call.step(`arrayAvg(${rest})`);
    return `arrayMap(x -> ${mean}, ${numbers})`;
  }
  const { slope, intercept } = fittedLine(call, rest);
  return `arrayMap(i -> ${intercept} + ${slope} * i, arrayEnumerate(${numbers}))`;
}

/** The period in points, Int64; 0 for none. */
function periodOf(call: CallWriter, trained: string, { seasonality, threshold }: Places): string {
  const given = constantOperand(call, seasonality, -1);
  if (given >= 0) {
    const period = call.parameter("Int64", String(Math.min(Math.trunc(given), Number.MAX_SAFE_INTEGER)));
    return call.step(`if(${period} > toInt64(length(${trained})), 0, ${period})`);
  }
  const lowest = call.parameter("Float64", String(constantOperand(call, threshold, 0.6)));
  return call.step(`arrayFilter(t -> t.1 >= ${lowest}, ${periodsOf(call, trained)})[1].2`);
}

/** What repeats is taken out first, by medians, then the trend; the points at the end that are for testing teach nothing. */
function decomposed(call: CallWriter, places: Places): Parts {
  const kind = constantOperand(call, places.trend, places.defaultTrend);
  if (!["avg", "linefit", "none"].includes(kind))
    throw new FunctionArgumentError(places.trend, "A trend is 'avg', 'linefit' or 'none'.");
  const numbers = completeSeries(call, 0, SERIES_ANALYSED_MAX_POINTS);
  const tested = constantOperand(call, places.testPoints, 0);
  if (tested < 0)
    throw new FunctionArgumentError(places.testPoints, "The number of points to test is not negative.");
  const left = `greatest(toInt64(length(${numbers})) - ${call.parameter("Int64", String(tested))}, 0)`;
  const trained = tested === 0 ? numbers : call.step(`arraySlice(${numbers}, 1, ${left})`);
  const seasonal = seasonalOf(call, numbers, trained, periodOf(call, trained, places));
  const rest = call.step(
    `arrayMap((x, s) -> x - s, ${trained}, arraySlice(${seasonal}, 1, length(${trained})))`,
  );
  const trend = call.step(trendOf(call, numbers, rest, kind));
  const baseline = call.step(`arrayMap((s, t) -> s + t, ${seasonal}, ${trend})`);
  const residual = call.step(`arrayMap((x, b) -> x - b, ${numbers}, ${baseline})`);
  return { numbers, baseline, seasonal, trend, residual };
}

/** What a distance beyond the 10th and 90th percentile is worth beside one beyond the quartiles, as the engine's answers have it. */
const CUSTOM_SCALE = 2.772605605507915;

/** Array(Float64): how far beyond two percentiles each number lies, in their distance; NULL counts as nothing. */
function scores(call: CallWriter, numbers: string, kind: string, index: number): string {
  if (kind !== "ctukey" && kind !== "tukey")
    throw new FunctionArgumentError(index, "The kind of a test for outliers is 'ctukey' or 'tukey'.");
  const [low, high, scale] = kind === "tukey" ? [0.25, 0.75, 1] : [0.1, 0.9, CUSTOM_SCALE];
  const known = `arrayFilter(x -> isNotNull(x), ${numbers})`;
  const bounds = call.step(
    `arrayReduce('quantilesExactInclusive(${low}, ${high})', arrayMap(x -> assumeNotNull(x), ${known}))`,
  );
  const [bottom, top] = [call.step(`${bounds}[1]`), call.step(`${bounds}[2]`)];
  const beyond = `multiIf(x > ${top}, x - ${top}, x < ${bottom}, x - ${bottom}, 0)`;
  const score = `if(${beyond} = 0, 0, ${beyond} * ${scale} / (${top} - ${bottom}))`;
  return `arrayMap(x -> ifNull(${score}, toFloat64(0)), ${numbers})`;
}

const outliers = ofSeries((call, items) => {
  const kind = constantOperand(call, 1, "ctukey");
  const ignored = call.operands.length > 2 ? call.step(`toFloat64(${call.operand(2)})`) : null;
  for (const [index, only] of [
    [3, 10],
    [4, 90],
  ] as const)
    if (constantOperand(call, index, only) !== only)
      throw new FunctionArgumentError(
        index,
        `Percentiles other than 10 and 90 are not supported: how Kusto weighs them is not published.`,
      );
  const all = call.step(numbersOf(items));
  const numbers =
    ignored === null ? all : call.step(`arrayMap(x -> if(ifNull(x = ${ignored}, false), NULL, x), ${all})`);
  return seriesOfReals(scores(call, numbers, kind, 1));
});

const DECOMPOSE: Places = { seasonality: 1, trend: 2, testPoints: 3, threshold: 4, defaultTrend: "avg" };
const ANOMALIES: Places = { seasonality: 2, trend: 3, testPoints: 4, threshold: 6, defaultTrend: "avg" };
const FORECAST: Places = { seasonality: 2, trend: 3, testPoints: 1, threshold: 4, defaultTrend: "linefit" };
const SEASONAL: Places = { seasonality: 1, trend: -1, testPoints: -1, threshold: -1, defaultTrend: "avg" };

/** The dynamic value of a part; null for a series that is empty, too long, or holds anything but numbers. */
function part({ numbers }: Parts, sql: string): string {
  return presentJson(numbers, sql);
}

export const DECOMPOSITION: SeveralResults = {
  name: "series_decompose",
  summary: "What a series is made of: what repeats, where it tends, and what is left.",
  approximate: OWN_PERIODS,
  parameters: [SERIES, SEASONALITY, TREND, TEST_POINTS, THRESHOLD],
  results: { baseline: "dynamic", seasonal: "dynamic", trend: "dynamic", residual: "dynamic" },
  sql: (call) => {
    const parts = decomposed(call, DECOMPOSE);
    const series = (numbers: string) => part(parts, seriesOfReals(numbers));
    const { baseline, seasonal, trend, residual } = parts;
    return {
      baseline: series(baseline),
      seasonal: series(seasonal),
      trend: series(trend),
      residual: series(residual),
    };
  },
};

export const DECOMPOSED_ANOMALIES: SeveralResults = {
  name: "series_decompose_anomalies",
  summary: "The points of a series that are out of line with what repeats in it and where it tends.",
  approximate: OWN_PERIODS,
  parameters: [
    SERIES,
    optional("threshold", "real"),
    SEASONALITY,
    TREND,
    TEST_POINTS,
    fixed("ad_method", "string"),
    THRESHOLD,
  ],
  results: { ad_flag: "dynamic", ad_score: "dynamic", baseline: "dynamic" },
  sql: (call) => {
    const parts = decomposed(call, ANOMALIES);
    const score = call.step(scores(call, parts.residual, constantOperand(call, 5, "ctukey"), 5));
    const threshold = call.operands.length > 1 ? call.step(`ifNull(${call.operand(1)}, 1.5)`) : "1.5";
    const flag = `multiIf(x > ${threshold}, '1', x < -(${threshold}), '-1', '0')`;
    return {
      ad_flag: part(parts, arrayOfElements(`arrayMap(x -> ${flag}, ${score})`)),
      ad_score: part(parts, seriesOfReals(score)),
      baseline: part(parts, seriesOfReals(parts.baseline)),
    };
  },
};

/** Series made of the parts of a series. */
export const SERIES_DECOMPOSITION_FUNCTIONS = {
  series_outliers: {
    ...simple(
      "How far beyond its usual range each element of a series lies; more than 1.5 is an outlier.",
      [
        SERIES,
        fixed("kind", "string"),
        optional("ignore_val", ["long", "real"]),
        fixed("min_percentile", ["long", "real"]),
        fixed("max_percentile", ["long", "real"]),
      ],
      "dynamic",
      "never",
      outliers,
    ),
  },
  series_seasonal: {
    ...simple(
      "What repeats in a series, by the medians of each phase.",
      [SERIES, SEASONALITY],
      "dynamic",
      "never",
      (call) => {
        const parts = decomposed(call, SEASONAL);
        return part(parts, seriesOfReals(parts.seasonal));
      },
    ),
    approximate: OWN_PERIODS,
  },
  series_decompose_forecast: {
    ...simple(
      "A series as it would go on without its last points, by what repeats in it and where it tends.",
      [SERIES, constant("points", "long"), SEASONALITY, TREND, THRESHOLD],
      "dynamic",
      "never",
      (call) => {
        const parts = decomposed(call, FORECAST);
        return part(parts, seriesOfReals(parts.baseline));
      },
    ),
    approximate: OWN_PERIODS,
  },
} as const satisfies FunctionTable;
