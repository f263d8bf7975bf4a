import { type IngestIssue, type IngestIssueCode, IngestRejectedError } from "../errors.ts";
import {
  ATTRIBUTE_KEY_MAX_CHARS,
  ATTRIBUTE_VALUE_MAX_BYTES,
  ATTRIBUTES_MAX_COUNT,
  BATCH_MAX_ENTRIES,
  EVENT_ID_MAX_CHARS,
  HOST_MAX_CHARS,
  ISSUES_MAX_COUNT,
  JSON_MAX_DEPTH,
  MESSAGE_MAX_CHARS,
  SERVICE_MAX_CHARS,
  SOURCE_MAX_CHARS,
} from "../limits.ts";
import { LEVEL_NUMBERS } from "../log-batch.ts";
import { ByteBuffer } from "../native/byte-buffer.ts";
import { Int64Column } from "../native/number-column.ts";
import { levelOfBytes } from "../record/levels.ts";
import { appendEpochTimestamp, appendIsoTimestamp, TIMESTAMP_RULE } from "../timestamp.ts";
import { JsonScanner } from "./json-scanner.ts";

const OPEN_BRACKET = 0x5b;
const LEVEL_RULE = `must be ${Object.keys(LEVEL_NUMBERS).join(", ")} or another word that loggers use for one of them, such as WARNING or crit`;
const encoder = new TextEncoder();

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Says what is wrong with a native body that the decoder did not take: throws IngestRejectedError with every problem
 * and its place, the first 100 of them. When nothing is wrong (the body is only unusual: a key given twice, a timestamp
 * in exponent form) it returns the same entries in plain form, as an array that the decoder takes.
 * `skip` leaves out the entries with these positions.
 */
export function explainNativeJson(body: Uint8Array, skip: ReadonlySet<number> = new Set()): Uint8Array {
  refuseBrokenJson(body);
  const text = new TextDecoder().decode(body);
  const issues = new IssueList();
  validateBody(JSON.parse(text), issues);
  if (issues.list.length > 0) throw new IngestRejectedError("the log entries are not valid", issues.list);
  // Numbers keep their digits: an integer beyond 2^53 must not change on the way.
  const exact: unknown = JSON.parse(text, (key, value, context) => {
    if (typeof value !== "number") return value;
    const source = context.source ?? String(value);
    return JSON.rawJSON(key === "ts" && !/^\d+$/.test(source) ? BigInt(value).toString() : source);
  });
  const entries: readonly unknown[] = Array.isArray(exact) ? exact : [exact];
  return encoder.encode(JSON.stringify(entries.filter((_, index) => !skip.has(index))));
}

/** Throws when the bytes are not one JSON text in UTF-8, or nest too deep to be read safely. */
function refuseBrokenJson(body: Uint8Array): void {
  const scanner = new JsonScanner();
  scanner.reset(body);
  const first = scanner.peek();
  if (first === -1) throw rejected("", "custom", "the body is empty");
  // A single entry nests one level less than an array of entries.
  const read = scanner.copyValue(
    new ByteBuffer(Math.min(body.length, 1 << 16)),
    first === OPEN_BRACKET ? 0 : 1,
  );
  if (read && scanner.peek() === -1) return;
  const before = body.subarray(0, scanner.at);
  const line = before.reduce((count, byte) => count + (byte === 0x0a ? 1 : 0), 1);
  const column = scanner.at - before.lastIndexOf(0x0a);
  const place = `at byte ${scanner.at} (line ${line}, column ${column})`;
  throw rejected(
    "",
    "custom",
    `not valid JSON in UTF-8 with at most ${JSON_MAX_DEPTH} levels: stopped ${place}`,
  );
}

function rejected(path: string, code: IngestIssueCode, message: string): IngestRejectedError {
  return new IngestRejectedError(message, [{ path, code, message }]);
}

class IssueList {
  readonly list: IngestIssue[] = [];

  add(path: string, code: IngestIssueCode, message: string): void {
    if (this.list.length < ISSUES_MAX_COUNT) this.list.push({ path, code, message });
  }

  get full(): boolean {
    return this.list.length === ISSUES_MAX_COUNT;
  }
}

function validateBody(body: unknown, issues: IssueList): void {
  if (!Array.isArray(body)) {
    validateEntry(body, "", issues);
    return;
  }
  if (body.length === 0) issues.add("", "too_small", "at least 1 entry is needed");
  if (body.length > BATCH_MAX_ENTRIES)
    issues.add("", "too_big", `at most ${BATCH_MAX_ENTRIES} entries in a request`);
  for (let i = 0; i < Math.min(body.length, BATCH_MAX_ENTRIES) && !issues.full; i++)
    validateEntry(body[i], `/${i}`, issues);
}

