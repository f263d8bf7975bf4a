import { type CallWriter, FunctionArgumentError, type SqlTemplate } from "./definition.ts";
import { arrayOfElements, elementsOf, isArray, operandType } from "./json-arrays.ts";

// Blocks of SQL over series: arrays of numbers inside a dynamic value. What is shared is written once for each row, and
// arrays are passed to `arrayMap` side by side: what a lambda mentions of its row is copied for each element.

/** The elements of an operand that is a dynamic value, shared; none for anything but an array. */
export function itemsOfSeries(call: CallWriter, index: number): string {
  return call.step(elementsOf(call.sharedOperand(index)));
}

/** Array(Nullable(Float64)): NULL for what is no number. */
export function numbersOf(items: string): string {
  return `arrayMap(x -> toFloat64OrNull(x), ${items})`;
}

/** True if every element of an operand is an integer or null: such a series stays one of integers. */
export function areIntegers(call: CallWriter, index: number): string {
  // The store leaves out the `.0` of an element, but not that of the text it stands in.
  const json = call.sharedOperand(index);
  const isInteger = "x = 'null' OR isNotNull(toInt64OrNull(x))";
  return `(position(${json}, '.') = 0 AND arrayAll(x -> ${isInteger}, ${itemsOfSeries(call, index)}))`;
}

/** A series of numbers alone, shared; empty for one that holds anything else or has more elements than that. */
export function completeSeries(call: CallWriter, index: number, maxElements: number): string {
  const items = itemsOfSeries(call, index);
  const isComplete = `length(${items}) <= ${maxElements} AND arrayAll(x -> isNotNull(toFloat64OrNull(x)), ${items})`;
  return call.step(`arrayMap(x -> toFloat64OrZero(x), if(${isComplete}, ${items}, []))`);
}

/** The dynamic array of an array of real numbers, which may be NULL. */
export function seriesOfReals(numbers: string): string {
  return arrayOfElements(`arrayMap(x -> ${elementOfReal("x")}, ${numbers})`);
}

/** A real number, which may be NULL, as an element of JSON: a whole one as `1.0`. */
export function elementOfReal(value: string): string {
  const whole = `if(${value} = trunc(${value}) AND abs(${value}) < 1e16, '.0', '')`;
  return (
    `multiIf(isNull(${value}), 'null', isFinite(${value}), concat(toString(${value}), ${whole}), ` +
    `${value} > 0, '"Infinity"', ${value} < 0, '"-Infinity"', '"NaN"')`
  );
}

/** A real number that is a whole one as an element of JSON; as a real one where no long is as large. */
export function elementOfInteger(value: string): string {
  return `ifNull(toString(accurateCastOrNull(${value}, 'Int64')), ${elementOfReal(value)})`;
}

/** A property bag of members that are elements of JSON already. */
export function bagOf(members: readonly (readonly [name: string, json: string])[]): string {
  const parts = members.map(([name, json], i) => `'${i === 0 ? "{" : ","}"${name}":', ${json}`);
  return `concat(${parts.join(", ")}, '}')`;
}

/**
 * One of two values of a row, both of which are computed. The store puts off what only a branch of `if` mentions, and
 * computes it anew for each of those that mention it: of steps over steps that would double with each of them.
 */
export function eitherOf(condition: string, whenTrue: string, whenFalse: string): string {
  return `[${whenTrue}, ${whenFalse}][if(${condition}, 1, 2)]`;
}

/** A number computed of a series, NULL where that has no numbers. */
export function presentNumber(numbers: string, sql: string): string {
  return eitherOf(`empty(${numbers})`, "NULL", sql);
}

/** A dynamic value computed of a series, null where that has no numbers. */
export function presentJson(numbers: string, json: string): string {
  return eitherOf(`empty(${numbers})`, "''", json);
}

/** A function of the elements of the first operand, null unless that is an array. */
export function ofSeries(build: (call: CallWriter, items: string) => string): SqlTemplate {
  return (call) => eitherOf(isArray(call.sharedOperand(0)), build(call, itemsOfSeries(call, 0)), "''");
}

/** The value of an operand that has to be a constant; the default where it is absent or null. */
export function constantOperand<T extends string | number | boolean>(
  call: CallWriter,
  index: number,
  absent: T,
): T {
  const operand = call.operands[index];
  if (operand?.kind !== "literal" || operand.value === null) return absent;
  const value = typeof operand.value === "bigint" ? Number(operand.value) : operand.value;
  if (!isLike(value, absent))
    throw new FunctionArgumentError(index, `a ${operandType(call, index)} does not belong here`);
  return value;
}

function isLike<T>(value: unknown, example: T): value is T {
  return typeof value === typeof example;
}
