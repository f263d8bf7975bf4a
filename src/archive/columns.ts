/**
 * The columns of `logs` as an archived file has them, with the types under which it is read again: those of the table,
 * so that every function means the same over both. A column that a later migration adds is added here; older files
 * answer with its empty value.
 */
const COLUMNS: readonly (readonly [name: string, type: string])[] = [
  ["organization_id", "UInt32"],
  ["ts", "DateTime64(9, 'UTC')"],
  ["id", "UInt64"],
  ["received_at", "DateTime64(3, 'UTC')"],
  ["level", "Enum8('' = 0, 'trace' = 1, 'debug' = 2, 'info' = 3, 'warn' = 4, 'error' = 5, 'fatal' = 6)"],
  ["service", "LowCardinality(String)"],
  ["source", "LowCardinality(String)"],
  ["host", "LowCardinality(String)"],
  ["message", "String"],
  ["trace_id", "String"],
  ["span_id", "String"],
  ["event_id", "String"],
  ["attrs", "Map(LowCardinality(String), String)"],
  ["attr_json_keys", "Array(LowCardinality(String))"],
];

export const ARCHIVE_COLUMNS: string = COLUMNS.map(([name]) => name).join(", ");

/** The structure of a file, as the table functions of ClickHouse take it. */
export const FILE_STRUCTURE: string = COLUMNS.map(([name, type]) => `${name} ${type}`).join(", ");
