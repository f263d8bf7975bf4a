import { type Expression, literal } from "../expression.ts";
import { aggregate, columnOf, expand, extend, keep, project } from "../plan/build.ts";
import type { NamedExpression, Relation } from "../plan/relation.ts";
import { type ScalarType, scalarTypeNamed } from "../scalar-type.ts";
import type * as syntax from "../syntax/tree.ts";
import { impliedName, UniqueNames } from "./column-names.ts";
import { callNamed, convert } from "./conversion.ts";
import { discoverColumns } from "./discovery.ts";
import type { Environment } from "./environment.ts";
import { ExpressionContext } from "./expression-context.ts";
import { bindIpv4Lookup } from "./ipv4-lookup.ts";
import { refuse } from "./refusal.ts";
import { bindAutocluster, bindBasket, bindDiffPatterns } from "./segments.ts";

/** Plugins whose columns depend on the data: they are found out by a query of their own first. */
export function bindEvaluate(
  input: Relation,
  operator: syntax.EvaluateOperator,
  environment: Environment,
): Relation {
  const { name } = operator.plugin;
  if (operator.schema !== null)
    return refuse("UNSUPPORTED", "evaluate does not take the columns of the result here.", operator.span);
  switch (name.name) {
    case "bag_unpack":
      return bindBagUnpack(input, operator.plugin, environment);
    case "pivot":
      return bindPivot(input, operator.plugin, environment);
    case "ipv4_lookup":
      return bindIpv4Lookup(input, operator.plugin, environment);
    case "autocluster":
      return bindAutocluster(input, operator.plugin, environment);
    case "basket":
      return bindBasket(input, operator.plugin, environment);
    case "diffpatterns":
      return bindDiffPatterns(input, operator.plugin, environment);
    default:
      return refuse(
        "UNSUPPORTED",
        `The plugin ${name.name} is not supported; bag_unpack, pivot, ipv4_lookup, autocluster, basket and diffpatterns are.`,
        name.span,
      );
  }
}

/** The members of a bag become columns, in the order of their names. */
function bindBagUnpack(input: Relation, plugin: syntax.CallExpression, environment: Environment): Relation {
  const context = new ExpressionContext(environment, input);
  const [bagArgument, ...others] = plugin.arguments;
  if (bagArgument === undefined) return refuse("WRONG_ARGUMENTS", "bag_unpack() takes a bag.", plugin.span);
  const bag = context.scalar(bagArgument.value);
  if (bag.type !== "dynamic")
    return refuse("WRONG_TYPE", `bag_unpack() takes a dynamic value, not a ${bag.type}.`, bagArgument.span);
  const options = unpackOptions(others, context);
  const members = discoverColumns(environment.compilation, memberTypes(input, bag, plugin.span), plugin.span)
    .filter(({ name }) => !options.ignored.has(name))
    .sort((left, right) => (left.name < right.name ? -1 : 1));
  const source = bag.kind === "column" ? bag.name : null;
  const rest = input.columns.map(({ name }) => name).filter((name) => name !== source);
  const names = new Set(rest);
  const unpacked = members.flatMap(({ name, types }): NamedExpression[] => {
    const column = options.prefix + name;
    if (names.has(column)) {
      if (options.conflict === "keep_source") return [];
      if (options.conflict === "error")
        return refuse(
          "DUPLICATE_NAME",
          `There is a column ${column} already; columnsConflict says what to do.`,
          plugin.span,
        );
    }
    return [
      {
        name: column,
        expression: convert(
          callNamed("element", [bag, literal("string", name)], plugin.span),
          sharedType(types),
        ),
      },
    ];
  });
  const replacements = new Map(unpacked.map((column) => [column.name, column]));
  // A member called as the bag takes its place; the others follow.
  const places = input.columns
    .map(({ name }) => name)
    .filter((name) => name !== source || replacements.has(name));
  const kept = places.map((name) => replacements.get(name) ?? { name, expression: columnOf(input, name) });
  return project(input, [...kept, ...unpacked.filter(({ name }) => !places.includes(name))]);
}

interface UnpackOptions {
  readonly prefix: string;
  readonly conflict: string;
  readonly ignored: ReadonlySet<string>;
}

function unpackOptions(others: readonly syntax.Argument[], context: ExpressionContext): UnpackOptions {
  const value = (option: string, position: number): unknown => {
    const argument = others.find(({ names }) => names[0]?.name === option) ?? others[position];
    const isOther =
      argument === undefined || (argument.names.length > 0 && argument.names[0]?.name !== option);
    return isOther ? undefined : context.constant(argument.value).value;
  };
  const prefix = value("OutputColumnPrefix", 0) ?? "";
  const conflict = value("columnsConflict", 1) ?? "error";
  const ignored = value("ignoredProperties", 2);
  const listed: unknown = typeof ignored === "string" ? JSON.parse(ignored) : [];
  return {
    prefix: String(prefix),
    conflict: String(conflict),
    ignored: new Set(Array.isArray(listed) ? listed.map(String) : []),
  };
}

