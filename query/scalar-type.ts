/** The scalar types of Kusto that the language knows here. */
export type ScalarType = "bool" | "int" | "long" | "real" | "string" | "datetime" | "timespan" | "dynamic";

/** How the value of a literal is held while a query is compiled. */
export interface LiteralValues {
  bool: boolean;
  /** 32 bits. */
  int: number;
  /** 64 bits, signed. */
  long: bigint;
  real: number;
  string: string;
  /** Nanoseconds since 1970-01-01 UTC. */
  datetime: bigint;
  /** Nanoseconds. */
  timespan: bigint;
  /** JSON text. */
  dynamic: string;
}

const NUMERIC: ReadonlySet<ScalarType> = new Set<ScalarType>(["int", "long", "real"]);

/** True when values of the two types have an order between them: the same type, or two kinds of number. */
export function areComparable(left: ScalarType, right: ScalarType): boolean {
  if (left === "dynamic" || right === "dynamic") return false;
  return left === right || (NUMERIC.has(left) && NUMERIC.has(right));
}
