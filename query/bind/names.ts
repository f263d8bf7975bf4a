import type { Expression } from "../expression.ts";
import { columnOf, extend, keep, project } from "../plan/build.ts";
import type { Relation } from "../plan/relation.ts";
import type * as syntax from "../syntax/tree.ts";
import { UniqueNames } from "./column-names.ts";
import type { Environment } from "./environment.ts";
import { ExpressionContext } from "./expression-context.ts";
import { nearestName } from "./nearest-name.ts";
import { refuse } from "./refusal.ts";

/** The names that a pattern with `*` means; without one, that name itself. */
export function matchNames(pattern: string, names: readonly string[]): string[] {
  if (!pattern.includes("*")) return names.filter((name) => name === pattern);
  const parts = pattern.split("*");
  const [head = ""] = parts;
  const tail = parts.at(-1) ?? "";
  return names.filter((name) => {
    if (!name.startsWith(head) || !name.endsWith(tail) || name.length < head.length + tail.length)
      return false;
    let from = head.length;
    for (const part of parts.slice(1, -1)) {
      const found = name.indexOf(part, from);
      if (found < 0 || found + part.length > name.length - tail.length) return false;
      from = found + part.length;
    }
    return true;
  });
}

/** The columns that are meant; a name that is none is refused, a pattern may mean none. Attributes are no columns. */
function namedColumns({ relation, ...context }: NameScope, expression: syntax.Expression): string[] {
  const names = relation.columns.map(({ name }) => name);
  if (expression.kind === "star") return names;
  if (expression.kind !== "name")
    return refuse("SYNTAX", "The name of a column belongs here.", expression.span);
  const matched = matchNames(expression.name, names);
  if (matched.length > 0 || expression.isPattern) return matched;
  const meant = context.find(expression.name);
  if (meant?.kind === "column") return [meant.name];
  if (meant !== null) return [];
  const suggestion = nearestName(expression.name, names);
  return refuse("UNKNOWN_NAME", `There is no column ${expression.name} here.`, expression.span, suggestion);
}

interface NameScope {
  readonly relation: Relation;
  /** The column, or the attribute, of a name. */
  readonly find: (name: string) => Expression | null;
}

function scopeOf(relation: Relation, environment: Environment): NameScope {
  const context = new ExpressionContext(environment, relation);
  return { relation, find: (name) => context.findColumn(name) };
}

/** The input with a column for each attribute among the names, so that it has a place of its own. */
function withAttributes(
  input: Relation,
  names: syntax.NamesOperator["names"],
  environment: Environment,
): Relation {
  const { find } = scopeOf(input, environment);
  const added = names.flatMap(({ expression }) => {
    if (expression.kind !== "name" || expression.isPattern) return [];
    const found = find(expression.name);
    return found === null || found.kind === "column" ? [] : [{ name: expression.name, expression: found }];
  });
  const once = [...new Map(added.map((attribute) => [attribute.name, attribute])).values()];
  return once.length === 0 ? input : extend(input, once);
}

/** An attribute that is named stays where it is: among the attributes. */
export function bindProjectAway(
  input: Relation,
  { names }: syntax.NamesOperator,
  environment: Environment,
): Relation {
  const scope = scopeOf(input, environment);
  const gone = new Set(names.flatMap(({ expression }) => namedColumns(scope, expression)));
  return keep(
    input,
    input.columns.map(({ name }) => name).filter((name) => !gone.has(name)),
  );
}

export function bindKeep(
  input: Relation,
  { names }: syntax.NamesOperator,
  environment: Environment,
): Relation {
  const extended = withAttributes(input, names, environment);
  const scope = scopeOf(extended, environment);
  const kept = new Set(names.flatMap(({ expression }) => namedColumns(scope, expression)));
  return keep(
    extended,
    extended.columns.map(({ name }) => name).filter((name) => kept.has(name)),
  );
}

/** The named ones first, each pattern's in their order or in the one it says; then the others. */
export function bindReorder(
  input: Relation,
  { names }: syntax.NamesOperator,
  environment: Environment,
): Relation {
  const extended = withAttributes(input, names, environment);
  const scope = scopeOf(extended, environment);
  const exact = new Set(
    names.flatMap(({ expression }) =>
      expression.kind === "name" && !expression.isPattern ? [expression.name] : [],
    ),
  );
  const first = new Set<string>();
  for (const { expression, order } of names) {
    const isPattern = expression.kind !== "name" || expression.isPattern;
    const matched = namedColumns(scope, expression).filter((name) => !isPattern || !exact.has(name));
    for (const name of ordered(matched, order)) first.add(name);
  }
  const rest = extended.columns.map(({ name }) => name).filter((name) => !first.has(name));
  return keep(extended, [...first, ...rest]);
}

function ordered(names: readonly string[], order: string | null): readonly string[] {
  if (order === null) return names;
  const isNatural = order.startsWith("granny");
  const compare = (left: string, right: string) =>
    isNatural ? left.localeCompare(right, "en", { numeric: true }) : left < right ? -1 : left > right ? 1 : 0;
  const sorted = [...names].sort(compare);
  return order.endsWith("desc") ? sorted.reverse() : sorted;
}

/** `new = old`; the columns keep their places. */
export function bindRename(
  input: Relation,
  { assignments }: syntax.RenameOperator,
  context: ExpressionContext,
): Relation {
  const renamed = new Map<string, string>();
  for (const { names, value, span } of assignments) {
    const [name] = names;
    if (name === undefined || value.kind !== "name")
      return refuse("SYNTAX", "project-rename takes new = old.", span);
    const column = context.findOwnColumn(value.name);
    if (column?.kind === "column") renamed.set(column.name, name.name);
    else if (context.findColumn(value.name) === null) context.resolveColumn(value.name, value.span);
    else return extendRenamed(input, assignments, context);
  }
  const names = new UniqueNames();
  return project(
    input,
    input.columns.map(({ name }) => ({
      name: names.claim(renamed.get(name) ?? name),
      expression: columnOf(input, name),
    })),
  );
}

/** Attributes have no place to keep: they become columns under their new names. */
function extendRenamed(
  input: Relation,
  assignments: readonly syntax.Argument[],
  context: ExpressionContext,
): Relation {
  const own = new Map<string, string>();
  const added = assignments.flatMap(({ names, value }) => {
    const [name] = names;
    const expression = context.scalar(value);
    if (name === undefined) return [];
    if (expression.kind !== "column") return [{ name: name.name, expression }];
    own.set(expression.name, name.name);
    return [];
  });
  const columns = input.columns.map(({ name }) => ({
    name: own.get(name) ?? name,
    expression: columnOf(input, name),
  }));
  const taken = new Set(added.map(({ name }) => name));
  return project(input, [...columns.filter(({ name }) => !taken.has(name)), ...added]);
}
