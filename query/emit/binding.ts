import type { AttributeColumns } from "../attribute-columns.ts";
import type { Expression } from "../expression.ts";
import type { ScalarType } from "../scalar-type.ts";
import type { ColumnSchema, ColumnStorage } from "../schema.ts";

/**
 * How a column lies in a SELECT: as it is stored, or, of dynamic values that are known to be no other, `strings` as an
 * Array(String) that stands for the array of these strings, and `text` as the text of a string. Their JSON text is
 * made only where somebody asks for it.
 */
type BindingStorage =
  | ColumnStorage
  | { readonly kind: "strings"; readonly column: string }
  | { readonly kind: "text"; readonly column: string };

/**
 * What a public column name stands for inside one SELECT: a column as it is stored, or the alias of something that
 * was computed. Aliases are numbered through the whole statement (`c0`, `c1`, ...) and clash with no stored column,
 * so that ClickHouse, which lets an alias hide a column of its name, never takes one for the other.
 */
export interface Binding {
  readonly type: ScalarType;
  readonly storage: BindingStorage;
}

/** The columns in reach, in the order in which they would be answered. */
export type Bindings = ReadonlyMap<string, Binding>;

/** An expression with the names it may use; operators further on may give these names another meaning. */
export interface BoundExpression {
  readonly expression: Expression;
  readonly bindings: Bindings;
}

/** `columns` are the attributes that the rows have columns of. */
export function storedBinding({ type, storage }: ColumnSchema, columns?: AttributeColumns): Binding {
  const isSplit = storage.kind === "bag" && columns !== undefined && columns.size > 0;
  return { type, storage: isSplit ? { ...storage, columns } : storage };
}

/** The identifiers of columns that hold entries of the bag as well. */
export function attributeIdentifiers(columns: AttributeColumns | undefined): readonly string[] {
  return [...(columns ?? new Map()).values()].flatMap(({ text, kind }) => [text, kind]);
}

export function aliasBinding(type: ScalarType, alias: string): Binding {
  return { type, storage: { kind: "plain", column: alias } };
}

/** A dynamic value that is an array of strings, or one string. */
export function stringBinding(kind: "strings" | "text", alias: string): Binding {
  return { type: "dynamic", storage: { kind, column: alias } };
}

/** Throws a TypeError for a name that is not in reach: the constructors of plans let none through. */
export function bindingOf(bindings: Bindings, name: string): Binding {
  const binding = bindings.get(name);
  if (binding === undefined) throw new TypeError(`no column ${name} in reach`);
  return binding;
}

/** The identifiers that a surrounding SELECT needs to use the binding as it is. */
export function identifiersOf({ storage }: Binding): readonly string[] {
  if (storage.kind !== "bag") return [storage.column];
  return [storage.column, storage.jsonKeysColumn, ...attributeIdentifiers(storage.columns)];
}

/** The identifier of a binding that is one column in SQL. */
export function onlyIdentifier(binding: Binding): string {
  const [identifier, ...others] = identifiersOf(binding);
  if (identifier === undefined || others.length > 0) throw new TypeError("a bag is not one column");
  return identifier;
}
