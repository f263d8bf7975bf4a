import { isJsonObject, type JsonObject } from "./components.ts";

const TEXTS: Readonly<Record<string, string>> = {
  "date-time": "2026-03-01T12:00:00.000Z",
  email: "ana@example.com",
  uri: "https://example.com/",
};

/**
 * A value that a schema takes: its own example, else one put together from the examples of its parts. A schema whose form
 * says too little, such as a pattern, needs an example of its own; the tests find those that have none.
 */
export function exampleOf(schema: unknown): unknown {
  if (!isJsonObject(schema)) return null;
  const given = givenExample(schema);
  if (given !== undefined) return given;
  if (Array.isArray(schema.anyOf)) return exampleOf(schema.anyOf.find((branch) => !isNull(branch)));
  switch (schema.type) {
    case "object":
      return Object.fromEntries(propertiesOf(schema).map(([name, property]) => [name, exampleOf(property)]));
    case "array":
      return [exampleOf(schema.items)];
    case "string":
      return TEXTS[String(schema.format)] ?? "text";
    case "integer":
    case "number":
      return (
        schema.minimum ?? (typeof schema.exclusiveMinimum === "number" ? schema.exclusiveMinimum + 1 : 1)
      );
    case "boolean":
      return false;
    default:
      return {};
  }
}

/** The example that a schema states itself; undefined for none, as null is one. */
export function givenExample(schema: JsonObject): unknown {
  for (const list of [schema.examples, schema.enum])
    if (Array.isArray(list) && list.length > 0) return list[0];
  return "default" in schema ? schema.default : schema.const;
}

function propertiesOf({ properties }: JsonObject): [string, unknown][] {
  return isJsonObject(properties) ? Object.entries(properties) : [];
}

function isNull(schema: unknown): boolean {
  return isJsonObject(schema) && schema.type === "null";
}
