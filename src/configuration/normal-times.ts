import type { TSchema } from "typebox";
import type { JsonObject, JsonValue } from "../audit/canonical-json.ts";
import { isJsonList, isJsonObject } from "./json.ts";

/** A value with every time that its schema says it has as records show times: ISO-8601 in UTC to the millisecond. */
export function normalTimes(schema: TSchema | undefined, value: JsonValue): JsonValue {
  if (schema === undefined) return value;
  if (typeof value === "string") return hasTimes(schema) ? normalTime(value) : value;
  if (isJsonList(value)) {
    const items = memberOf(schema, "items");
    return items === undefined ? value : value.map((item) => normalTimes(items, item));
  }
  if (!isJsonObject(value)) return value;
  const properties = memberOf(schema, "properties");
  if (properties === undefined) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]): [string, JsonValue] => [
      name,
      normalTimes(memberOf(properties, name), member),
    ]),
  ) satisfies JsonObject;
}

function hasTimes(schema: TSchema): boolean {
  if ("format" in schema) return schema.format === "date-time";
  return "anyOf" in schema && Array.isArray(schema.anyOf) && schema.anyOf.some(hasTimes);
}

/** What is no time stays as it is: the schema refuses it. */
function normalTime(text: string): string {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? text : new Date(ms).toISOString();
}

function memberOf(schema: TSchema, name: string): TSchema | undefined {
  const member: unknown = Reflect.get(schema, name);
  return typeof member === "object" && member !== null ? member : undefined;
}
