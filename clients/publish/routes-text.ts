import { isRecord, type JsonRecord } from "../api/json.ts";

const METHODS = ["get", "post", "put", "patch", "delete"];

/**
 * TypeScript that says what the routes of an OpenAPI 3.1 document take and answer, in the form of `clients/api/routes.ts`. Throws
 * Error for another document.
 */
export function routesText(document: unknown): string {
  if (!isRecord(document) || !isRecord(document.paths)) throw new Error("this is no OpenAPI document");
  const components = memberOf(document, "components");
  const schemas = Object.entries(memberOf(components, "schemas")).map(
    ([name, schema]) => `  ${JSON.stringify(name)}: ${typeText(schema)};`,
  );
  const routes = Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = memberOf(item, method);
      if (Object.keys(operation).length === 0) return [];
      const name = `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`;
      return [`  ${JSON.stringify(name)}: ${routeText(operation, components)};`];
    }),
  );
  return [
    "/** Bodies by the names that the document of the API gives them. */",
    `export interface Schemas {\n${schemas.join("\n")}\n}\n`,
    "/** By method and path what a route takes and answers; `never` for an answer that is no JSON. */",
    `export interface Routes {\n${routes.join("\n")}\n}\n`,
  ].join("\n");
}

function routeText(operation: JsonRecord, components: JsonRecord): string {
  const listed = Array.isArray(operation.parameters) ? operation.parameters : [];
  const parameters = listed.map((each) => resolved(each, components));
  const of = (place: string): string => {
    const own = parameters.filter((each) => each.in === place);
    return `{ ${own.map((each) => memberText(String(each.name), each.schema, each.required === true)).join(" ")} }`;
  };
  const sent = memberOf(memberOf(resolved(operation.requestBody, components), "content"), "application/json");
  const answers = Object.entries(memberOf(operation, "responses"))
    .filter(([status]) => /^2\d\d$/.test(status))
    .map(([status, answer]) => `${status}: ${answerText(resolved(answer, components))};`);
  const body = isRecord(sent.schema) ? typeText(sent.schema) : "undefined";
  return `{ params: ${of("path")}; query: ${of("query")}; body: ${body}; responses: { ${answers.join(" ")} } }`;
}

function answerText(answer: JsonRecord): string {
  const content = memberOf(answer, "content");
  if (Object.keys(content).length === 0) return "undefined";
  const json = memberOf(content, "application/json");
  return isRecord(json.schema) ? typeText(json.schema) : "never";
}

/** A JSON schema as a type. What says more than a type can, such as a pattern, is left out. */
export function typeText(schema: unknown): string {
  if (!isRecord(schema)) return "unknown";
  if (typeof schema.$ref === "string") return `Schemas[${JSON.stringify(schema.$ref.split("/").at(-1))}]`;
  if ("const" in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return unionOf(schema.enum.map((value) => JSON.stringify(value)));
  const choices = [schema.anyOf, schema.oneOf].find(Array.isArray);
  if (choices !== undefined) return unionOf(choices.map(typeText));
  if (Array.isArray(schema.allOf)) return schema.allOf.map((each) => `(${typeText(each)})`).join(" & ");
  if (Array.isArray(schema.type)) return unionOf(schema.type.map((type) => typeText({ ...schema, type })));
  switch (schema.type) {
    case "string":
    case "boolean":
    case "null":
      return schema.type;
    case "integer":
    case "number":
      return "number";
    case "array":
      return `(${typeText(schema.items)})[]`;
    case "object":
      return objectText(schema);
    default:
      return "unknown";
  }
}

function objectText(schema: JsonRecord): string {
  const needed = new Set(Array.isArray(schema.required) ? schema.required : []);
  const members = Object.entries(memberOf(schema, "properties")).map(([name, member]) =>
    memberText(name, member, needed.has(name)),
  );
  if (members.length > 0) return `{ ${members.join(" ")} }`;
  const [pattern] = Object.values(memberOf(schema, "patternProperties"));
  const others = isRecord(schema.additionalProperties) ? schema.additionalProperties : pattern;
  return `{ [name: string]: ${typeText(others)} }`;
}

function memberText(name: string, schema: unknown, isNeeded: boolean): string {
  return `${JSON.stringify(name)}${isNeeded ? "" : "?"}: ${typeText(schema)};`;
}

function unionOf(types: readonly string[]): string {
  return types.length === 0 ? "never" : [...new Set(types)].map((type) => `(${type})`).join(" | ");
}

function resolved(value: unknown, components: JsonRecord): JsonRecord {
  if (!isRecord(value)) return {};
  if (typeof value.$ref !== "string") return value;
  const [, , place = "", name = ""] = value.$ref.split("/");
  return memberOf(memberOf(components, place), name);
}

function memberOf(value: unknown, name: string): JsonRecord {
  const member = isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return isRecord(member) ? member : {};
}
