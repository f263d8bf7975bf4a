import type { Expression } from "../expression.ts";
import { hasSqlNull, type ScalarType } from "../scalar-type.ts";
import { condition, dynamicOrder } from "./aggregates.ts";
import {
  type AggregateDefinition,
  type AggregateTable,
  type CallWriter,
  constant,
  FunctionArgumentError,
  overload,
  type Parameter,
  parameter,
  repeated,
} from "./definition.ts";
import { arrayOfElements, asElement, operandType, toJson } from "./json-arrays.ts";

const value = parameter("value", "any");

function typeOfOperand(index: number): (operands: readonly Expression[]) => ScalarType {
  return (operands) => operands[index]?.type ?? "dynamic";
}

/** A value that may be null, inside a tuple, since aggregates leave nulls out. */
function kept(value: string, type: ScalarType): string {
  return hasSqlNull(type) ? `tuple(toNullable(${value}))` : `tuple(${value})`;
}

/** One of an operand's values; of an enumeration, whose text is due only for the one that is chosen. */
function chosen(call: CallWriter, index: number, choose: (value: string) => string): string {
  const enumeration = call.enumOperand(index);
  return enumeration === undefined ? choose(call.operand(index)) : `toString(${choose(enumeration)})`;
}

/** NaN counts as the largest number for one direction, and as the smallest for the other. */
function orderOf(by: string, type: ScalarType, direction: "Max" | "Min"): string {
  const first = direction === "Max" ? `isNaN(${by})` : `NOT isNaN(${by})`;
  switch (type) {
    case "real":
    case "decimal":
      return `tuple(${first}, if(isNaN(${by}), 0, ${by}))`;
    case "dynamic":
      return dynamicOrder(by);
    default:
      return by;
  }
}

/** One column of arg_max() or arg_min(): the value where `by` is largest or smallest; where `by` is null everywhere, that of any row. */
function extremeRow(direction: "Max" | "Min"): AggregateDefinition {
  return {
    prefix: `arg_${direction.toLowerCase()}`,
    summary: `The value in the row where another one is ${direction === "Max" ? "largest" : "smallest"}.`,
    overloads: [
      overload([parameter("by", "any"), value], typeOfOperand(1), "possible", (call) => {
        const type = operandType(call, 0);
        // Of an attribute its text says as much, and a number that was sent as a text is one.
        const by = type === "dynamic" ? call.textOperand(0) : call.sharedOperand(0);
        const isNull = hasSqlNull(type) ? call.operands[0]?.isNullable : type !== "string";
        const order = orderOf(by, type, direction);
        // A tuple is copied for every new extreme, which takes half as long again.
        const valueType = operandType(call, 1);
        if (!isNull && !hasSqlNull(valueType))
          return chosen(call, 1, (row) => `arg${direction}(${row}, ${order})`);
        if (!isNull) return `tupleElement(arg${direction}(${kept(call.operand(1), valueType)}, ${order}), 1)`;
        const present = hasSqlNull(type) ? `isNotNull(${by})` : `${by} != ''`;
        const known = hasSqlNull(type) ? call.share(`assumeNotNull(${by})`) : by;
        const knownOrder = orderOf(known, type, direction);
        return chosen(call, 1, (row) => {
          const whole = kept(row, valueType);
          const found = `arg${direction}If(${whole}, ${knownOrder}, ${present})`;
          return `tupleElement(if(countIf(${present}) = 0, any(${whole}), ${found}), 1)`;
        });
      }),
    ],
  };
}

function takeAny(hasCondition: boolean): AggregateDefinition {
  const parameters = [value, ...(hasCondition ? [parameter("predicate", "bool")] : [])];
  return {
    prefix: "",
    summary: hasCondition ? "A value of any row for which a condition holds." : "A value of any row.",
    overloads: [
      overload(parameters, typeOfOperand(0), "possible", (call) => {
        const orNull = hasSqlNull(operandType(call, 0)) ? "OrNull" : "";
        return chosen(call, 0, (row) =>
          hasCondition ? `any${orNull}If(${row}, ${condition(call, 1)})` : `any${orNull}(${row})`,
        );
      }),
    ],
  };
}

