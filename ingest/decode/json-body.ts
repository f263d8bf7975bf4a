import { IngestRejectedError } from "../errors.ts";
import { JSON_MAX_DEPTH } from "../limits.ts";
import { findShapeFault, tooDeep } from "./json-shape.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** Only numbers of this many digits, a point among them or not, can lose some when they are parsed; texts do not matter. */
const LONG_NUMBER = /(?:^|[:,[\s])-?\d[\d.]{15}/;

/** A text that can do no harm while it is parsed. */
const SHORT_MAX_CHARS = 64 * 1024;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * The value of a JSON body in UTF-8 that nests at most `maxDepth` levels. Integers beyond 2^53 and longer fractions keep
 * their digits: they are raw numbers, see `numberText`. Throws IngestRejectedError.
 */
export function parseJson(body: Uint8Array | string, maxDepth: number): unknown {
  const parsed = tryParseJson(typeof body === "string" ? body : decodeUtf8(body), maxDepth);
  if (parsed.ok) return parsed.value;
  throw rejected(parsed.reason);
}

/** The object that a text is which was made of one. */
export function parseJsonObject(text: string): JsonObject {
  const value = parseJson(text, JSON_MAX_DEPTH);
  if (isJsonObject(value)) return value;
  throw new TypeError("the text is no JSON object");
}

/** The text of a body; throws IngestRejectedError when it is not UTF-8. A byte order mark is no part of it. */
export function decodeUtf8(body: Uint8Array): string {
  try {
    return utf8.decode(body);
  } catch {
    throw rejected("the body is not UTF-8");
  }
}

type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: string };

/** The value of one JSON text, as `parseJson` makes it, or why there is none. */
export function tryParseJson(text: string, maxDepth: number): ParsedJson {
  const isShort = text.length <= SHORT_MAX_CHARS;
  const fault = isShort ? null : findShapeFault(text, maxDepth);
  if (fault !== null) return { ok: false, reason: fault };
  try {
    const value: unknown = JSON.parse(text);
    // Of a record it is quicker to look at the value than at every character.
    if (isShort && isDeeperThan(value, maxDepth)) return { ok: false, reason: tooDeep(maxDepth) };
    return { ok: true, value: LONG_NUMBER.test(text) ? JSON.parse(text, keepDigits) : value };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { ok: false, reason: text.trim() === "" ? "is empty" : "is not valid JSON" };
  }
}

/** An object with members; arrays, null and raw numbers are none. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isRawNumber(value);
}

/** A number that kept its digits. */
export function isRawNumber(value: object): boolean {
  return JSON.isRawJSON(value);
}

/** How a number was written, raw numbers included; null for anything else. */
export function numberText(value: unknown): string | null {
  if (typeof value === "number") return String(value);
  return typeof value === "object" && value !== null && isRawNumber(value) ? JSON.stringify(value) : null;
}

/** Whether arrays and objects in a value nest more than `maxDepth` levels. */
export function isDeeperThan(value: unknown, maxDepth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (maxDepth === 0) return true;
  for (const member of Object.values(value))
    if (typeof member === "object" && isDeeperThan(member, maxDepth - 1)) return true;
  return false;
}

function keepDigits(_key: string, value: unknown, context: { source?: string }): unknown {
  if (typeof value !== "number" || context.source === undefined) return value;
  return String(value) === context.source || !LONG_NUMBER.test(context.source)
    ? value
    : JSON.rawJSON(context.source);
}

function rejected(message: string): IngestRejectedError {
  return new IngestRejectedError(message, [{ path: "", code: "custom", message }]);
}
