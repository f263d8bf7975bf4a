import type { Overload } from "./functions/definition.ts";
import type { Relation } from "./plan/relation.ts";
import { hasSqlNull, type LiteralValues, type ScalarType } from "./scalar-type.ts";

/** A column of the relation that the expression is evaluated over, by its public name. */
export interface ColumnReference {
  readonly kind: "column";
  readonly name: string;
  readonly type: ScalarType;
  readonly isNullable: boolean;
  /** An attribute, or made of one: it has the type that its use asks for. */
  readonly isLoose: boolean;
}

/**
 * One entry of a property bag: that of the key `a.b.c` for the path a, b, c, else the part `c` of the entry `a.b`, else
 * the part `b.c` of the entry `a`; nothing when the bag has none of them.
 */
export interface AttributePath {
  readonly kind: "attribute";
  /** The public name of the column that holds the bag. */
  readonly column: string;
  readonly path: readonly string[];
  readonly type: "dynamic";
  readonly isNullable: false;
}

interface LiteralOf<T extends ScalarType> {
  readonly kind: "literal";
  readonly type: T;
  /** Null is the null of the type. */
  readonly value: LiteralValues[T] | null;
  readonly isNullable: boolean;
}
export type Literal = { [T in ScalarType]: LiteralOf<T> }[ScalarType];

export interface Call {
  readonly kind: "call";
  readonly name: string;
  readonly overload: Overload;
  readonly operands: readonly Expression[];
  readonly type: ScalarType;
  readonly isNullable: boolean;
}

/** The value of the first row and first column of a relation; null when it has no row. */
interface ScalarSubquery {
  readonly kind: "scalarSubquery";
  readonly relation: Relation;
  readonly type: ScalarType;
  readonly isNullable: boolean;
}

/** Whether the operand is among the values of a relation of one column, of the same type. */
export interface InSubquery {
  readonly kind: "inSubquery";
  readonly operand: Expression;
  readonly relation: Relation;
  readonly type: "bool";
  readonly isNullable: false;
}

/**
 * A typed scalar expression; an immutable tree. `isNullable` false promises that SQL never has NULL for it; strings,
 * guids and dynamic values never have: nothing is their empty text.
 */
export type Expression = ColumnReference | AttributePath | Literal | Call | ScalarSubquery | InSubquery;

export function column(name: string, type: ScalarType, isNullable = false, isLoose = false): ColumnReference {
  return { kind: "column", name, type, isNullable: isNullable && hasSqlNull(type), isLoose };
}

export function attribute(bagColumn: string, ...path: readonly string[]): AttributePath {
  return { kind: "attribute", column: bagColumn, path, type: "dynamic", isNullable: false };
}

/** True for a dynamic value out of the attributes: nobody declared its type, so that its use decides. */
export function isLoose(expression: Expression): boolean {
  if (expression.type !== "dynamic") return false;
  if (expression.kind === "column") return expression.isLoose;
  return expression.kind === "attribute" || (expression.kind === "call" && expression.operands.some(isLoose));
}

export function literal<T extends ScalarType>(type: T, value: LiteralValues[T] | null): LiteralOf<T> {
  return { kind: "literal", type, value, isNullable: value === null && hasSqlNull(type) };
}