const PERCENTILE_TYPES: readonly ScalarType[] = ["int", "long", "real", "decimal", "datetime", "timespan"];

/** ClickHouse takes the value after the one wanted where the rank is a whole number; this keeps it below. */
const BELOW_RANK = 1 - 1e-12;

function levelOf(percentile: number, index: number): number {
  if (!(percentile >= 0 && percentile <= 100))
    throw new FunctionArgumentError(index, "A percentile has to be a constant from 0 to 100");
  return (percentile / 100) * BELOW_RANK;
}

function percentileOperand(call: CallWriter, index: number): number {
  const operand = call.operands[index];
  if (operand?.kind !== "literal") return Number.NaN;
  if (
    operand.type === "long" ||
    operand.type === "int" ||
    operand.type === "real" ||
    operand.type === "decimal"
  )
    return Number(operand.value ?? Number.NaN);
  return Number.NaN;
}

/** The percentiles that the operands from `from` on are: numbers, or one array of numbers. */
function percentiles(call: CallWriter, from: number): readonly number[] {
  const operand = call.operands[from];
  if (operand === undefined)
    throw new FunctionArgumentError(from, "An array of percentiles says which they are, such as 50 and 95");
  if (operand.kind !== "literal" || operand.type !== "dynamic")
    return call.operands.slice(from).map((_, i) => levelOf(percentileOperand(call, from + i), from + i));
  const parsed: unknown = JSON.parse(operand.value ?? "null");
  const items: readonly unknown[] = Array.isArray(parsed) ? parsed : [parsed];
  return items.map((item) => levelOf(typeof item === "number" ? item : Number.NaN, from));
}

/** The nearest rank: a value that is there. Exact, with the memory of all values. */
function ranked(call: CallWriter, level: number, isWeighted: boolean): string {
  const name = isWeighted ? "quantileExactWeightedOrNull" : "quantileExactOrNull";
  const weight = isWeighted ? `, toUInt64(greatest(ifNull(${call.sharedOperand(1)}, 0), 0))` : "";
  return `${name}(${call.parameter("Float64", String(level))})(${call.sharedOperand(0)}${weight})`;
}

function percentile(isWeighted: boolean): AggregateDefinition {
  const weight = isWeighted ? [parameter("weight", "long")] : [];
  const position = isWeighted ? 2 : 1;
  return {
    prefix: "percentile",
    summary: isWeighted ? "The value at a percentile of weighted values." : "The value at a percentile.",
    overloads: PERCENTILE_TYPES.map((type) =>
      overload(
        [parameter("value", type), ...weight, constant("percentile", ["long", "real"])],
        type,
        "possible",
        (call) => ranked(call, levelOf(percentileOperand(call, position), position), isWeighted),
      ),
    ),
  };
}

function percentilesArray(isWeighted: boolean): AggregateDefinition {
  const weight = isWeighted ? [parameter("weight", "long")] : [];
  const from = isWeighted ? 2 : 1;
  const several: Parameter = { ...repeated("percentile", ["long", "real", "dynamic"]), isConstant: true };
  return {
    prefix: "percentiles",
    summary: "An array of the values at several percentiles.",
    overloads: PERCENTILE_TYPES.map((type) =>
      overload([parameter("value", type), ...weight, several], "dynamic", "never", (call) => {
        const values = percentiles(call, from).map((level) =>
          asElement(toJson(call.shareOfGroup(ranked(call, level, isWeighted)), type)),
        );
        return values.length === 0 ? "'[]'" : arrayOfElements(`[${values.join(", ")}]`);
      }),
    ),
  };
}

/** Aggregates that choose one of the values. */
export const SELECTION_AGGREGATES = {
  take_any: takeAny(false),
  any: takeAny(false),
  take_anyif: takeAny(true),
  anyif: takeAny(true),
  argMax: extremeRow("Max"),
  argMin: extremeRow("Min"),
  percentile: percentile(false),
  percentilew: percentile(true),
  percentiles_array: percentilesArray(false),
  percentilesw_array: percentilesArray(true),
} as const satisfies AggregateTable;
