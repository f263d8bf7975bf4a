import type { ScalarType } from "../scalar-type.ts";
import {
  type AggregateDefinition,
  type AggregateTable,
  type CallWriter,
  type Overload,
  overload,
  type Parameter,
  parameter,
  repeated,
  type SqlTemplate,
} from "./definition.ts";

/** The condition of an aggregate, for which null is false. */
export function condition(call: CallWriter, index: number): string {
  const operand = call.conditionOperand(index);
  return call.operands[index]?.isNullable ? `ifNull(${operand}, false)` : operand;
}

/** Writes an aggregate of a value, of the rows for which a condition holds if there is one. */
type Aggregation = (value: string, when: string | null) => string;

/** `name(values)` of ClickHouse, of the rows for which the condition holds. */
function aggregated(name: string, values: string, when: string | null): string {
  return when === null ? `${name}(${values})` : `${name}If(${values}, ${when})`;
}

function both(condition: string, when: string | null): string {
  return when === null ? condition : `${condition} AND ${when}`;
}

function plain(aggregation: TypedAggregation): SqlTemplate {
  return (call) => written(call, aggregation, null);
}

function conditional(aggregation: TypedAggregation): SqlTemplate {
  return (call) => written(call, aggregation, call.share(condition(call, 1)));
}

function written(call: CallWriter, { write, ofEnum }: TypedAggregation, when: string | null): string {
  const enumeration = ofEnum === undefined ? undefined : call.enumOperand(0);
  return enumeration === undefined || ofEnum === undefined
    ? write(call.sharedOperand(0), when)
    : ofEnum(enumeration, when);
}

interface TypedAggregation {
  readonly takes: ScalarType | readonly ScalarType[];
  readonly result: ScalarType;
  readonly nulls: Overload["nulls"];
  readonly write: Aggregation;
  /** The same of a stored enumeration. */
  readonly ofEnum?: Aggregation;
}

const NUMBERS: readonly ScalarType[] = ["int", "long", "real"];

/** An aggregate of one value and its twin with a condition. */
function pair(
  name: string,
  summary: string,
  aggregations: readonly TypedAggregation[],
): { readonly always: AggregateDefinition; readonly ifTrue: AggregateDefinition } {
  const overloads = (more: readonly Parameter[], template: (aggregation: TypedAggregation) => SqlTemplate) =>
    aggregations.map((aggregation) => {
      const { takes, result, nulls } = aggregation;
      return overload([parameter("value", takes), ...more], result, nulls, template(aggregation));
    });
  return {
    always: { prefix: name, summary: `${summary}.`, overloads: overloads([], plain) },
    ifTrue: {
      prefix: `${name}if`,
      summary: `${summary}, of the rows for which a condition holds.`,
      overloads: overloads([parameter("predicate", "bool")], conditional),
    },
  };
}

function writeSum(zero: string): Aggregation {
  return (value, when) => `ifNull(${aggregated("sum", value, when)}, ${zero})`;
}

const SUM = pair("sum", "The sum; 0 of nothing; of longs it wraps around beyond 64 bits", [
  { takes: ["int", "long"], result: "long", nulls: "never", write: writeSum("toInt64(0)") },
  { takes: "real", result: "real", nulls: "never", write: writeSum("toFloat64(0)") },
  { takes: "decimal", result: "decimal", nulls: "never", write: writeSum("toFloat64(0)") },
  { takes: "timespan", result: "timespan", nulls: "never", write: writeSum("toInt64(0)") },
]);

/** As real numbers, so that the sum inside does not overflow. */
const writeAverage: Aggregation = (value, when) =>
  `ifNull(${aggregated("avg", `toFloat64(${value})`, when)}, nan)`;

const writeAverageNanoseconds: Aggregation = (value, when) =>
  `accurateCastOrNull(trunc(${aggregated("avg", `toFloat64(${value})`, when)}), 'Int64')`;

const AVG = pair("avg", "The mean; NaN of nothing", [
  { takes: NUMBERS, result: "real", nulls: "never", write: writeAverage },
  { takes: "decimal", result: "decimal", nulls: "never", write: writeAverage },
  { takes: "timespan", result: "timespan", nulls: "possible", write: writeAverageNanoseconds },
  {
    takes: "datetime",
    result: "datetime",
    nulls: "possible",
    write: (value, when) =>
      `fromUnixTimestamp64Nano(${writeAverageNanoseconds(`toUnixTimestamp64Nano(${value})`, when)}, 'UTC')`,
  },
]);

/** Numbers in a dynamic value are smaller than texts; whole ones have all their digits. */
export function dynamicOrder(value: string): string {
  const real = `toFloat64OrNull(${value})`;
  return `tuple(isNull(${real}), ifNull(${real}, 0), ifNull(toInt64OrNull(${value}), 0), ${value})`;
}

function extreme(name: "min" | "max"): readonly TypedAggregation[] {
  const orNull: Aggregation = (value, when) => aggregated(`${name}OrNull`, value, when);
  const ofNumbers: Aggregation = (value, when) => {
    const isNotANumber = both(`ifNull(isNaN(${value}), false)`, when);
    return `if(countIf(${isNotANumber}) > 0, nan, ${orNull(value, when)})`;
  };
  const byOrder = name === "min" ? "argMin" : "argMax";
  const arrayExtreme = name === "min" ? "arrayMin" : "arrayMax";
  const ordered: readonly ScalarType[] = ["bool", "int", "long", "datetime", "timespan"];
  return [
    ...ordered.map(
      (type): TypedAggregation => ({ takes: type, result: type, nulls: "possible", write: orNull }),
    ),
    { takes: "real", result: "real", nulls: "possible", write: ofNumbers },
    { takes: "decimal", result: "decimal", nulls: "possible", write: ofNumbers },
    {
      takes: "string",
      result: "string",
      nulls: "never",
      write: (value, when) => aggregated(name, value, when),
      // Its texts have another order than its values, but there are few.
      ofEnum: (value, when) =>
        `${arrayExtreme}(arrayMap(x -> toString(x), ${aggregated("groupUniqArray", value, when)}))`,
    },
    {
      takes: "guid",
      result: "guid",
      nulls: "never",
      write: (value, when) => aggregated(name, value, both(`${value} != ''`, when)),
    },
    {
      takes: "dynamic",
      result: "dynamic",
      nulls: "never",
      write: (value, when) =>
        aggregated(byOrder, `${value}, ${dynamicOrder(value)}`, both(`${value} != ''`, when)),
    },
  ];
}

