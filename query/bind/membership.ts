import { anyOf, call } from "../call.ts";
import { type Expression, type Literal, literal } from "../expression.ts";
import { aggregate, aggregateCall, keep, project } from "../plan/build.ts";
import type { Relation } from "../plan/relation.ts";
import { areComparable, isNumeric, type ScalarType } from "../scalar-type.ts";
import type { Span } from "../span.ts";
import type * as syntax from "../syntax/tree.ts";
import { convert } from "./conversion.ts";
import type { ExpressionContext } from "./expression-context.ts";
import { isWideInteger, textOf } from "./operators.ts";
import { refuse } from "./refusal.ts";
import { searchableColumns } from "./searchable-columns.ts";

/** `in`, `in~`, `has_any`, `has_all` and their negations, over values, a dynamic array or a table of one column. */
export function bindMembership(expression: syntax.ListExpression, context: ExpressionContext): Expression {
  const { operator, left, items, span } = expression;
  const positive = operator.replace(/^!/, "");
  const subjects = left.kind === "star" ? searchableColumns(context.relation, span) : [context.scalar(left)];
  const conditions = subjects.map((subject) =>
    positive === "has_any" || positive === "has_all"
      ? bindTerms(positive, subject, items, span, context)
      : bindIn(positive === "in~", subject, items, span, context),
  );
  const [first, ...rest] = conditions;
  if (first === undefined) throw new TypeError("no column to look in");
  const found = rest.length === 0 ? first : call("or", ...conditions);
  return operator.startsWith("!") ? call("negation", found) : found;
}

function bindIn(
  ignoresCase: boolean,
  subject: Expression,
  items: readonly syntax.Expression[],
  span: Span,
  context: ExpressionContext,
): Expression {
  const [only] = items;
  if (items.length === 1 && only !== undefined && context.environment.isTabular(only))
    return inTable(ignoresCase, subject, onlyColumn(context.environment.table(only), only.span), span);
  const bound = items.flatMap((item) => flattened(context.scalar(item)));
  const dynamic = bound.filter(({ type }) => type === "dynamic");
  const values = bound.filter(({ type }) => type !== "dynamic");
  const conditions = dynamic.map(
    (array): Expression =>
      call(ignoresCase ? "inArrayIgnoreCase" : "inArray", convert(subject, "dynamic"), array),
  );
  if (values.length > 0 || dynamic.length === 0)
    conditions.push(inValues(ignoresCase, subject, values, span));
  const [first, ...rest] = conditions;
  if (first === undefined) throw new TypeError("a list without conditions");
  return rest.length === 0 ? first : call("or", ...conditions);
}

function inValues(
  ignoresCase: boolean,
  subject: Expression,
  values: readonly Expression[],
  span: Span,
): Expression {
  if (ignoresCase) {
    const text = textOf(subject, "in~", span);
    const texts = values.map((value) => textOf(value, "in~", span));
    return texts.length === 0 ? literal("bool", false) : call("inIgnoreCase", text, ...texts);
  }
  if (subject.type !== "dynamic") return inList(subject, values, span);
  // The digits of whole numbers beyond 2^53 are compared one number at a time.
  const areNumbers = values.every(({ type }) => isNumeric(type));
  const wide = areNumbers ? values.filter(isWideInteger) : [];
  const narrow = values.filter((value) => !wide.includes(value));
  const found = wide.map((item) => known(call("equal", subject, item)));
  if (narrow.length > 0 || wide.length === 0)
    found.push(inList(convert(subject, sharedType(narrow)), narrow, span));
  return anyOf(found);
}

function inList(value: Expression, values: readonly Expression[], span: Span): Expression {
  return call("in", value, ...values.map((item) => memberOf(item, value.type, span)));
}

/** False instead of null: what is not there is in no list. */
function known(condition: Expression): Expression {
  return call("coalesce", condition, literal("bool", false));
}

function only(expressions: readonly Expression[]): Expression {
  const [first] = expressions;
  if (first === undefined) throw new TypeError("an empty list");
  return first;
}

/** The type in which an attribute is looked for in a list: a number if all are, else the type of the first. */
function sharedType(values: readonly Expression[]): ScalarType {
  if (values.every(({ type }) => isNumeric(type)) && values.length > 0) return "real";
  return values[0]?.type ?? "string";
}

