import { type Expression, type Literal, literal } from "../expression.ts";
import { RANGE_MAX_ROWS } from "../limits.ts";
import { columnOf, expand, filter, project, series, unitRow } from "../plan/build.ts";
import type { Relation } from "../plan/relation.ts";
import type { ScalarType } from "../scalar-type.ts";
import type * as syntax from "../syntax/tree.ts";
import { constantOf } from "./constants.ts";
import { callNamed, convert } from "./conversion.ts";
import type { Environment } from "./environment.ts";
import { ExpressionContext } from "./expression-context.ts";
import { refuse } from "./refusal.ts";

/** `range x from a to b step s`, both ends included. */
export function bindRange(operator: syntax.RangeOperator, environment: Environment): Relation {
  const context = new ExpressionContext(environment, unitRow());
  const parts = [operator.from, operator.to, operator.step].map((part) => context.scalar(part));
  const [from, to, step] = parts.map((part) => constantOf(part) ?? part);
  if (from === undefined || to === undefined || step === undefined)
    throw new TypeError("a range has three parts");
  const type = seriesType(from, to, step);
  if (type === null)
    return refuse(
      "WRONG_TYPE",
      `range does not go from a ${from.type} to a ${to.type} by a ${step.type}.`,
      operator.span,
    );
  if (from.kind !== "literal" || to.kind !== "literal" || step.kind !== "literal")
    return computedRange(operator, type, parts);
  const count = countOf(from, to, step);
  if (count > RANGE_MAX_ROWS)
    return refuse("TOO_COMPLEX", `range makes ${RANGE_MAX_ROWS} rows at most.`, operator.span);
  const start = converted(from, type);
  return series(operator.name.name, start, converted(step, type === "datetime" ? "timespan" : type), count);
}

/** Of ends that are known only as the query runs, such as values of tables: the elements of an array. */
function computedRange(
  { name: { name }, span }: syntax.RangeOperator,
  type: ScalarType,
  parts: readonly Expression[],
): Relation {
  const array = project(unitRow(), [{ name, expression: callNamed("range", parts, span) }]);
  const elements = expand(array, [{ name, expression: columnOf(array, name) }]);
  const values = project(elements, [{ name, expression: convert(columnOf(elements, name), type) }]);
  return filter(values, callNamed("isnotnull", [columnOf(values, name)], span));
}

function seriesType(
  from: Pick<Expression, "type">,
  to: Pick<Expression, "type">,
  step: Pick<Expression, "type">,
): ScalarType | null {
  const types = [from.type, to.type, step.type];
  if (from.type === "datetime" && to.type === "datetime" && step.type === "timespan") return "datetime";
  if (types.every((type) => type === "timespan")) return "timespan";
  if (types.every((type) => type === "int" || type === "long")) return "long";
  return types.every((type) => type === "int" || type === "long" || type === "real" || type === "decimal")
    ? "real"
    : null;
}

export function countOf(from: Literal, to: Literal, step: Literal): number {
  const [first, last, by] = [from.value, to.value, step.value];
  if (first === null || last === null || by === null) return 0;
  if (typeof first === "bigint" && typeof last === "bigint" && typeof by === "bigint") {
    if (by === 0n || (by > 0n ? first > last : first < last)) return 0;
    return Number((last - first) / by) + 1;
  }
  const [start, end, distance] = [Number(first), Number(last), Number(by)];
  if (!(distance !== 0) || (distance > 0 ? start > end : start < end)) return 0;
  const count = Math.floor((end - start) / distance) + 1;
  return Number.isFinite(count) ? count : 0;
}

function converted({ value }: Literal, to: ScalarType): Literal {
  switch (to) {
    case "real":
      return literal("real", value === null ? null : Number(value));
    case "datetime":
    case "timespan":
      return literal(to, value === null ? null : BigInt(String(value)));
    default:
      return literal("long", value === null ? null : BigInt(String(value)));
  }
}
