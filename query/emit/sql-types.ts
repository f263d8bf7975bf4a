import { hasSqlNull, type ScalarType } from "../scalar-type.ts";

/** The type in ClickHouse of each type's form in SQL. */
const SQL_TYPES: Readonly<Record<ScalarType, string>> = {
  bool: "Bool",
  int: "Int32",
  long: "Int64",
  real: "Float64",
  decimal: "Float64",
  string: "String",
  datetime: "DateTime64(9, \\'UTC\\')",
  timespan: "Int64",
  guid: "String",
  dynamic: "String",
};

/** The type that also takes nothing, as a part of a quoted name of a type. */
export function nullableSqlType(type: ScalarType): string {
  return hasSqlNull(type) ? `Nullable(${SQL_TYPES[type]})` : SQL_TYPES[type];
}

/** Nothing. */
export function nullOf(type: ScalarType): string {
  return hasSqlNull(type) ? `CAST(NULL, '${nullableSqlType(type)}')` : "''";
}
