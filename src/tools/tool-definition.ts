import type { TSchema } from "typebox";
import { operationId } from "../http/openapi/operation.ts";
import type { Route } from "../http/route.ts";
import { CORE_TOOLS } from "./core-set.ts";

type JsonObject = { readonly [name: string]: unknown };

/** An operation of the API as a tool: what it is called, when it is the right one, and one object of arguments. */
export interface ToolDefinition {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** JSON Schema 2020-12 without references. */
  readonly inputSchema: JsonObject;
  readonly isReadOnly: boolean;
  readonly isCore: boolean;
}

/** What no tool is made of: senders' own protocols, sessions of people, and streams. */
const NO_TOOLS: ReadonlySet<string> = new Set([
  "Authentication",
  "Heartbeats",
  "Probes",
  "Log receivers",
  "Operations",
]);
const NO_PATHS = /\/(?:tail|export|tail\/session|me\/oauth|public)(?:\/|$)|\.(?:csv|zip|svg|xml)$/;

/** The tools of a table of routes: a route with a summary and a body of JSON or none, that is somebody's own. */
export function toolsOf(routes: readonly Route[]): ToolDefinition[] {
  return routes.filter(isTool).map((route) => {
    const name = operationId(route);
    const useWhen = CORE_TOOLS[name];
    return {
      name,
      title: route.summary,
      description: `${route.summary}.${useWhen === undefined ? "" : ` ${useWhen}`}`,
      inputSchema: inputSchemaOf(route),
      isReadOnly: route.effect === "read",
      isCore: useWhen !== undefined,
    };
  });
}

function isTool({ path, tag, access, body }: Route): boolean {
  return (
    path.startsWith("/api/v1/") &&
    access !== "public" &&
    !NO_TOOLS.has(tag) &&
    !NO_PATHS.test(path) &&
    (body === undefined || body.kind === "json")
  );
}

/** Parameters of the path and of the query and members of the body side by side; the path goes before the others. */
function inputSchemaOf({ params, query, body }: Route): JsonObject {
  const bodySchema = body?.kind === "json" ? body.schema : undefined;
  const parts = [params, query, bodySchema].filter((part) => part !== undefined);
  const properties: Record<string, unknown> = {};
  const required: string[] = [];
  for (const part of parts) {
    const { properties: own, required: needed } = plain(part);
    for (const [name, schema] of Object.entries(isObject(own) ? own : {})) properties[name] ??= schema;
    const isOptional = part === bodySchema && body?.kind === "json" && body.optional === true;
    if (Array.isArray(needed) && !isOptional)
      for (const name of needed) if (!required.includes(String(name))) required.push(String(name));
  }
  return { type: "object", properties, required, additionalProperties: false };
}

/** The schema as JSON, without the names under which the document of the API knows its parts. */
function plain(schema: TSchema): JsonObject {
  const copy: unknown = JSON.parse(JSON.stringify(schema), (key: string, value: unknown) =>
    key === "$id" && typeof value === "string" ? undefined : value,
  );
  return isObject(copy) ? copy : {};
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
