import type { ScalarType } from "../scalar-type.ts";
import type { CallWriter } from "./definition.ts";
import { valueToJson, valueToText } from "./value-text.ts";

// Blocks of SQL over dynamic values: JSON text in which nothing is the empty text, but `null` inside an array or a bag.
// None of them throws for any text; what is no JSON has no elements and no entries.

/** The most elements a function makes of nothing, and an aggregate keeps of a group: what Kusto's own functions keep. */
export const MAX_ELEMENTS = 1_048_576;

export function isArray(json: string): string {
  return `startsWith(${json}, '[')`;
}

export function isBag(json: string): string {
  return `startsWith(${json}, '{')`;
}

/** Array(String): the JSON texts of the elements; empty for anything but an array. */
export function elementsOf(json: string): string {
  return `JSONExtractArrayRaw(${json})`;
}

/** Array(Tuple(String, String)): the keys and the JSON texts of their values; empty for anything but a bag. */
export function entriesOf(json: string): string {
  return `JSONExtractKeysAndValuesRaw(${json})`;
}

/** The array of JSON texts, none of which is empty. */
export function arrayOfElements(elements: string): string {
  return `concat('[', arrayStringConcat(${elements}, ','), ']')`;
}

/** The bag of an Array(Tuple(String, String)) as `entriesOf` makes it. */
export function bagOfEntries(entries: string): string {
  return `concat('{', arrayStringConcat(arrayMap(x -> concat(toJSONString(x.1), ':', x.2), ${entries}), ','), '}')`;
}

/** The entries without those whose key came before. `entries` must be shared. */
export function firstOfEachKey(entries: string): string {
  const occurrences = `arrayEnumerateUniq(tupleElement(${entries}, 1))`;
  return `arrayFilter((x, i) -> i = 1, ${entries}, ${occurrences})`;
}

/** The dynamic value as an element of an array. */
export function asElement(json: string): string {
  return `ifNull(nullIf(${json}, ''), 'null')`;
}

/** The element of an array as a dynamic value. */
export function fromElement(element: string): string {
  return `ifNull(nullIf(${element}, 'null'), '')`;
}

/**
 * What may stand in the text of a statement any number of times: a stored column, a parameter. What is shared has a
 * name as well, but ClickHouse puts what that stands for at each of its places.
 */
const SHORT = /^(?:(?![cegs]\d+$)[a-z_]\w*|\{\w+:\w+\})$/i;

/**
 * SQL in which a value stands many times, but is written and computed once. What is shared (`CallWriter.share`) is
 * computed once as well, but ClickHouse writes it out at each of its places before it sees that they are the same, and
 * calls inside calls inside calls grow beyond what it takes. The body must not use the name for anything else.
 */
export function letting(value: string, body: (name: string) => string, name: "y" | "z" = "z"): string {
  return SHORT.test(value) ? body(value) : `arrayMap(${name} -> ${body(name)}, [${value}])[1]`;
}

/** The JSON text that a function makes of the elements of its first operand; null unless that is an array. */
export function withElements(call: CallWriter, build: (items: string) => string): string {
  return letting(
    call.operand(0),
    (json) => `if(${isArray(json)}, ${letting(elementsOf(json), build, "y")}, '')`,
  );
}

/** The text of an element: a string without quotes, anything else as JSON. The element must be shared. */
export function elementToText(element: string): string {
  return `if(startsWith(${element}, '"'), JSONExtractString(${element}), ${element})`;
}

/** The JSON text of a value, empty for nothing; a decimal is a string in JSON. The value must be shared. */
export function toJson(value: string, type: ScalarType): string {
  if (type !== "decimal") return valueToJson(value, type);
  return `if(isNull(${value}), '', concat('"', ${valueToText(value, type)}, '"'))`;
}

/** The JSON text of an operand, empty for nothing. */
export function operandToJson(call: CallWriter, index: number): string {
  const type = operandType(call, index);
  return type === "dynamic" ? call.operand(index) : toJson(call.sharedOperand(index), type);
}

/** The JSON text of an operand as it stands in an array: `null` for nothing. */
export function operandToElement(call: CallWriter, index: number): string {
  return asElement(operandToJson(call, index));
}

/**
 * The JSON text of an operand as `elementsOf` would spell it, so that equal values have equal texts: `1.0` is `1`,
 * and what is not there is empty.
 */
export function operandToComparable(call: CallWriter, index: number): string {
  const type = operandType(call, index);
  const json = operandToJson(call, index);
  return type === "real" || type === "dynamic" ? `JSONExtractRaw(${json})` : json;
}

export function operandType(call: CallWriter, index: number): ScalarType {
  const operand = call.operands[index];
  if (operand === undefined) throw new TypeError("an operand is missing");
  return operand.type;
}

/** A whole number that may be NULL, as one that is not; for SQL that `whenPresent` keeps from being used. */
export function integerOperand(call: CallWriter, index: number): string {
  const value = call.sharedOperand(index);
  return call.operands[index]?.isNullable ? `ifNull(${value}, 0)` : value;
}

/** The JSON text, but null where one of these operands, which are not dynamic, is. */
export function whenPresent(call: CallWriter, indexes: readonly number[], json: string): string {
  const conditions = indexes
    .filter((index) => call.operands[index]?.isNullable)
    .map((index) => `isNotNull(${call.sharedOperand(index)})`);
  return conditions.length === 0 ? json : `if(${conditions.join(" AND ")}, ${json}, '')`;
}
