import type { ScalarType } from "../scalar-type.ts";

/**
 * The value of a kept cell, of which the store has a text: decimal digits of whole numbers and, for times, of nanoseconds,
 * `1` and `0` of truth values, JSON of dynamic ones, and nothing where there is nothing.
 */
export function keptCell(text: string, type: ScalarType): string {
  switch (type) {
    case "bool":
      return `CAST(multiIf(${text} = '1', true, ${text} = '0', false, NULL), 'Nullable(Bool)')`;
    case "int":
      return `toInt32OrNull(${text})`;
    case "long":
    case "timespan":
      return `toInt64OrNull(${text})`;
    case "real":
    case "decimal":
      return `toFloat64OrNull(${text})`;
    case "datetime":
      return `fromUnixTimestamp64Nano(toInt64OrNull(${text}), 'UTC')`;
    case "string":
    case "guid":
    case "dynamic":
      return text;
  }
}