function validateEntry(entry: unknown, path: string, issues: IssueList): void {
  if (!isObject(entry)) {
    issues.add(path, "invalid_type", "an entry is an object");
    return;
  }
  if (!Object.hasOwn(entry, "message")) issues.add(`${path}/message`, "invalid_type", "message is required");
  for (const [name, value] of Object.entries(entry)) {
    const at = `${path}/${escapePointer(name)}`;
    switch (name) {
      case "message":
        validateText(value, 1, MESSAGE_MAX_CHARS, at, issues);
        break;
      case "service":
        validateText(value, 1, SERVICE_MAX_CHARS, at, issues);
        break;
      case "source":
        validateText(value, 0, SOURCE_MAX_CHARS, at, issues);
        break;
      case "host":
        validateText(value, 0, HOST_MAX_CHARS, at, issues);
        break;
      case "event_id":
        validateText(value, 1, EVENT_ID_MAX_CHARS, at, issues);
        break;
      case "level":
        if (typeof value !== "string") issues.add(at, "invalid_type", "must be a string");
        else if (!isLevel(value)) issues.add(at, "invalid_literal", LEVEL_RULE);
        break;
      case "ts":
        validateTimestamp(value, at, issues);
        break;
      case "attrs":
        validateAttributes(value, at, issues);
        break;
      default:
        issues.add(at, "unrecognized_keys", "unknown field");
    }
  }
}

function validateText(
  value: unknown,
  minChars: number,
  maxChars: number,
  path: string,
  issues: IssueList,
): void {
  if (typeof value !== "string") {
    issues.add(path, "invalid_type", "must be a string");
    return;
  }
  const chars = countChars(value);
  if (chars < minChars) issues.add(path, "too_small", `at least ${minChars} character is needed`);
  if (chars > maxChars) issues.add(path, "too_big", `at most ${maxChars} characters`);
}

function isLevel(value: string): boolean {
  const bytes = encoder.encode(value);
  return levelOfBytes(bytes, 0, bytes.length) !== null;
}

function validateTimestamp(value: unknown, path: string, issues: IssueList): void {
  const column = new Int64Column("DateTime64(9, 'UTC')");
  if (typeof value === "string") {
    const bytes = encoder.encode(value);
    if (!appendIsoTimestamp(column, bytes, 0, bytes.length))
      issues.add(path, "invalid_string", `must be ${TIMESTAMP_RULE}`);
  } else if (typeof value === "number") {
    const whole = Number.isInteger(value) && value > 0;
    const digits = encoder.encode(whole ? BigInt(value).toString() : "");
    if (!whole) issues.add(path, value > 0 ? "invalid_type" : "too_small", `must be ${TIMESTAMP_RULE}`);
    else if (!appendEpochTimestamp(column, digits, 0, digits.length))
      issues.add(path, "too_big", `must be ${TIMESTAMP_RULE}`);
  } else {
    issues.add(path, "invalid_type", `must be ${TIMESTAMP_RULE}`);
  }
}

function validateAttributes(value: unknown, path: string, issues: IssueList): void {
  if (!isObject(value)) {
    issues.add(path, "invalid_type", "must be an object");
    return;
  }
  const attributes = Object.entries(value);
  if (attributes.length > ATTRIBUTES_MAX_COUNT)
    issues.add(path, "too_big", `at most ${ATTRIBUTES_MAX_COUNT} attributes`);
  for (const [key, attribute] of attributes) {
    if (issues.full) return;
    const at = `${path}/${escapePointer(key.slice(0, ATTRIBUTE_KEY_MAX_CHARS))}`;
    if (countChars(key) > ATTRIBUTE_KEY_MAX_CHARS)
      issues.add(at, "too_big", `an attribute's name has at most ${ATTRIBUTE_KEY_MAX_CHARS} characters`);
    const text = typeof attribute === "string" ? attribute : JSON.stringify(attribute);
    if (encoder.encode(text).length > ATTRIBUTE_VALUE_MAX_BYTES)
      issues.add(at, "too_big", `an attribute's value has at most ${ATTRIBUTE_VALUE_MAX_BYTES} bytes`);
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Code points, with half a surrogate pair as one: what the decoder counts. */
function countChars(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** RFC 6901. */
function escapePointer(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}
