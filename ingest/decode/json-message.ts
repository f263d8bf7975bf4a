import { JSON_MAX_DEPTH } from "../limits.ts";
import { isJsonObject, type JsonObject, tryParseJson } from "./json-body.ts";

const SPACE = 0x20;
const BRACE = 0x7b;
const AT_SIGN = 0x40;

/** Senders that mean JSON say so with this cookie in front of it (the CEE and lumberjack convention). */
const JSON_COOKIE = /^\s*(?:@cee:\s*)?(?=\{)/;

/** Whether a message that begins with this character, or byte of UTF-8, may be one. */
export function mayHoldJson(first: number): boolean {
  return first <= SPACE || first === BRACE || first === AT_SIGN;
}

/** The JSON object that a message is; null when it is something else, or no whole object. */
export function jsonIn(message: string): JsonObject | null {
  const text = objectTextIn(message);
  if (text === null) return null;
  const parsed = tryParseJson(text, JSON_MAX_DEPTH);
  return parsed.ok && isJsonObject(parsed.value) && Object.keys(parsed.value).length > 0
    ? parsed.value
    : null;
}

/** The text of the object that a message may be, from its brace on; null when it is something else. */
export function objectTextIn(message: string): string | null {
  // Most messages are no objects, and are told by their first character.
  if (!mayHoldJson(message.charCodeAt(0))) return null;
  const cookie = JSON_COOKIE.exec(message);
  return cookie === null ? null : message.slice(cookie[0].length);
}
