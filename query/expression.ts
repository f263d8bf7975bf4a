import { SCALAR_FUNCTIONS, type ScalarFunctionName } from "./functions.ts";
import type { LiteralValues, ScalarType } from "./scalar-type.ts";

/** A column of the relation that the expression is evaluated over, by its public name. */
export interface ColumnReference {
  readonly kind: "column";
  readonly name: string;
  readonly type: ScalarType;
}

/** One entry of a property bag, by its exact key; nothing when the bag has no such key. */
export interface AttributePath {
  readonly kind: "attribute";
  /** The public name of the column that holds the bag. */
  readonly column: string;
  readonly key: string;
  readonly type: "dynamic";
}

export interface LiteralOf<T extends ScalarType> {
  readonly kind: "literal";
  readonly type: T;
  readonly value: LiteralValues[T];
}
export type Literal = { [T in ScalarType]: LiteralOf<T> }[ScalarType];

export interface Call {
  readonly kind: "call";
  readonly name: ScalarFunctionName;
  readonly operands: readonly Expression[];
  readonly type: ScalarType;
}

/** A typed scalar expression; an immutable tree. */
export type Expression = ColumnReference | AttributePath | Literal | Call;

export function column(name: string, type: ScalarType): ColumnReference {
  return { kind: "column", name, type };
}

export function attribute(bagColumn: string, key: string): AttributePath {
  return { kind: "attribute", column: bagColumn, key, type: "dynamic" };
}

export function literal<T extends ScalarType>(type: T, value: LiteralValues[T]): LiteralOf<T> {
  return { kind: "literal", type, value };
}

/** Throws a TypeError when the function does not take operands of these types: whoever builds a plan checks first. */
export function call(name: ScalarFunctionName, ...operands: readonly Expression[]): Call {
  const types = operands.map((operand) => operand.type);
  const type = SCALAR_FUNCTIONS[name].resultType(types);
  if (type === undefined) throw new TypeError(`${name} does not take (${types.join(", ")})`);
  return { kind: "call", name, operands, type };
}

/** The conjunction; of one condition it is the condition. Throws a TypeError when there is none. */
export function allOf(conditions: readonly Expression[]): Expression {
  const [first, ...rest] = conditions;
  return first !== undefined && rest.length === 0 ? first : call("and", ...conditions);
}

/** The disjunction; of one condition it is the condition. Throws a TypeError when there is none. */
export function anyOf(conditions: readonly Expression[]): Expression {
  const [first, ...rest] = conditions;
  return first !== undefined && rest.length === 0 ? first : call("or", ...conditions);
}
