import { type FieldIssue, validationFailed } from "../errors.ts";
import { pointerTo } from "../http/json-pointer.ts";
import type { JsonObject } from "../http/openapi/components.ts";
import type { ToolOperation } from "./tool-definition.ts";

/** What is sent for a call of a tool. */
export interface ToolRequest {
  readonly method: string;
  /** The path with its query. */
  readonly target: string;
  /** JSON; null where the operation takes no body. */
  readonly body: string | null;
}

/**
 * Puts the arguments of a call where its operation takes them. Whether they are right is the server's to say, so what the
 * operation does not know goes along and is refused there; a null in the path or the query counts as absent, which is how many
 * models leave something out. Throws VALIDATION_FAILED for what no path or query can say.
 */
export function toolRequest(operation: ToolOperation, given: JsonObject): ToolRequest {
  const { pathNames, queryNames, hasBody } = operation;
  const issues: FieldIssue[] = [];
  const query: string[] = [];
  const body: Record<string, unknown> = {};
  const inPath = new Map<string, string>();
  for (const [name, value] of Object.entries(given)) {
    if (pathNames.includes(name)) inPath.set(name, textOf(name, value, issues));
    else if (hasBody && !queryNames.includes(name)) body[name] = value;
    else if (value !== null && value !== undefined)
      for (const item of Array.isArray(value) ? value : [value])
        query.push(`${encode(name)}=${encode(textOf(name, item, issues))}`);
  }
  for (const name of pathNames) {
    const text = inPath.get(name) ?? "";
    if (text === "") issues.push({ path: pointerTo(name), code: "invalid_type", message: "is required" });
    // However they are written, a URL takes them for steps to another path.
    if (text === "." || text === "..")
      issues.push({ path: pointerTo(name), code: "invalid_string", message: "names nothing" });
  }
  if (issues.length > 0) throw validationFailed(issues);
  const path = operation.path.replace(/:([a-zA-Z0-9]+)/g, (_, name: string) =>
    encode(inPath.get(name) ?? ""),
  );
  return {
    method: operation.method,
    target: query.length === 0 ? path : `${path}?${query.join("&")}`,
    body: hasBody ? JSON.stringify(body) : null,
  };
}

function textOf(name: string, value: unknown, issues: FieldIssue[]): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  issues.push({
    path: pointerTo(name),
    code: "invalid_type",
    message: "must be a text, a number or a boolean",
  });
  return "";
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
