import type { TObject } from "typebox";
import { ERROR_CODES, type ErrorCode } from "../../errors.ts";
import type { ResponseSpec, Route } from "../route.ts";

export type JsonObject = { readonly [name: string]: unknown };

/** Headers of every response; see the components of the document. */
const COMMON_HEADERS: JsonObject = {
  "X-Request-Id": { $ref: "#/components/headers/RequestId" },
  "X-RateLimit-Limit": { $ref: "#/components/headers/RateLimit" },
  "X-RateLimit-Remaining": { $ref: "#/components/headers/RateLimitRemaining" },
  "X-RateLimit-Reset": { $ref: "#/components/headers/RateLimitReset" },
};
const RETRY_HEADERS: JsonObject = {
  ...COMMON_HEADERS,
  "Retry-After": { $ref: "#/components/headers/RetryAfter" },
};

/** The operation object of a route. */
export function operationOf(route: Route): JsonObject {
  const parameters = [...parametersOf(route.params, "path"), ...parametersOf(route.query, "query")];
  return {
    operationId: operationId(route),
    tags: [route.tag],
    summary: route.summary,
    ...(parameters.length > 0 && { parameters }),
    ...(route.body !== undefined && { requestBody: requestBody(route.body) }),
    responses: { ...errorResponses(errorCodesOf(route)), ...successResponses(route.responses) },
    security: route.access === "public" ? [] : [{ token: [] }, { session: [] }],
    ...(typeof route.access === "object" && {
      "x-required-role": route.access.role,
      "x-required-scope": route.access.scope,
    }),
    ...(route.audit !== undefined && { "x-audit-action": route.audit }),
    "x-rate-limit-class": route.rateLimit,
  };
}

/** A name for the operation in client code: the method and the path in camel case, without the version prefix. */
function operationId(route: Pick<Route, "method" | "path">): string {
  const words = route.path
    .replace(/^\/api\/v1/, "")
    .split("/")
    .flatMap((segment) =>
      segment.startsWith(":") ? ["by", segment.slice(1)] : segment.split(/[^a-zA-Z0-9]+/),
    )
    .filter((word) => word !== "");
  return (
    route.method.toLowerCase() + words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join("")
  );
}

/** Every code a route can answer with: its own, and those its declaration implies. */
function errorCodesOf(route: Route): ErrorCode[] {
  const codes = new Set<ErrorCode>([
    "VALIDATION_FAILED",
    "RATE_LIMITED",
    "INTERNAL",
    "UNAVAILABLE",
    ...route.errors,
  ]);
  if (route.access !== "public") codes.add("UNAUTHENTICATED");
  if (typeof route.access === "object") codes.add("PAT_SCOPE_INSUFFICIENT").add("FORBIDDEN");
  if (route.method !== "GET") codes.add("FORBIDDEN");
  if (route.params !== undefined) codes.add("NOT_FOUND");
  if (route.body !== undefined)
    codes.add("PAYLOAD_TOO_LARGE").add("UNSUPPORTED_MEDIA_TYPE").add("REQUEST_TIMEOUT");
  return [...codes];
}

function parametersOf(schema: TObject | undefined, place: "path" | "query"): JsonObject[] {
  if (schema === undefined) return [];
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties).map(([name, property]) => {
    const description = "description" in property ? property.description : undefined;
    return {
      name,
      in: place,
      required: place === "path" || required.has(name),
      ...(typeof description === "string" && { description }),
      schema: property,
    };
  });
}

function requestBody(body: NonNullable<Route["body"]>): JsonObject {
  if (body.kind === "json") {
    return { required: body.optional !== true, content: { "application/json": { schema: body.schema } } };
  }
  const content = Object.fromEntries(body.contentTypes.map((type) => [type, { schema: body.documented }]));
  return { required: true, content };
}

function successResponses(responses: Readonly<Record<number, ResponseSpec>>): Record<string, JsonObject> {
  return Object.fromEntries(
    Object.entries(responses).map(([status, { description, schema, contentType }]) => [
      status,
      {
        description,
        headers: COMMON_HEADERS,
        ...(schema !== undefined && { content: { [contentType ?? "application/json"]: { schema } } }),
      },
    ]),
  );
}

function errorResponses(codes: readonly ErrorCode[]): Record<string, JsonObject> {
  const byStatus = Map.groupBy(codes, (code) => ERROR_CODES[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [String(status), errorResponse(status, group)]),
  );
}

function errorResponse(status: number, codes: readonly ErrorCode[]): JsonObject {
  const schema = {
    allOf: [
      { $ref: "#/components/schemas/Error" },
      { type: "object", properties: { code: { enum: codes } } },
    ],
  };
  return {
    description: codes.map((code) => `\`${code}\`: ${ERROR_CODES[code].summary}`).join("\n\n"),
    headers: status === 429 || status === 503 ? RETRY_HEADERS : COMMON_HEADERS,
    content: { "application/json": { schema } },
  };
}
