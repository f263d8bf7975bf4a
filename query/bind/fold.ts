import { type Expression, literal } from "../expression.ts";
import { clampLong } from "./long-range.ts";

/**
 * Computes a call of constants where that is simple and exact, so that `-1`, `ago(7d) - 1h` and `2 * 1d` are constants
 * as well. Anything else stays what it is: the store computes it once.
 */
export function foldCall(expression: Expression): Expression {
  if (expression.kind !== "call") return expression;
  const [left, right] = expression.operands;
  if (left?.kind !== "literal" || left.value === null) return expression;
  if (expression.name === "negate") return negated(expression, left.value);
  if (right?.kind !== "literal" || right.value === null) return expression;
  const { type } = expression;
  if (typeof left.value !== "bigint" || typeof right.value !== "bigint") return expression;
  if (type !== "long" && type !== "datetime" && type !== "timespan") return expression;
  const result = combined(expression.name, left.value, right.value);
  return result === null || clampLong(result) !== result ? expression : literal(type, result);
}

function combined(name: string, left: bigint, right: bigint): bigint | null {
  switch (name) {
    case "add":
      return left + right;
    case "subtract":
      return left - right;
    case "multiply":
      return left * right;
    default:
      return null;
  }
}

function negated(expression: Expression, value: unknown): Expression {
  if (typeof value === "bigint" && (expression.type === "long" || expression.type === "timespan"))
    return clampLong(-value) === -value ? literal(expression.type, -value) : expression;
  if (typeof value === "number" && (expression.type === "int" || expression.type === "real"))
    return literal(expression.type, -value);
  return expression;
}
