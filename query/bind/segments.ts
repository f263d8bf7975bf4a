import { call } from "../call.ts";
import { type Expression, type Literal, literal } from "../expression.ts";
import { SEGMENT_DIMENSIONS_MAX, SEGMENT_VALUES_MAX, SEGMENTS_MAX_COMBINATIONS } from "../limits.ts";
import {
  aggregate,
  aggregateCall,
  columnOf,
  extend,
  filter,
  limit,
  project,
  sort,
  union,
  values,
} from "../plan/build.ts";
import type { PlanColumn, Relation } from "../plan/relation.ts";
import { autocluster, basket, diffPatterns } from "../segments/choose-segments.ts";
import type { Combination, Segment } from "../segments/combination.ts";
import { totalsOf } from "../segments/combination.ts";
import type * as syntax from "../syntax/tree.ts";
import { impliedName } from "./column-names.ts";
import { callNamed, convert } from "./conversion.ts";
import { discover } from "./discovery.ts";
import type { Environment } from "./environment.ts";
import { ExpressionContext } from "./expression-context.ts";
import { refuse } from "./refusal.ts";

/**
 * `evaluate autocluster`, `basket` and `diffpatterns`: what rows have in common, or what sets some of them apart from others. Two
 * looks at the data say which values are frequent, and how often they come together; what they come to is a constant table.
 */

const SIZE_WEIGHT = 0.5;
const SHARE = 0.05;
const BASKET_DIMENSIONS = 5;

/** Types of columns whose values are told apart. */
const DIMENSION_TYPES = new Set(["string", "bool", "int", "long", "guid"]);

type Dimension = Pick<PlanColumn, "name" | "type">;

export function bindAutocluster(
  input: Relation,
  plugin: syntax.CallExpression,
  environment: Environment,
): Relation {
  const [sizeWeight = SIZE_WEIGHT] = numbers(input, plugin, plugin.arguments, environment, 1);
  const dimensions = dimensionsOf(input, null, plugin);
  const combinations = combinationsOf(input, dimensions, [], plugin, environment);
  return oneSided(autocluster(combinations, clamp(sizeWeight)), combinations, dimensions);
}

export function bindBasket(
  input: Relation,
  plugin: syntax.CallExpression,
  environment: Environment,
): Relation {
  const [threshold = SHARE] = numbers(input, plugin, plugin.arguments, environment, 1);
  const dimensions = dimensionsOf(input, null, plugin);
  const combinations = combinationsOf(input, dimensions, [], plugin, environment);
  const found = basket(combinations, { threshold: clamp(threshold), maxDimensions: BASKET_DIMENSIONS });
  return oneSided(found, combinations, dimensions);
}

export function bindDiffPatterns(
  input: Relation,
  plugin: syntax.CallExpression,
  environment: Environment,
): Relation {
  const [split, first, second, ...others] = plugin.arguments;
  if (split === undefined || first === undefined || second === undefined)
    return refuse("WRONG_ARGUMENTS", "diffpatterns() takes a column and two of its values.", plugin.span);
  const context = new ExpressionContext(environment, input);
  const side = convert(context.scalar(split.value), "string");
  const sides = [first, second].map(({ value }) => convert(context.constant(value), "string"));
  const [threshold = SHARE] = numbers(input, plugin, others, environment, 1);
  const dimensions = dimensionsOf(input, impliedName(split.value), plugin);
  const isOf = sides.map((value) => call("equal", side, value));
  const combinations = combinationsOf(input, dimensions, isOf, plugin, environment);
  const options = { threshold: clamp(threshold), maxDimensions: SEGMENT_DIMENSIONS_MAX };
  const totals = totalsOf(combinations, 2);
  return tableOf(diffPatterns(combinations, options), dimensions, ["CountA", "CountB"], (segment) => {
    const [a = 0, b = 0] = segment.counts.map((count, group) => percentOf(count, totals[group] ?? 0));
    return { PercentA: a, PercentB: b, PercentDiffAB: Math.abs(a - b) };
  });
}

function oneSided(
  segments: readonly Segment[],
  combinations: readonly Combination[],
  dimensions: readonly Dimension[],
): Relation {
  const [total = 0] = totalsOf(combinations, 1);
  return tableOf(segments, dimensions, ["Count"], ({ counts: [count = 0] }) => ({
    Percent: percentOf(count, total),
  }));
}

/** Constant numbers, at most so many; other arguments of Kusto's are refused. */
function numbers(
  input: Relation,
  plugin: syntax.CallExpression,
  args: readonly syntax.Argument[],
  environment: Environment,
  max: number,
): number[] {
  const extra = args[max];
  if (extra !== undefined)
    return refuse("UNSUPPORTED", `${plugin.name.name}() takes no weights or wildcards here.`, extra.span);
  const context = new ExpressionContext(environment, input);
  return args.map(({ value, span }) => {
    const { value: given } = context.constant(value);
    const number = Number(given);
    return Number.isFinite(number) && given !== null
      ? number
      : refuse("WRONG_TYPE", "A number from 0 to 1 belongs here.", span);
  });
}

function dimensionsOf(input: Relation, split: string | null, plugin: syntax.CallExpression): Dimension[] {
  const dimensions = input.columns.filter(({ name, type }) => DIMENSION_TYPES.has(type) && name !== split);
  if (dimensions.length > 0 && dimensions.length <= SEGMENT_DIMENSIONS_MAX) return dimensions;
  return refuse(
    "WRONG_ARGUMENTS",
    `${plugin.name.name}() looks at 1 to ${SEGMENT_DIMENSIONS_MAX} columns of texts and whole numbers, and there are ${dimensions.length}: name them by project.`,
    plugin.span,
  );
}

