import { isJsonObject } from "../../http/openapi/components.ts";
import { FOREIGN_TEXT_NOTICE } from "../../tools/call-tool.ts";
import { fitAnswer } from "../../tools/fit-answer.ts";
import { TOOL_ANSWER_MAX_BYTES } from "../../tools/limits.ts";
import { readAtMost } from "../../tools/read-at-most.ts";
import type { McpCaller } from "./caller.ts";
import { RESOURCE_MAX_BYTES } from "./limits.ts";

/** What a model may read beside calling tools. */
export const RESOURCES = [
  {
    uri: "obs://kql",
    name: "kql",
    title: "The query language",
    description:
      "KQL as this server understands it: tables, operators, functions. Read it before you write a query.",
    mimeType: "text/markdown",
  },
  {
    uri: "obs://fields",
    name: "fields",
    title: "The fields of log entries",
    description: "Which attributes the entries of the last day have, and of which types.",
    mimeType: "application/json",
  },
  {
    uri: "obs://openapi",
    name: "openapi",
    title: "The whole API",
    description: "The OpenAPI document, a megabyte; find_operation finds single operations.",
    mimeType: "application/json",
  },
] as const;

export const RESOURCE_TEMPLATES = [
  {
    uriTemplate: "obs://incident/{id}",
    name: "incident",
    title: "An incident",
    description: "An incident with its timeline and what changed when it began.",
    mimeType: "application/json",
  },
] as const;

const INCIDENT = /^obs:\/\/incident\/(\d{1,18})$/;

/** What reading a resource came to: its text, or what the server said to the caller who may not. */
type ReadResource =
  | { readonly kind: "text"; readonly mimeType: string; readonly text: string }
  | { readonly kind: "refused"; readonly code: string; readonly message: string }
  | { readonly kind: "unknown" };

/** Reads a resource with the token of its reader. `kqlReference` renders `obs://kql`. */
export async function readResource(
  uri: string,
  caller: McpCaller,
  kqlReference: () => string,
): Promise<ReadResource> {
  const [, incident] = INCIDENT.exec(uri) ?? [];
  if (incident !== undefined) return readIncident(incident, caller);
  switch (uri) {
    case "obs://kql":
      return { kind: "text", mimeType: "text/markdown", text: kqlReference() };
    case "obs://fields":
      return fitted(await read("/api/v1/logs/fields", caller));
    case "obs://openapi":
      return read("/openapi.json", caller);
    default:
      return { kind: "unknown" };
  }
}

async function readIncident(id: string, caller: McpCaller): Promise<ReadResource> {
  const incident = await read(`/api/v1/incidents/${id}`, caller);
  if (incident.kind !== "text") return incident;
  const analysis = await read(`/api/v1/incidents/${id}/analysis`, caller);
  // Who may read an incident may not always read logs, and what changed is an addition.
  const whole = {
    incident: JSON.parse(incident.text),
    analysis: analysis.kind === "text" ? JSON.parse(analysis.text) : null,
  };
  return fitted({ ...incident, text: JSON.stringify(whole) });
}

async function read(target: string, { send }: McpCaller): Promise<ReadResource> {
  const response = await send({ method: "GET", target, body: null });
  const text = await readAtMost(response, RESOURCE_MAX_BYTES);
  if (text === null) return { kind: "refused", code: "QUERY_TOO_EXPENSIVE", message: "It is too large." };
  if (response.ok) return { kind: "text", mimeType: "application/json", text };
  const refusal: unknown = JSON.parse(text);
  const { code, error } = isJsonObject(refusal) ? refusal : {};
  return { kind: "refused", code: String(code), message: String(error) };
}

/** With a word in front that says that what follows was written by others. */
function fitted(answer: ReadResource): ReadResource {
  if (answer.kind !== "text") return answer;
  const { value, isCut } = fitAnswer(JSON.parse(answer.text), TOOL_ANSWER_MAX_BYTES);
  return {
    ...answer,
    text: JSON.stringify({ notice: FOREIGN_TEXT_NOTICE, truncated: isCut, result: value }),
  };
}
