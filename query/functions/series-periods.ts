import { SERIES_ANALYSED_MAX_POINTS } from "../limits.ts";
import { type CallWriter, constant, FunctionArgumentError, parameter, repeated } from "./definition.ts";
import { completeSeries, constantOperand, presentJson, seriesOfReals } from "./series-values.ts";
import type { SeveralResults } from "./several-results.ts";

/** A period is at least that long, and less than half of the series. */
const PERIOD_MIN_POINTS = 4;

/** Of the lengths at which a series is most like itself, those that are looked at as periods. */
const CANDIDATES_MAX_COUNT = 64;

/** As Kusto has it. */
const VALIDATED_MAX_COUNT = 16;

/**
 * Array(Tuple(score Float64, points Int64)): the periods of a series, the best first, shared. The score is how like
 * the series is to itself when it is turned by so many points, as a share of the way from the least such likeness to 1; it
 * counts where it is higher than those beside it, and than every other one from half to one and a half of its points.
 */
export function periodsOf(call: CallWriter, numbers: string): string {
  const likeness = call.step(`arrayAutocorrelation(${numbers})`);
  const half = call.step(`toInt64(intDiv(length(${numbers}), 2))`);
  // What is turned out at the end comes in at the start: the likeness at a distance and at its complement.
  const turned = call.step(
    `arrayMap((x, y) -> x + y, arraySlice(${likeness}, 1, ${half} + 1), ` +
      `arrayResize(arrayConcat([toFloat64(0)], arrayReverse(arraySlice(${likeness}, greatest(toInt64(length(${likeness})) - ${half} + 1, 1), ${half}))), ` +
      `length(arraySlice(${likeness}, 1, ${half} + 1))))`,
  );
  const lowest = call.step(`arrayMin(${turned})`);
  const isPeak = "x > before AND x > behind AND i > 1 AND i <= h";
  const halves = `arrayMap(x -> ${half}, ${turned})`;
  const peaks =
    `arrayFilter(t -> t.2 > 0, arrayMap((x, before, behind, i, h) -> if(${isPeak}, (x, toInt64(i) - 1), (toFloat64(0), toInt64(0))), ` +
    `${turned}, arrayShiftRight(${turned}, 1), arrayShiftLeft(${turned}, 1), arrayEnumerate(${turned}), ${halves}))`;
  const best = call.step(
    `arraySlice(arrayReverseSort(t -> (t.1, -t.2), ${peaks}), 1, ${CANDIDATES_MAX_COUNT})`,
  );
  const outdone = `arrayExists(u -> u.1 > t.1 AND 2 * u.2 >= t.2 AND 2 * u.2 <= 3 * t.2, ${best})`;
  return call.step(
    `arrayMap(t -> ((t.1 - ${lowest}) / (1 - ${lowest}), t.2), ` +
      `arrayFilter(t -> t.2 >= ${PERIOD_MIN_POINTS} AND NOT ${outdone}, ${best}))`,
  );
}

function periodsAndScores(series: string, periods: string, scores: string) {
  const result = (numbers: string) => presentJson(series, seriesOfReals(numbers));
  return { periods: result(periods), scores: result(scores) };
}

const RESULTS = { periods: "dynamic", scores: "dynamic" } as const;

export const OWN_PERIODS =
  "Which lesser periods count is found out by a rule of its own: none from half to one and a half of a better one. " +
  `Of a series with more than ${SERIES_ANALYSED_MAX_POINTS} elements the result is null.`;

export const PERIODS_DETECT: SeveralResults = {
  name: "series_periods_detect",
  summary: "The best periods of a series with their scores.",
  approximate: OWN_PERIODS,
  parameters: [
    parameter("series", "dynamic"),
    parameter("min_period", "real"),
    parameter("max_period", "real"),
    constant("num_periods", "long"),
  ],
  results: RESULTS,
  sql: (call) => {
    const series = completeSeries(call, 0, SERIES_ANALYSED_MAX_POINTS);
    const [shortest, longest] = [call.sharedOperand(1), call.sharedOperand(2)];
    const fits = `ifNull(t.2 >= ${shortest} AND t.2 <= ${longest}, false)`;
    const count = Math.min(Math.max(Math.trunc(constantOperand(call, 3, 1)), 0), CANDIDATES_MAX_COUNT);
    const found = call.step(
      `arrayResize(arrayFilter(t -> ${fits}, ${periodsOf(call, series)}), ${count}, (toFloat64(0), toInt64(0)))`,
    );
    return periodsAndScores(
      series,
      `arrayMap(t -> toFloat64(t.2), ${found})`,
      `arrayMap(t -> t.1, ${found})`,
    );
  },
};

export const PERIODS_VALIDATE: SeveralResults = {
  name: "series_periods_validate",
  summary: "The scores of periods of a series.",
  approximate: OWN_PERIODS,
  parameters: [parameter("series", "dynamic"), parameter("period", "real"), repeated("more", "real")],
  results: RESULTS,
  sql: (call) => {
    if (call.operands.length > 1 + VALIDATED_MAX_COUNT)
      throw new FunctionArgumentError(
        1 + VALIDATED_MAX_COUNT,
        `At most ${VALIDATED_MAX_COUNT} periods are validated.`,
      );
    const series = completeSeries(call, 0, SERIES_ANALYSED_MAX_POINTS);
    const periods = periodsOf(call, series);
    const operands = call.operands.slice(1).map((_, i) => `toFloat64(${call.operand(i + 1)})`);
    const wanted = call.step(`[${operands.join(", ")}]`);
    const score = `arraySum(t -> if(ifNull(t.2 = p, false), t.1, 0), ${periods})`;
    return periodsAndScores(series, wanted, `arrayMap(p -> ${score}, ${wanted})`);
  },
};
