import { Compile, type Validator } from "typebox/compile";
// Knows the formats.
import "../../src/http/validate.ts";
import { ErrorAnswer } from "../../src/http/openapi/error-schemas.ts";
import { type ApiOperation, isJsonObject, type JsonObject, operationsOf } from "./api-document.ts";

/** Problems of one answer that a failure names. */
const PROBLEMS_SHOWN = 5;

/** Judges answers by what an OpenAPI document declares: status, content type, and of JSON every value and every name. */
export class DeclaredAnswers {
  readonly #operations: readonly (ApiOperation & { readonly pattern: RegExp })[];
  readonly #validators = new Map<JsonObject, Validator>();

  constructor(document: unknown) {
    // Literal segments count before parameters, as for the router.
    this.#operations = operationsOf(document)
      .map((operation) => ({ ...operation, pattern: patternOf(operation.path) }))
      .toSorted((a, b) => a.path.split("{").length - b.path.split("{").length);
  }

  /** What is wrong with an answer to a method and path, and where; null when it is as declared. The body can be read afterwards. */
  async problem(method: string, path: string, response: Response): Promise<string | null> {
    const isHead = method === "HEAD";
    const operation = this.#find(isHead ? "GET" : method, path);
    const place = `${method} ${path} ${response.status}`;
    if (operation === undefined) {
      if (response.status < 400) return `${place}: no such operation is declared`;
      return isHead ? null : this.#bodyProblem(`${place} (no operation)`, ERROR, response);
    }
    // The runtime's own, for a request too long to be read: the introduction of the document says so.
    if (response.status === 431) return null;
    const declared = operation.responses[response.status];
    if (declared === undefined) return `${place}: ${operation.operationId} declares no such status`;
    const type = contentTypeOf(response);
    if (isHead || response.body === null || type === null) return null;
    const media = declared.content?.[type];
    if (media === undefined) return `${place}: ${operation.operationId} declares no ${type}`;
    if (type !== "application/json") return null;
    if (media.schema === undefined) return `${place}: ${operation.operationId} declares no schema`;
    return this.#bodyProblem(place, media.schema, response);
  }

  #find(method: string, path: string): ApiOperation | undefined {
    return this.#operations.find((operation) => operation.method === method && operation.pattern.test(path));
  }

  async #bodyProblem(place: string, schema: JsonObject, response: Response): Promise<string | null> {
    if (contentTypeOf(response) !== "application/json") return null;
    // A server that dies sends half an answer, of which nothing can be said.
    const text = await response
      .clone()
      .text()
      .catch(() => null);
    if (text === null) return null;
    const problems = this.problemsOf(schema, parsed(text));
    return problems.length === 0 ? null : `${place}: ${problems.join("; ")} in ${text.slice(0, 1000)}`;
  }

  /** What is wrong with a value: what its schema refuses, and names that it does not declare. */
  problemsOf(schema: JsonObject, value: unknown): string[] {
    const known = this.#validators.get(schema);
    const validator = known ?? Compile(closed(schema));
    if (known === undefined) this.#validators.set(schema, validator);
    if (validator.Check(value)) return [];
    return validator
      .Errors(value)
      .slice(0, PROBLEMS_SHOWN)
      .map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`);
  }
}

/** Undefined for what is no JSON, which no schema takes. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const ERROR: JsonObject = JSON.parse(JSON.stringify(ErrorAnswer));

function contentTypeOf(response: Response): string | null {
  return response.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase() ?? null;
}

function patternOf(path: string): RegExp {
  const escaped = path.replace(/[.]/g, "\\.").replace(/\{[^}]+\}/g, "[^/]*");
  return new RegExp(`^${escaped}/?$`);
}

/**
 * The schema with every object closed that does not say whether it has further properties: clients must bear those, but an
 * answer that has some is not fully described.
 */
function closed(schema: JsonObject): JsonObject {
  if (!Array.isArray(schema.allOf)) return closedItself(closedWithin(schema));
  const parts = schema.allOf.map((part: unknown) => (isJsonObject(part) ? closedWithin(part) : part));
  return { ...schema, allOf: parts, unevaluatedProperties: false };
}

function closedItself(schema: JsonObject): JsonObject {
  const isOpen =
    schema.type !== "object" || "additionalProperties" in schema || "patternProperties" in schema;
  return isOpen ? schema : { ...schema, additionalProperties: false };
}

/** Closes what stands within a schema. */
function closedWithin(schema: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (keyword === "properties" || keyword === "patternProperties") return [keyword, closedMembers(value)];
      if (keyword === "anyOf" && Array.isArray(value)) return [keyword, value.map(closedValue)];
      return [keyword, keyword === "items" ? closedValue(value) : value];
    }),
  );
}

function closedMembers(members: unknown): unknown {
  if (!isJsonObject(members)) return members;
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, closedValue(member)]));
}

function closedValue(value: unknown): unknown {
  return isJsonObject(value) ? closed(value) : value;
}
