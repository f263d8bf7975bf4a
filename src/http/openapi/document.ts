import { ERROR_CODES } from "../../errors.ts";
import type { Route } from "../route.ts";
import { type JsonObject, operationOf } from "./operation.ts";

/** The version of the API, which is not that of the program. */
const API_VERSION = "1.0.0";

/**
 * The OpenAPI 3.1 document of a table of routes: every path, parameter, body, answer, error, scope and role, from the
 * same specs that are enforced. `serverUrl` is where the server is reached.
 */
export function openApiDocument(routes: readonly Route[], serverUrl: string): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const route of routes) {
    const path = route.path.replace(/:([a-zA-Z0-9]+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "obs",
      version: API_VERSION,
      description: "Logs in, durable before they are acknowledged; searched with KQL a second later.",
    },
    servers: [{ url: serverUrl }],
    tags: [...new Set(routes.map((route) => route.tag))].toSorted().map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      headers: HEADERS,
      schemas: { Error: ERROR, FieldIssue: FIELD_ISSUE },
    },
  };
}

const SECURITY_SCHEMES: JsonObject = {
  token: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "obs_<43 characters base64url>",
    description: "A personal access token. Its scopes narrow what the role of its owner allows.",
  },
  session: {
    type: "apiKey",
    in: "cookie",
    name: "session",
    description:
      "Set by login. State-changing calls that use it need an `Origin` header equal to the origin of the server.",
  },
};

const HEADERS: JsonObject = {
  RequestId: { description: "The id under which the request is logged.", schema: { type: "string" } },
  RateLimit: { description: "Calls per minute.", schema: { type: "integer" } },
  RateLimitRemaining: { description: "Calls left now.", schema: { type: "integer" } },
  RateLimitReset: {
    description: "Epoch seconds at which all calls are there again.",
    schema: { type: "integer" },
  },
  RetryAfter: { description: "Seconds to wait.", schema: { type: "integer" } },
};

const ERROR: JsonObject = {
  type: "object",
  required: ["error", "code", "requestId"],
  properties: {
    error: { type: "string", description: "For people; branch on the code." },
    code: { type: "string", enum: Object.keys(ERROR_CODES) },
    fields: { type: "array", maxItems: 100, items: { $ref: "#/components/schemas/FieldIssue" } },
    requestId: { type: "string" },
  },
};

const FIELD_ISSUE: JsonObject = {
  type: "object",
  required: ["path", "code", "message"],
  properties: {
    path: { type: "string", description: "A JSON pointer into the body, or `/name` of a query parameter." },
    code: {
      type: "string",
      enum: [
        "invalid_type",
        "unrecognized_keys",
        "invalid_literal",
        "too_small",
        "too_big",
        "invalid_string",
        "invalid_union",
        "custom",
      ],
    },
    message: { type: "string" },
  },
};
