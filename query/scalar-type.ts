/** The scalar types of Kusto. */
export const SCALAR_TYPES = [
  "bool",
  "int",
  "long",
  "real",
  "decimal",
  "string",
  "datetime",
  "timespan",
  "guid",
  "dynamic",
] as const;
export type ScalarType = (typeof SCALAR_TYPES)[number];

/** How the value of a literal is held while a query is compiled. */
export interface LiteralValues {
  bool: boolean;
  /** 32 bits. */
  int: number;
  /** 64 bits, signed. */
  long: bigint;
  real: number;
  /** Computed with as a real number. */
  decimal: number;
  string: string;
  /** Nanoseconds since 1970-01-01 UTC. */
  datetime: bigint;
  /** Nanoseconds. */
  timespan: bigint;
  /** Lower case, with hyphens. */
  guid: string;
  /** JSON text. */
  dynamic: string;
}

/** The names under which a query may mention a type. */
const TYPE_NAMES: ReadonlyMap<string, ScalarType> = new Map([
  ...SCALAR_TYPES.map((type): [string, ScalarType] => [type, type]),
  ["boolean", "bool"],
  ["date", "datetime"],
  ["time", "timespan"],
  ["double", "real"],
  ["float", "real"],
  ["int32", "int"],
  ["int64", "long"],
  ["uuid", "guid"],
  ["uniqueid", "guid"],
]);

/** The type that a query means by a name; undefined when there is none. */
export function scalarTypeNamed(name: string): ScalarType | undefined {
  return TYPE_NAMES.get(name);
}

const NUMERIC: ReadonlySet<ScalarType> = new Set<ScalarType>(["int", "long", "real", "decimal"]);

export function isNumeric(type: ScalarType): boolean {
  return NUMERIC.has(type);
}

/** True when values of the two types have an order between them: the same type, or two kinds of number. */
export function areComparable(left: ScalarType, right: ScalarType): boolean {
  if (left === "dynamic" || right === "dynamic") return false;
  return left === right || (NUMERIC.has(left) && NUMERIC.has(right));
}

/** Types whose null is a value of its own in SQL; a string has no null, and nothing is the empty text for the others. */
export function hasSqlNull(type: ScalarType): boolean {
  return type !== "string" && type !== "guid" && type !== "dynamic";
}
