import { type Expression, type Literal, literal } from "../expression.ts";
import { aggregate, aggregateCall, columnOf, project } from "../plan/build.ts";
import type { Relation } from "../plan/relation.ts";
import type { Span } from "../span.ts";
import { binStart } from "./calendar.ts";
import { convert } from "./conversion.ts";
import { discoverColumns } from "./discovery.ts";
import type { ExpressionContext } from "./expression-context.ts";
import { refuse } from "./refusal.ts";

/** Ticks of 100 ns from 0001-01-01 to 1970-01-01: how a datetime is written as a number. */
const EPOCH_TICKS = 621_355_968_000_000_000n;
const NANOS_PER_TICK = 100n;

interface Bounds {
  readonly from: Literal;
  readonly to: Literal;
}

/** Where a series begins and ends that does not say so: at the step of the first value, behind that of the last. */
export function bindSeriesBounds(
  context: ExpressionContext,
  axis: Expression,
  step: Literal,
  given: { readonly from: Literal | null; readonly to: Literal | null },
  span: Span,
): Bounds {
  if (axis.type !== "datetime" && axis.type !== "long" && axis.type !== "int")
    return refuse("UNSUPPORTED", `make-series over a ${axis.type} needs \`from\` and \`to\`.`, span);
  const [found] = discoverColumns(context.environment.compilation, extent(context.relation, axis), span);
  const [last] = found?.types ?? [];
  const isTime = axis.type === "datetime";
  const distance = typeof step.value === "bigint" && step.value > 0n ? step.value : null;
  if (distance === null) return refuse("WRONG_TYPE", "The step of a series is more than nothing.", span);
  if (found === undefined || found.name === "" || last === undefined) {
    const nowhere = given.from ?? given.to ?? (isTime ? literal("datetime", 0n) : literal("long", 0n));
    return { from: nowhere, to: nowhere };
  }
  const [least, greatest] = [found.name, last].map((text) => (isTime ? timeOf(text) : BigInt(text)));
  if (least === undefined || greatest === undefined) throw new TypeError("an extent has two ends");
  const first = binStart(least, distance, isTime ? "datetime" : "long");
  const made = (value: bigint): Literal => (isTime ? literal("datetime", value) : literal("long", value));
  return { from: given.from ?? made(first), to: given.to ?? made(greatest + 1n) };
}

/** The least and the greatest value as texts, in the form of a look at the data; of datetimes, their ticks. */
function extent(relation: Relation, axis: Expression): Relation {
  const grouped = aggregate(
    relation,
    [],
    [aggregateCall("least", "min", axis), aggregateCall("greatest", "max", axis)],
  );
  const text = (name: string) => convert(convert(columnOf(grouped, name), "long"), "string");
  return project(grouped, [
    { name: "name", expression: text("least") },
    { name: "type", expression: text("greatest") },
  ]);
}

function timeOf(ticks: string): bigint {
  return (BigInt(ticks) - EPOCH_TICKS) * NANOS_PER_TICK;
}
