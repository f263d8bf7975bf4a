import type { ScalarType } from "../scalar-type.ts";
import { type Binding, identifiersOf } from "./binding.ts";
import type { SqlWriter } from "./sql-writer.ts";

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
  string: "value",
  datetime: "nanoseconds",
  timespan: "nanoseconds",
  dynamic: "json",
};

export function wireFormatOf(binding: Binding): WireFormat {
  return binding.kind === "stored" && binding.storage.kind === "bag" ? "bag" : FORMATS[binding.type];
}

/** Writes the column in its wire format. */
export function writeWireColumn(out: SqlWriter, binding: Binding): void {
  const [identifier = ""] = identifiersOf(binding);
  if (binding.kind === "stored" && binding.storage.kind === "bag")
    out.text(`tuple(mapKeys(${identifier}), mapValues(${identifier}), ${binding.storage.jsonKeysColumn})`);
  else if (binding.type === "datetime") out.text(`toUnixTimestamp64Nano(${identifier})`);
  else out.text(identifier);
}