/** The names of members and the types that their values have. */
function memberTypes(input: Relation, bag: Expression, span: syntax.Expression["span"]): Relation {
  const bags = project(input, [{ name: "member", expression: bag }]);
  const members = expand(
    bags,
    [{ name: "member", expression: columnOf(bags, "member") }],
    null,
    null,
    "arrays",
  );
  const member = columnOf(members, "member");
  const named = project(members, [
    {
      name: "name",
      expression: convert(callNamed("element", [member, literal("long", 0n)], span), "string"),
    },
    {
      name: "type",
      expression: callNamed("gettype", [callNamed("element", [member, literal("long", 1n)], span)], span),
    },
  ]);
  const keys = named.columns.map(({ name }) => ({ name, expression: columnOf(named, name) }));
  return aggregate(named, keys, []);
}

function sharedType(types: readonly string[]): ScalarType {
  const known = new Set(
    types.filter((type) => type !== "null").map((type) => scalarTypeNamed(type) ?? "dynamic"),
  );
  const [only, ...others] = known;
  if (only !== undefined && others.length === 0) return only;
  return known.size > 0 && [...known].every((type) => type === "long" || type === "int" || type === "real")
    ? "real"
    : "dynamic";
}

/** The conditional form of each aggregate that pivot can spread over columns. */
const CONDITIONAL: ReadonlyMap<string, string> = new Map([
  ["count", "countif"],
  ["sum", "sumif"],
  ["avg", "avgif"],
  ["min", "minif"],
  ["max", "maxif"],
  ["dcount", "dcountif"],
  ["take_any", "take_anyif"],
  ["any", "take_anyif"],
  ["make_list", "make_list_if"],
  ["make_set", "make_set_if"],
  ["stdev", "stdevif"],
  ["variance", "varianceif"],
]);

/** A column for each value of a column, with an aggregate over its rows, for each combination of the other columns. */
function bindPivot(input: Relation, plugin: syntax.CallExpression, environment: Environment): Relation {
  const context = new ExpressionContext(environment, input);
  const [pivotArgument, aggregateArgument, ...by] = plugin.arguments;
  if (pivotArgument === undefined) return refuse("WRONG_ARGUMENTS", "pivot() takes a column.", plugin.span);
  const { span } = pivotArgument;
  const pivoted = convert(context.scalar(pivotArgument.value), "string");
  const call = aggregateOf(aggregateArgument, plugin);
  const used = new Set([
    impliedName(pivotArgument.value),
    ...call.arguments.map(({ value }) => impliedName(value)),
  ]);
  const keys =
    by.length > 0
      ? by
      : input.columns
          .filter(({ name }) => !used.has(name))
          .map(
            ({ name }): syntax.Argument => ({
              names: [],
              value: { kind: "name", name, isPattern: false, span },
              span,
            }),
          );
  const listed = project(input, [
    { name: "name", expression: pivoted },
    { name: "type", expression: literal("string", "string") },
  ]);
  const valuesOf = aggregate(
    listed,
    listed.columns.map(({ name }) => ({ name, expression: columnOf(listed, name) })),
    [],
  );
  const found = discoverColumns(environment.compilation, valuesOf, plugin.span)
    .map(({ name }) => name)
    .sort();
  const spread = extend(input, [{ name: "$pivot", expression: pivoted }]);
  const names = new UniqueNames(keys.map(({ value }) => impliedName(value) ?? ""));
  const aggregates = found.map((value) => conditional(call, value, names.claim(value)));
  return environment.operator(
    keep(
      spread,
      spread.columns.map(({ name }) => name),
    ),
    {
      kind: "summarize",
      span: plugin.span,
      keyword: plugin.name,
      parameters: [],
      aggregates,
      by: keys,
    },
  );
}

function aggregateOf(
  argument: syntax.Argument | undefined,
  plugin: syntax.CallExpression,
): syntax.CallExpression {
  const { span } = plugin;
  if (argument === undefined) return { kind: "call", name: { name: "count", span }, arguments: [], span };
  const { value } = argument;
  if (value.kind === "call" && CONDITIONAL.has(value.name.name)) return value;
  return refuse("UNSUPPORTED", `pivot() takes one of ${[...CONDITIONAL.keys()].join(", ")}.`, argument.span);
}

function conditional(call: syntax.CallExpression, value: string, name: string): syntax.Argument {
  const { span } = call;
  const condition: syntax.Expression = {
    kind: "binary",
    operator: "==",
    operatorSpan: span,
    left: { kind: "name", name: "$pivot", isPattern: false, span },
    right: { kind: "literal", type: "string", value, span },
    span,
  };
  const function_ = { name: CONDITIONAL.get(call.name.name) ?? call.name.name, span };
  const args = [...call.arguments, { names: [], value: condition, span }];
  return { names: [{ name, span }], value: { kind: "call", name: function_, arguments: args, span }, span };
}
