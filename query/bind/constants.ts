import { type Expression, type Literal, literal } from "../expression.ts";
import { TIME_MAX_NS, TIME_MIN_NS } from "../time-range.ts";
import { binStart, boundaryOf } from "./calendar.ts";
import { foldCall } from "./fold.ts";
import { clampLong } from "./long-range.ts";

/**
 * The value of an expression that has to be known when the query is compiled: arithmetic, bins and the boundaries of
 * days, weeks, months and years over constants, such as `bin(ago(7d), 1h)`. Null for anything else.
 */
export function constantOf(expression: Expression): Literal | null {
  if (expression.kind === "literal") return expression;
  if (expression.kind !== "call") return null;
  const operands: Literal[] = [];
  for (const operand of expression.operands) {
    const constant = constantOf(operand);
    if (constant === null) return null;
    operands.push(constant);
  }
  const folded = foldCall({ ...expression, operands });
  return folded.kind === "literal" ? folded : calendarConstant(expression.name, operands);
}

function calendarConstant(name: string, [value, other]: readonly Literal[]): Literal | null {
  if (typeof value?.value !== "bigint") return null;
  const amount = other === undefined ? 0n : other.value;
  if (typeof amount !== "bigint") return null;
  const { type } = value;
  if (name === "bin" || name === "floor") {
    if (amount <= 0n || (type !== "datetime" && type !== "timespan" && type !== "long")) return null;
    const start = binStart(value.value, amount, type);
    if (type === "datetime") return isTime(start) ? literal(type, start) : null;
    return clampLong(start) === start ? literal(type, start) : null;
  }
  const boundary = type === "datetime" ? boundaryOf(name, value.value, amount) : null;
  return boundary !== null && isTime(boundary) ? literal("datetime", boundary) : null;
}

function isTime(nanoseconds: bigint): boolean {
  return nanoseconds >= TIME_MIN_NS && nanoseconds <= TIME_MAX_NS;
}
