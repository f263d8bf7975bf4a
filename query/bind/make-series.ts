import { call } from "../call.ts";
import { type Expression, type Literal, literal } from "../expression.ts";
import { SERIES_MAX_POINTS } from "../limits.ts";
import { aggregate, aggregateCall, columnOf, filter, project } from "../plan/build.ts";
import type { Relation } from "../plan/relation.ts";
import { isNumeric, type ScalarType } from "../scalar-type.ts";
import type { Span } from "../span.ts";
import type * as syntax from "../syntax/tree.ts";
import { aggregateName } from "./aggregates.ts";
import { impliedName, UniqueNames } from "./column-names.ts";
import { callNamed, convert } from "./conversion.ts";
import type { Environment } from "./environment.ts";
import { ExpressionContext, newCollector } from "./expression-context.ts";
import { countOf } from "./range.ts";
import { refuse } from "./refusal.ts";
import { bindSeriesBounds } from "./series-bounds.ts";
import { bindKeys } from "./summarize.ts";

/** One row for each combination of the keys, with arrays of a value for each step from `from` up to, not at, `to`. */
export function bindMakeSeries(
  input: Relation,
  operator: syntax.MakeSeriesOperator,
  environment: Environment,
): Relation {
  const collector = newCollector();
  const context = new ExpressionContext(environment, input, collector);
  const plain = new ExpressionContext(environment, input);
  const axis = bindAxis(operator, plain);
  const names = new UniqueNames();
  const keys = bindKeys(operator.by, plain, names);
  const outputs = operator.aggregates.map(({ argument, defaultValue }) => {
    const { names: given, value } = argument;
    const implied = value.kind === "call" ? aggregateName(value) : impliedName(value);
    const name = given[0]?.name ?? implied;
    return {
      name: name === null ? names.claimColumn() : names.claim(name),
      expression: context.scalar(value),
      fallback: defaultValue === null ? null : context.constant(defaultValue),
    };
  });
  const inRange = filter(input, axis.isInside);
  const hidden = keys.map(({ expression }, i) => ({ name: `$key${i}`, expression }));
  const stepped = aggregate(inRange, [...hidden, { name: "$step", expression: axis.step }], collector.calls);
  const columns = keys.map((_, i) => ({ name: `$key${i}`, expression: columnOf(stepped, `$key${i}`) }));
  const valued = project(stepped, [
    ...columns,
    { name: "$step", expression: columnOf(stepped, "$step") },
    ...outputs.map(({ expression }, i) => ({
      name: `$value${i}`,
      expression: convert(expression, "dynamic"),
    })),
  ]);
  const series = aggregate(
    valued,
    keys.map((_, i) => ({ name: `$key${i}`, expression: columnOf(valued, `$key${i}`) })),
    outputs
      .map(({ expression, fallback }, i) =>
        aggregateCall(
          `$series${i}`,
          "seriesValues",
          columnOf(valued, "$step"),
          columnOf(valued, `$value${i}`),
          literal("dynamic", defaultJson(fallback, expression)),
          literal("long", BigInt(axis.count)),
        ),
      )
      .concat(aggregateCall("$rows", "count")),
  );
  const isNonEmpty = operator.parameters.some(
    ({ name, value }) => name.name === "kind" && value.kind === "name" && value.name === "nonempty",
  );
  // Without keys there is a row even for no rows, which Kusto makes only when it is asked to.
  const filled = isNonEmpty
    ? series
    : filter(series, call("greater", columnOf(series, "$rows"), literal("long", 0n)));
  const axisName = operator.on.names[0]?.name ?? impliedName(operator.on.value) ?? names.claimColumn();
  return project(filled, [
    ...keys.map(({ name }, i) => ({ name, expression: columnOf(filled, `$key${i}`) })),
    ...outputs.map(({ name }, i) => ({ name, expression: columnOf(filled, `$series${i}`) })),
    { name: axisName, expression: axis.points },
  ]);
}

interface Axis {
  readonly isInside: Expression;
  /** The number of the step that a row belongs to, from 0. */
  readonly step: Expression;
  readonly count: number;
  /** The array of the starts of the steps. */
  readonly points: Expression;
}

