import { isRecord } from "../../api/json.ts";

const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
/** What of a message is named in a header besides its method, so that proxies see it (revision 2026-07-28). */
const NAMED_BY: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
};

/**
 * What the streamable HTTP transport says of a message in headers: since revision 2026-07-28 every message states its revision
 * itself, before that it is the one that was agreed on, null until then.
 */
export function messageHeaders(
  message: Readonly<Record<string, unknown>>,
  agreedVersion: string | null,
): Record<string, string> {
  const params = isRecord(message.params) ? message.params : {};
  const stated = isRecord(params._meta) ? params._meta[VERSION_KEY] : undefined;
  const { method } = message;
  if (typeof stated !== "string" || typeof method !== "string")
    return agreedVersion === null ? {} : { "mcp-protocol-version": agreedVersion };
  const name = params[NAMED_BY[method] ?? ""];
  return {
    "mcp-protocol-version": stated,
    "mcp-method": method,
    ...(typeof name === "string" && { "mcp-name": headerValue(name) }),
  };
}

/** A text as a header may hold it: what is not plain goes as base64, in the form that the protocol names for it. */
function headerValue(text: string): string {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/.test(text) && !text.startsWith("=?base64?");
  return isPlain ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`;
}