/** How often frequent values come together, on either of the sides, or in all rows without sides. */
function combinationsOf(
  input: Relation,
  dimensions: readonly Dimension[],
  sides: readonly Expression[],
  { span }: syntax.CallExpression,
  environment: Environment,
): Combination[] {
  const counted = sides.length === 0 ? input : filter(input, anySide(sides));
  const texts = project(counted, [
    ...dimensions.map(({ name }, i) => ({
      name: `d${i}`,
      expression: convert(columnOf(counted, name), "string"),
    })),
    ...sides.map((expression, i) => ({ name: `side${i}`, expression })),
  ]);
  const frequent = frequentValues(texts, dimensions.length, sides.length, environment, span);
  const marked = extend(
    texts,
    frequent.map((list, i) => ({ name: `v${i}`, expression: placeIn(list, columnOf(texts, `d${i}`), span) })),
  );
  const groups = sides.length === 0 ? 1 : sides.length;
  const together = aggregate(
    marked,
    frequent.map((_, i) => ({ name: `v${i}`, expression: columnOf(marked, `v${i}`) })),
    Array.from({ length: groups }, (_, i) =>
      sides.length === 0
        ? aggregateCall(`n${i}`, "count")
        : aggregateCall(`n${i}`, "countif", columnOf(marked, `side${i}`)),
    ),
  );
  const most = limit(
    sort(together, [{ expression: columnOf(together, "n0"), direction: "descending" }]),
    SEGMENTS_MAX_COMBINATIONS,
  );
  const asTexts = project(
    most,
    most.columns.map(({ name }) => ({ name, expression: convert(columnOf(most, name), "string") })),
  );
  return discover(environment.compilation, asTexts, span).map((row) => ({
    values: frequent.map((list, i) => list[Number(row[i]) - 1] ?? null),
    counts: row.slice(frequent.length).map(Number),
  }));
}

function anySide([first, ...others]: readonly Expression[]): Expression {
  if (first === undefined) throw new TypeError("there are no sides");
  return others.reduce((left, right) => call("or", left, right), first);
}

/** The most frequent values of each dimension, of each side: no others can be what many rows have in common. */
function frequentValues(
  texts: Relation,
  dimensions: number,
  sides: number,
  environment: Environment,
  span: syntax.CallExpression["span"],
): string[][] {
  const counts = Array.from({ length: Math.max(1, sides) }, (_, side) => side);
  const each = Array.from({ length: dimensions }, (_, i) => i).flatMap((i) =>
    counts.map((side) => {
      const by = [{ name: "value", expression: columnOf(texts, `d${i}`) }];
      const n =
        sides === 0
          ? aggregateCall("n", "count")
          : aggregateCall("n", "countif", columnOf(texts, `side${side}`));
      const counted = aggregate(texts, by, [n]);
      const top = limit(
        sort(counted, [{ expression: columnOf(counted, "n"), direction: "descending" }]),
        SEGMENT_VALUES_MAX,
      );
      return project(top, [
        { name: "dimension", expression: literal("string", String(i)) },
        { name: "value", expression: columnOf(top, "value") },
      ]);
    }),
  );
  const found = discover(environment.compilation, union(each), span);
  return Array.from({ length: dimensions }, (_, i) => [
    ...new Set(
      found.flatMap(([dimension, value = ""]) => (dimension === String(i) && value !== "" ? [value] : [])),
    ),
  ]);
}

/** The place of a value among the frequent ones, from 1 on as a text; empty for any other. */
function placeIn(
  list: readonly string[],
  value: Expression,
  span: syntax.CallExpression["span"],
): Expression {
  const places = list.map((_, i) => String(i + 1));
  const [texts, numbers] = [list, places].map((each) => literal("dynamic", JSON.stringify(each)));
  if (texts === undefined || numbers === undefined) throw new TypeError("two lists make two literals");
  return convert(callNamed("valueByText", [value, texts, numbers], span), "string");
}

/** Segments as a table: their number, counts and shares, and of each dimension the value, empty where any will do. */
function tableOf(
  segments: readonly Segment[],
  dimensions: readonly Dimension[],
  countNames: readonly string[],
  sharesOf: (segment: Segment) => Readonly<Record<string, number>>,
): Relation {
  const [sample = { values: dimensions.map(() => null), counts: countNames.map(() => 0) }] = segments;
  const columns: PlanColumn[] = [
    { name: "SegmentId", type: "long", isNullable: false },
    ...countNames.map((name): PlanColumn => ({ name, type: "long", isNullable: false })),
    ...Object.keys(sharesOf(sample)).map((name): PlanColumn => ({ name, type: "real", isNullable: false })),
    ...dimensions.map(({ name, type }): PlanColumn => ({ name, type, isNullable: true })),
  ];
  const rows = segments.map((segment, id) => [
    literal("long", BigInt(id)),
    ...countNames.map((_, i) => literal("long", BigInt(segment.counts[i] ?? 0))),
    ...Object.values(sharesOf(segment)).map((share) => literal("real", share)),
    ...dimensions.map(({ type }, i) => literalOf(type, segment.values[i] ?? null)),
  ]);
  return values(columns, rows);
}

function literalOf(type: Dimension["type"], text: string | null): Literal {
  switch (type) {
    case "bool":
      return literal("bool", text === null ? null : text.toLowerCase() === "true");
    case "int":
      return literal("int", text === null ? null : Number(text));
    case "long":
      return literal("long", text === null ? null : BigInt(text));
    case "guid":
      return literal("guid", text);
    default:
      return literal("string", text ?? "");
  }
}

function percentOf(count: number, total: number): number {
  return total === 0 ? 0 : (100 * count) / total;
}

function clamp(share: number): number {
  return Math.min(1, Math.max(0, share));
}
