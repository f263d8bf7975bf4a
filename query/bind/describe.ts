import { literal } from "../expression.ts";
import { values } from "../plan/build.ts";
import type { Relation } from "../plan/relation.ts";
import type { ScalarType } from "../scalar-type.ts";

/** The names by which the runtime of Kusto calls the types. */
const RUNTIME_TYPES: Readonly<Record<ScalarType, string>> = {
  bool: "System.SByte",
  int: "System.Int32",
  long: "System.Int64",
  real: "System.Double",
  decimal: "System.Data.SqlTypes.SqlDecimal",
  string: "System.String",
  datetime: "System.DateTime",
  timespan: "System.TimeSpan",
  guid: "System.Guid",
  dynamic: "System.Object",
};

/** One row for each column of the input. */
export function bindGetSchema(input: Relation): Relation {
  return values(
    [
      { name: "ColumnName", type: "string", isNullable: false },
      { name: "ColumnOrdinal", type: "int", isNullable: false },
      { name: "DataType", type: "string", isNullable: false },
      { name: "ColumnType", type: "string", isNullable: false },
    ],
    input.columns.map(({ name, type }, i) => [
      literal("string", name),
      literal("int", i),
      literal("string", RUNTIME_TYPES[type]),
      literal("string", type),
    ]),
  );
}