function bindAxis(operator: syntax.MakeSeriesOperator, context: ExpressionContext): Axis {
  const value = context.scalar(operator.on.value);
  const step = context.constant(operator.step);
  const isLength = step.type === "timespan" || isNumeric(step.type);
  if (isLength && !(Number(step.value) > 0))
    refuse("WRONG_TYPE", "The step of a series is more than nothing.", operator.step.span);
  const axisType = step.type === "timespan" ? "datetime" : "long";
  const typed = value.type === "dynamic" ? convert(value, axisType) : value;
  const given = {
    from: operator.from === null ? null : context.constant(operator.from),
    to: operator.to === null ? null : context.constant(operator.to),
  };
  const { from, to } =
    given.from !== null && given.to !== null
      ? { from: given.from, to: given.to }
      : bindSeriesBounds(context, typed, step, given, operator.span);
  checkKinds(operator, typed, { from, to, step });
  const count = Math.max(0, countOf(from, before(to), step));
  if (count > SERIES_MAX_POINTS)
    return refuse("TOO_COMPLEX", `make-series makes ${SERIES_MAX_POINTS} points at most.`, operator.span);
  const distance = callNamed("subtract", [typed, from], operator.span);
  const steps = callNamed("floorDivide", [distance, step], operator.span);
  return {
    isInside: call("and", call("greaterOrEqual", typed, from), call("less", typed, to)),
    step: convert(steps, "long"),
    count,
    points: pointsOf(from, step, count, operator.span),
  };
}

/** They are made in the store: a hundred thousand of them are more than a statement takes. */
function pointsOf(from: Literal, step: Literal, count: number, span: Span): Expression {
  if (count === 0) return literal("dynamic", "[]");
  const areReal = [from, step].some(({ type }) => type === "real" || type === "decimal");
  const parts = areReal ? [from, step].map(({ value }) => literal("real", Number(value))) : [from, step];
  return callNamed("seriesPoints", [...parts, literal("long", BigInt(count))], span);
}

type AxisKind = "times" | "lengths of time" | "numbers";

/** What to write for the parts of an axis of times. */
const EXAMPLES = { from: "ago(1d)", to: "now()", step: "1h" } as const;

/** Values of an axis, its ends and its step go together: times go by lengths of time, numbers by numbers. */
function checkKinds(
  { on, from, to, step, span }: syntax.MakeSeriesOperator,
  axis: Expression,
  bounds: Readonly<Record<"from" | "to" | "step", Literal>>,
): void {
  const kind = axisKind(axis.type);
  if (kind === null)
    refuse("WRONG_TYPE", `make-series goes over times or numbers, not over a ${axis.type}.`, on.span);
  const places = { from: from?.span ?? span, to: to?.span ?? span, step: step.span };
  for (const part of ["from", "to", "step"] as const) {
    const expected = part === "step" && kind === "times" ? "lengths of time" : kind;
    const { type } = bounds[part];
    if (axisKind(type) === expected) continue;
    const suggestion = kind === "times" ? EXAMPLES[part] : null;
    const example = suggestion === null ? "" : `, such as ${suggestion}`;
    refuse(
      "WRONG_TYPE",
      `The series goes over ${kind}: \`${part}\` is one of ${expected}${example}, not a ${type}.`,
      places[part],
      suggestion,
    );
  }
}

function axisKind(type: ScalarType): AxisKind | null {
  if (type === "datetime") return "times";
  if (type === "timespan") return "lengths of time";
  return isNumeric(type) ? "numbers" : null;
}

/** The largest value below `to`, which itself is left out. */
function before(to: Literal): Literal {
  if (
    typeof to.value === "bigint" &&
    (to.type === "datetime" || to.type === "timespan" || to.type === "long")
  )
    return literal(to.type, to.value - 1n);
  if (to.type === "real" && to.value !== null)
    return literal("real", to.value - Math.abs(to.value) * Number.EPSILON);
  return to;
}

function defaultJson(fallback: Literal | null, aggregated: Expression): string {
  if (fallback === null) return aggregated.type === "real" ? "0.0" : "0";
  if (fallback.value === null) return "null";
  return typeof fallback.value === "string" && fallback.type === "string"
    ? JSON.stringify(fallback.value)
    : String(fallback.value);
}
