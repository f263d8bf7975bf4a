import type { Route } from "../route.ts";
import { Components, type JsonObject } from "./components.ts";
import { headOperationOf, operationOf } from "./operation.ts";

/** The version of the API, which is not that of the program. */
const API_VERSION = "1.0.0";

/** Its name for people, and its SPDX identifier. */
interface License {
  readonly name: string;
  readonly identifier: string;
}

/** What a document says besides its routes. */
export interface DocumentHead {
  /** Where the server is reached. */
  readonly serverUrl: string;
  readonly description: string;
  readonly license: License;
  /** What is said of each tag, in the order in which readers meet them. */
  readonly tags: Readonly<Record<string, string>>;
}

/**
 * The OpenAPI 3.1 document of a table of routes: every path, parameter, body, answer, error, scope and role, from the
 * same specs that are enforced. Throws an Error for two different schemas of one name.
 */
export function openApiDocument(routes: readonly Route[], head: DocumentHead): JsonObject {
  const components = new Components();
  const paths: Record<string, JsonObject> = {};
  for (const route of routes) {
    const path = route.path.replace(/:([a-zA-Z0-9]+)/g, "{$1}");
    paths[path] = {
      ...paths[path],
      [route.method.toLowerCase()]: operationOf(route, components),
      ...(route.showsHead && { head: headOperationOf(route, components) }),
    };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "obs",
      version: API_VERSION,
      description: head.description,
      license: head.license,
    },
    servers: [{ url: head.serverUrl }],
    tags: Object.entries(head.tags).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      parameters: PARAMETERS,
      headers: HEADERS,
      ...components.lifted(),
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

const PARAMETERS: JsonObject = {
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    required: false,
    description:
      "A name for the request, up to 255 characters. A repetition under it is not executed again: it has the same answer.",
    schema: { type: "string", minLength: 1, maxLength: 255 },
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