function memberOf(item: Expression, type: ScalarType, span: Span): Expression {
  if (areComparable(type, item.type)) return item;
  if (item.kind === "literal" && item.value === null) return convert(item, type);
  if (type === "string") return convert(item, "string");
  if (item.type === "string") return convert(item, type);
  return refuse("WRONG_TYPE", `A ${item.type} cannot be among values of type ${type}.`, span);
}

/** The elements of a constant array; anything else as it is. */
function flattened(expression: Expression): Expression[] {
  if (expression.kind !== "literal" || expression.type !== "dynamic" || expression.value === null)
    return [expression];
  const parsed: unknown = JSON.parse(expression.value);
  if (!Array.isArray(parsed)) return [expression];
  const elements = parsed.map(literalOf);
  return elements.every((element) => element !== null) ? elements : [expression];
}

function literalOf(value: unknown): Literal | null {
  if (typeof value === "string") return literal("string", value);
  if (typeof value === "boolean") return literal("bool", value);
  if (typeof value === "number")
    // The digits of larger ones are still in the text of the array, and no longer here.
    return Number.isSafeInteger(value)
      ? literal("long", BigInt(value))
      : Number.isInteger(value)
        ? null
        : literal("real", value);
  return null;
}

function onlyColumn(relation: Relation, span: Span): Relation {
  const [first] = relation.columns;
  if (first === undefined) return refuse("NOT_TABULAR", "A table of one column belongs here.", span);
  return keep(relation, [first.name]);
}

function inTable(ignoresCase: boolean, subject: Expression, relation: Relation, span: Span): Expression {
  const [column] = relation.columns;
  if (column === undefined) throw new TypeError("a table without columns");
  const type = ignoresCase || column.type === "dynamic" ? "string" : column.type;
  const operand = ignoresCase
    ? call("tolower", textOf(subject, "in~", span))
    : convertMember(subject, type, span);
  const reference = columnReference(relation);
  const value = ignoresCase
    ? call("tolower", textOf(reference, "in~", span))
    : convertMember(reference, operand.type, span);
  return {
    kind: "inSubquery",
    operand,
    relation: projected(relation, value),
    type: "bool",
    isNullable: false,
  };
}

function convertMember(value: Expression, type: ScalarType, span: Span): Expression {
  if (value.type === type) return value;
  if (value.type === "dynamic" || isNumeric(value.type) === isNumeric(type) || type === "string")
    return convert(value, type);
  return refuse("WRONG_TYPE", `A ${value.type} cannot be among values of type ${type}.`, span);
}

function columnReference(relation: Relation): Expression {
  const [column] = relation.columns;
  if (column === undefined) throw new TypeError("a table without columns");
  return { kind: "column", isLoose: false, ...column };
}

function projected(relation: Relation, expression: Expression): Relation {
  return expression.kind === "column" ? relation : project(relation, [{ name: "value", expression }]);
}

function bindTerms(
  operator: "has_any" | "has_all",
  subject: Expression,
  items: readonly syntax.Expression[],
  span: Span,
  context: ExpressionContext,
): Expression {
  const text = textOf(subject, operator, span);
  const [table] = items;
  if (items.length === 1 && table !== undefined && context.environment.isTabular(table)) {
    const relation = onlyColumn(context.environment.table(table), table.span);
    return call(operator === "has_any" ? "hasAny" : "hasAll", text, listOf(relation));
  }
  const terms = items.flatMap((item) => flattened(context.scalar(item)));
  const conditions = terms.map((term) =>
    term.type === "dynamic"
      ? call(operator === "has_any" ? "hasAny" : "hasAll", text, term)
      : call("has", text, textOf(term, operator, span)),
  );
  const texts = terms.flatMap((term) =>
    term.kind === "literal" && term.type === "string" && term.value !== null ? [term.value] : [],
  );
  if (texts.length > 1 && texts.length === terms.length)
    return call(
      operator === "has_any" ? "hasAny" : "hasAll",
      text,
      literal("dynamic", JSON.stringify(texts)),
    );
  if (conditions.length === 0) return literal("bool", operator === "has_all");
  return conditions.length === 1
    ? only(conditions)
    : call(operator === "has_any" ? "or" : "and", ...conditions);
}

/** The values of a table of one column as one dynamic array. */
function listOf(relation: Relation): Expression {
  const reference = columnReference(relation);
  const listed = aggregate(relation, [], [aggregateCall("list", "make_set", convert(reference, "string"))]);
  return { kind: "scalarSubquery", relation: listed, type: "dynamic", isNullable: false };
}
