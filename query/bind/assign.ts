import { type Expression, isLoose } from "../expression.ts";
import { aggregate, aggregateCall, columnOf, extend, keep, project, sort } from "../plan/build.ts";
import type { NamedExpression, Relation } from "../plan/relation.ts";
import type * as syntax from "../syntax/tree.ts";
import { impliedName, UniqueNames } from "./column-names.ts";
import { callNamed, convert } from "./conversion.ts";
import type { Environment } from "./environment.ts";
import { ExpressionContext } from "./expression-context.ts";
import { matchNames } from "./names.ts";
import { refuse } from "./refusal.ts";
import { severalColumns } from "./several-columns.ts";
import { withoutHidden } from "./where.ts";

export function bindExtend(
  input: Relation,
  { assignments }: syntax.AssignOperator,
  environment: Environment,
): Relation {
  const context = ExpressionContext.takingWindows(environment, input);
  const names = new UniqueNames(input.columns.map(({ name }) => name));
  const assigned = assignments.flatMap((argument) =>
    bindAssignment(argument, context, "extend", (implied) => implied ?? names.claimColumn()),
  );
  return withoutHidden(extend(context.relation, lastOfEach(assigned)), context);
}

/** Of two values for one column the later one counts. */
function lastOfEach(assignments: readonly NamedExpression[]): NamedExpression[] {
  return [...new Map(assignments.map((assignment) => [assignment.name, assignment])).values()];
}

export function bindProject(
  input: Relation,
  { assignments }: syntax.AssignOperator,
  environment: Environment,
): Relation {
  const context = ExpressionContext.takingWindows(environment, input);
  return projectArguments(context, assignments, (names, implied) =>
    implied === null ? names.claimColumn() : names.claim(implied),
  );
}

export function bindPrint(
  input: Relation,
  { assignments }: syntax.AssignOperator,
  environment: Environment,
): Relation {
  const context = ExpressionContext.takingWindows(environment, input);
  let position = 0;
  return projectArguments(context, assignments, (names, _implied, isNamed) => {
    const name = isNamed === null ? `print_${position}` : isNamed;
    position++;
    return names.claim(name);
  });
}

function projectArguments(
  context: ExpressionContext,
  assignments: readonly syntax.Argument[],
  nameOf: (names: UniqueNames, implied: string | null, given: string | null) => string,
): Relation {
  const given = assignments.flatMap(({ names }) => names.map(({ name }) => name));
  const names = new UniqueNames();
  for (const [i, name] of given.entries())
    if (given.indexOf(name) !== i) {
      const span = assignments.flatMap((argument) => argument.names)[i]?.span ?? { start: 0, end: 0 };
      refuse("DUPLICATE_NAME", `Two columns are called ${name}.`, span);
    }
  const expanded = assignments.flatMap((argument) => expandStar(argument, context));
  const assigned = expanded.flatMap((argument) =>
    bindAssignment(argument, context, "project", (implied, isGiven) =>
      nameOf(names, implied, isGiven ? implied : null),
    ),
  );
  return project(context.relation, assigned);
}

/** `*`, and patterns of names, among the columns of project and distinct. */
function expandStar(
  argument: syntax.Argument,
  { relation, hiddenNames }: ExpressionContext,
): syntax.Argument[] {
  const { value, span } = argument;
  const isPattern = value.kind === "name" && value.isPattern;
  if (value.kind !== "star" && !isPattern) return [argument];
  const visible = relation.columns.map(({ name }) => name).filter((name) => !hiddenNames.has(name));
  const matched = value.kind === "name" ? matchNames(value.name, visible) : visible;
  return matched.map((name) => ({ names: [], value: { kind: "name", name, isPattern: false, span }, span }));
}