const MIN = pair("min", "The smallest value; null of nothing", extreme("min"));
const MAX = pair("max", "The largest value; null of nothing", extreme("max"));

/** Kusto rounds a variance to ten decimals, and takes the standard deviation from that. */
function variance(statistic: "varSampStable" | "varPopStable"): Aggregation {
  const least = statistic === "varSampStable" ? 2 : 1;
  return (value, when) => {
    const known = `round(${aggregated(statistic, `toFloat64(${value})`, when)}, 10)`;
    return `ifNull(if(${aggregated("count", value, when)} < ${least}, toFloat64(0), ${known}), 0)`;
  };
}

function deviation(statistic: "varSampStable" | "varPopStable"): Aggregation {
  return (...operands) => `sqrt(${variance(statistic)(...operands)})`;
}

function statistic(name: string, summary: string, write: Aggregation) {
  return pair(name, summary, [{ takes: [...NUMBERS, "decimal"], result: "real", nulls: "never", write }]);
}

const STDEV = statistic(
  "stdev",
  "The standard deviation of a sample; 0 of fewer than two",
  deviation("varSampStable"),
);
const STDEVP = statistic(
  "stdevp",
  "The standard deviation of a population; 0 of nothing",
  deviation("varPopStable"),
);
const VARIANCE = statistic(
  "variance",
  "The variance of a sample; 0 of fewer than two",
  variance("varSampStable"),
);
const VARIANCEP = statistic(
  "variancep",
  "The variance of a population; 0 of nothing",
  variance("varPopStable"),
);

function covariance(
  name: string,
  summary: string,
  least: 1 | 2,
  isConditional: boolean,
): AggregateDefinition {
  const function_ = least === 2 ? "covarSampStable" : "covarPopStable";
  return {
    prefix: name,
    summary,
    overloads: [
      overload(
        [
          parameter("x", NUMBERS),
          parameter("y", NUMBERS),
          ...(isConditional ? [parameter("predicate", "bool")] : []),
        ],
        "real",
        "never",
        (call) => {
          const [x, y] = [call.sharedOperand(0), call.sharedOperand(1)];
          const present = `isNotNull(${x}) AND isNotNull(${y})${isConditional ? ` AND ${condition(call, 2)}` : ""}`;
          const when = call.share(present);
          const pairs = `toFloat64(ifNull(${x}, 0)), toFloat64(ifNull(${y}, 0)), ${when}`;
          return `if(countIf(${when}) < ${least}, toFloat64(0), round(${function_}If(${pairs}), 10))`;
        },
      ),
    ],
  };
}

function binaryAll(name: "and" | "or" | "xor"): AggregateDefinition {
  const sqlName = { and: "groupBitAnd", or: "groupBitOr", xor: "groupBitXor" }[name];
  return {
    prefix: "",
    summary: `The bits of all values under \`${name}\`; null of nothing.`,
    overloads: [
      overload([parameter("value", "long")], "long", "possible", (call) => {
        return `toInt64(${sqlName}OrNull(${call.operand(0)}))`;
      }),
    ],
  };
}

const COUNT: AggregateDefinition = {
  prefix: "count",
  summary: "The number of rows, whatever is in them.",
  overloads: [overload([repeated("value", "any")], "long", "never", () => "toInt64(count())")],
};

const COUNT_IF: AggregateDefinition = {
  prefix: "countif",
  summary: "The number of rows for which a condition holds.",
  overloads: [
    overload(
      [parameter("predicate", "bool")],
      "long",
      "never",
      (call) => `toInt64(countIf(${condition(call, 0)}))`,
    ),
  ],
};

/** Aggregates of numbers, and the smallest and largest of anything. */
export const STATISTIC_AGGREGATES = {
  count: COUNT,
  cnt: COUNT,
  countif: COUNT_IF,
  sum: SUM.always,
  sumif: SUM.ifTrue,
  avg: AVG.always,
  avgif: AVG.ifTrue,
  min: MIN.always,
  minif: MIN.ifTrue,
  max: MAX.always,
  maxif: MAX.ifTrue,
  stdev: STDEV.always,
  stdevif: STDEV.ifTrue,
  stdevp: STDEVP.always,
  stdevpif: STDEVP.ifTrue,
  variance: VARIANCE.always,
  varianceif: VARIANCE.ifTrue,
  variancep: VARIANCEP.always,
  variancepif: VARIANCEP.ifTrue,
  covariance: covariance("covariance", "The covariance of a sample; 0 of fewer than two.", 2, false),
  covarianceif: covariance(
    "covarianceif",
    "The covariance of the rows for which a condition holds.",
    2,
    true,
  ),
  covariancep: covariance("covariancep", "The covariance of a population; 0 of nothing.", 1, false),
  covariancepif: covariance(
    "covariancepif",
    "The covariance of a population where a condition holds.",
    1,
    true,
  ),
  binary_all_and: binaryAll("and"),
  binary_all_or: binaryAll("or"),
  binary_all_xor: binaryAll("xor"),
} as const satisfies AggregateTable;
