import type { TObject } from "typebox";
import type { Route } from "../route.ts";
import type { Components, JsonObject } from "./components.ts";
import { mediaType, responsesOf } from "./responses.ts";

/** The operation object of a route when it is asked by HEAD: it answers what GET would, without a body. */
export function headOperationOf(route: Route, components: Components): JsonObject {
  const bodiless = Object.entries(route.responses).map(([status, { description }]) => [
    status,
    { description },
  ]);
  const operation = operationOf({ ...route, responses: Object.fromEntries(bodiless) }, components);
  return { ...operation, operationId: operationId({ method: "HEAD", path: route.path }) };
}

/** The operation object of a route. */
export function operationOf(route: Route, components: Components): JsonObject {
  const parameters = [
    ...parametersOf(route.params, "path", components),
    ...parametersOf(route.query, "query", components),
    ...(route.method === "GET" || route.access === "public" ? [] : [IDEMPOTENCY_KEY]),
  ];
  return {
    operationId: operationId(route),
    tags: [route.tag],
    summary: route.summary,
    ...(parameters.length > 0 && { parameters }),
    ...(route.body !== undefined && { requestBody: requestBody(route.body, components) }),
    responses: responsesOf(route, components),
    security: route.access === "public" ? [] : [{ token: [] }, { session: [] }],
    ...(typeof route.access === "object" && {
      "x-required-role": route.access.role,
      "x-required-scope": route.access.scope,
    }),
    ...(route.audit !== undefined && { "x-audit-action": route.audit }),
    "x-rate-limit-class": route.rateLimit,
  };
}

const IDEMPOTENCY_KEY: JsonObject = { $ref: "#/components/parameters/IdempotencyKey" };

/** A name for the operation in client code: the method and the path in camel case, without the version prefix. */
export function operationId(route: { readonly method: string; readonly path: string }): string {
  const words = route.path
    .replace(/^\/api\/v1/, "")
    .split("/")
    .flatMap((segment) =>
      segment.startsWith(":") ? ["by", ...segment.slice(1).split(".")] : segment.split(/[^a-zA-Z0-9]+/),
    )
    .filter((word) => word !== "");
  return (
    route.method.toLowerCase() + words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join("")
  );
}

function parametersOf(
  schema: TObject | undefined,
  place: "path" | "query",
  components: Components,
): JsonObject[] {
  if (schema === undefined) return [];
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties).map(([name, property]) => {
    const { description, ...rest }: JsonObject = { ...property };
    return {
      name,
      in: place,
      required: place === "path" || required.has(name),
      ...(typeof description === "string" && { description }),
      schema: components.schema(rest),
    };
  });
}

function requestBody(body: NonNullable<Route["body"]>, components: Components): JsonObject {
  if (body.kind === "json") {
    const content = { "application/json": mediaType("application/json", body.schema, components) };
    return { required: body.optional !== true, content };
  }
  const content = Object.fromEntries(
    body.contentTypes.map((type) => [type, mediaType(type, body.documented, components)]),
  );
  return { required: true, content };
}
