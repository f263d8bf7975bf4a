import type { Expression } from "../expression.ts";
import type { NamedExpression } from "../plan/relation.ts";
import {
  aliasBinding,
  type Binding,
  type Bindings,
  type BoundExpression,
  bindingOf,
  stringBinding,
} from "./binding.ts";
import type { Definition } from "./select-block.ts";
import { holdsStrings } from "./short-forms.ts";

/** A column of a SELECT under its public name. */
export interface DefinedColumn {
  readonly name: string;
  readonly binding: Binding;
  /** Null when the name merely stands for something that is in reach already. */
  readonly definition: Definition | null;
}

/** A name that is unique in the statement. */
export type NewAlias = () => string;

export function definitionsOf(columns: readonly DefinedColumn[]): Definition[] {
  return columns.flatMap(({ definition }) => (definition === null ? [] : [definition]));
}

export function bindingsOf(columns: readonly DefinedColumn[]): [string, Binding][] {
  return columns.map(({ name, binding }) => [name, binding]);
}

/** A column in the form of its type, or as it is in reach already. */
export function defineColumn(
  { name, expression }: NamedExpression,
  bindings: Bindings,
  newAlias: NewAlias,
): DefinedColumn {
  return expression.kind === "column"
    ? { name, binding: bindingOf(bindings, expression.name), definition: null }
    : compute(name, expression, bindings, newAlias);
}

/** As `defineColumn`, but an array of strings is not written as JSON before somebody asks for that. */
export function assignColumn(
  assignment: NamedExpression,
  bindings: Bindings,
  newAlias: NewAlias,
): DefinedColumn {
  const { name, expression } = assignment;
  if (expression.kind === "column" || !holdsStrings(expression, bindings))
    return defineColumn(assignment, bindings, newAlias);
  const value: BoundExpression = { expression, bindings };
  const alias = newAlias();
  return { name, binding: stringBinding("strings", alias), definition: { kind: "strings", alias, value } };
}

/** What rows are ordered by: as `defineColumn`, but an enumeration becomes its text, by which it is ordered. */
export function defineOrder(expression: Expression, bindings: Bindings, newAlias: NewAlias): DefinedColumn {
  const isPlain =
    expression.kind === "column" && bindingOf(bindings, expression.name).storage.kind === "plain";
  return isPlain
    ? defineColumn({ name: "", expression }, bindings, newAlias)
    : compute("", expression, bindings, newAlias);
}

function compute(
  name: string,
  expression: Expression,
  bindings: Bindings,
  newAlias: NewAlias,
): DefinedColumn {
  const alias = newAlias();
  const definition: Definition = { kind: "scalar", alias, value: { expression, bindings } };
  return { name, binding: aliasBinding(expression.type, alias), definition };
}
