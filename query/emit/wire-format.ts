import type { ScalarType } from "../scalar-type.ts";
import type { Binding } from "./binding.ts";

/**
 * How a value of the answer arrives in ClickHouse's JSON formats (64-bit integers in quotes); null where there is none.
 * `value`: a JSON string, number or truth value as it is. `integer`: 64 bits as decimal text. `nanoseconds`: a
 * time since 1970, or a length of time, as decimal text. `json`: a string that holds JSON text, empty for nothing.
 * `bag`: three arrays of strings: keys, their texts, and those of the keys whose text is JSON.
 */
export type WireFormat = "value" | "integer" | "nanoseconds" | "json" | "bag";

const FORMATS: Readonly<Record<ScalarType, WireFormat>> = {
  bool: "value",
  int: "value",
  long: "integer",
  real: "value",
  decimal: "value",
  string: "value",
  datetime: "nanoseconds",
  timespan: "nanoseconds",
  guid: "value",
  dynamic: "json",
};

export function wireFormatOf({ type, storage }: Binding): WireFormat {
  return storage.kind === "bag" ? "bag" : FORMATS[type];
}

/** The SQL of the column in its wire format. */
export function wireColumn({ type, storage }: Binding): string {
  const { column } = storage;
  if (storage.kind === "bag")
    return `tuple(mapKeys(${column}), mapValues(${column}), ${storage.jsonKeysColumn})`;
  if (type === "datetime") return `toUnixTimestamp64Nano(${column})`;
  if (storage.kind === "strings" || storage.kind === "text") return `toJSONString(${column})`;
  // A condition is an UInt8 in ClickHouse, which JSON shows as a number.
  return type === "bool" ? `CAST(${column}, 'Nullable(Bool)')` : column;
}