/** One assignment; several names take the elements of a dynamic value. */
function bindAssignment(
  { names, value, span }: syntax.Argument,
  context: ExpressionContext,
  operator: "extend" | "project",
  nameOf: (implied: string | null, isGiven: boolean) => string,
): NamedExpression[] {
  const made = severalColumns(value, context);
  if (made !== null) {
    if (names.length > made.length)
      return refuse("WRONG_ARGUMENTS", `There are ${names.length} names for ${made.length} columns.`, span);
    const columns = operator === "extend" && names.length > 0 ? made.slice(0, names.length) : made;
    return columns.map(({ impliedName, expression }, i) => ({
      name: nameOf(names[i]?.name ?? impliedName, true),
      expression,
    }));
  }
  const expression = context.scalar(value);
  const arrays = sortedArrays(value, expression);
  if (arrays.length > 0 && names.length <= arrays.length)
    return arrays.map((implied, i) => ({
      name: nameOf(names[i]?.name ?? implied, true),
      expression: elementOf(expression, i, span),
    }));
  const [first, ...others] = names;
  if (first === undefined) return [{ name: nameOf(impliedName(value), false), expression }];
  if (others.length === 0) return [{ name: nameOf(first.name, true), expression }];
  if (expression.type !== "dynamic")
    return refuse(
      "WRONG_TYPE",
      `Only a dynamic value fills several columns, not a ${expression.type}.`,
      span,
    );
  return names.map(({ name }, i) => ({
    name: nameOf(name, true),
    expression: elementOf(expression, i, span),
  }));
}

/** The names of the columns that a call which sorts several arrays makes; none for any other expression. */
function sortedArrays(value: syntax.Expression, expression: Expression): string[] {
  if (value.kind !== "call" || expression.kind !== "call" || !SORTING.has(expression.name)) return [];
  const arrays = expression.operands.filter(({ type }) => type === "dynamic");
  if (arrays.length < 2) return [];
  return arrays.map((_, i) => {
    const argument = value.arguments[i]?.value;
    return `${(argument === undefined ? null : impliedName(argument)) ?? `array${i}`}_sorted`;
  });
}

const SORTING: ReadonlySet<string> = new Set(["array_sort_asc", "array_sort_desc"]);

function elementOf(value: Expression, position: number, span: syntax.Expression["span"]): Expression {
  const index: Expression = { kind: "literal", type: "long", value: BigInt(position), isNullable: false };
  return callNamed("element", [value, index], span);
}

/** Rows in the order they have; what is computed may look at the rows around. */
export function bindSerialize(
  input: Relation,
  operator: syntax.AssignOperator,
  environment: Environment,
): Relation {
  const serialized = sort(input, []);
  return operator.assignments.length === 0 ? serialized : bindExtend(serialized, operator, environment);
}

export function bindDistinct(
  input: Relation,
  { columns }: syntax.DistinctOperator,
  environment: Environment,
): Relation {
  const context = ExpressionContext.takingWindows(environment, input);
  const projected = projectArguments(context, columns, (names, implied) =>
    implied === null ? names.claimColumn() : names.claim(implied),
  );
  const keys = projected.columns.map(({ name }): NamedExpression => {
    return {
      name: isBagOfAttributes(columnOf(projected, name)) ? ATTRIBUTES_KEY : name,
      expression: keyOf(columnOf(projected, name), columns[0]?.span ?? { start: 0, end: 0 }),
    };
  });
  const bags = projected.columns.filter(({ name }) => isBagOfAttributes(columnOf(projected, name)));
  if (bags.length === 0) return aggregate(projected, keys, []);
  const kept = bags.map(({ name }) => ({
    ...aggregateCall(name, "take_any", columnOf(projected, name)),
    isLoose: true,
  }));
  return keep(
    aggregate(projected, keys, kept),
    projected.columns.map(({ name }) => name),
  );
}

/** Rows are grouped by the text of the attributes; what they are is taken from one of the rows, which all say the same. */
const ATTRIBUTES_KEY = "$attrs";

function isBagOfAttributes(expression: Expression): boolean {
  return expression.kind === "column" && expression.name === "attrs" && expression.isLoose;
}

/** A value by which rows are grouped: the text of an attribute. */
export function keyOf(expression: Expression, span: syntax.Expression["span"]): Expression {
  if (expression.type !== "dynamic") return expression;
  if (isLoose(expression)) return convert(expression, "string");
  return refuse(
    "WRONG_TYPE",
    "Rows cannot be grouped by a dynamic value; tostring() makes a text of it.",
    span,
  );
}
