import type { JsonObject, JsonValue } from "../audit/canonical-json.ts";

/** Whether what was parsed from JSON is an object. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isJsonList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
