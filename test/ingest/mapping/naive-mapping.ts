import { isJsonObject, type JsonObject } from "../../../ingest/decode/json-body.ts";
import { HOST_MAX_CHARS, SERVICE_MAX_CHARS } from "../../../ingest/limits.ts";
import type { FieldMapping, Mapping } from "../../../ingest/mapping/mapping.ts";
import type { MappedEntry } from "../../../ingest/mapping/preview.ts";
import { levelOfText } from "../../../ingest/record/levels.ts";

/** A value, and the keys that lead to it; null when it stands in an array. */
interface Found {
  readonly value: unknown;
  readonly keys: readonly string[] | null;
}

/**
 * What a mapping says about a record, read word for word: the meaning that the compiled function is compared with. For
 * records without well-known keys and paths without escapes; times that are not absent cannot be read.
 */
export function naiveEntry(mapping: Mapping, record: JsonObject): MappedEntry | string {
  const used: string[] = [];
  const use = (found: Found): void => {
    if (found.keys !== null) used.push(JSON.stringify(found.keys));
  };
  if (mapping.timestamp !== undefined) {
    const { from, fromDefault, parse = "auto" } = mapping.timestamp;
    const found = firstOf(record, [from, fromDefault], isText);
    if (found !== null) {
      const paths = [from, fromDefault].filter((path) => path !== undefined).map((path) => `\`${path}\``);
      return `what stands at ${paths.join(" or ")} cannot be read as a time (${parse})`;
    }
  }
  const fields = Object.entries(mapping.fields ?? {});
  const texts: Record<string, string | null> = { message: null, level: null, service: null, host: null };
  const attributes = new Map<string, unknown>();
  for (const [name, field] of fields) {
    const isEntryField = Object.hasOwn(texts, name);
    const { value, found } = fieldValue(field, record, isEntryField ? isText : isValue);
    if (value === undefined) {
      if (name === "message")
        return `there is no message at ${[field.from, field.fromDefault]
          .filter((path) => path !== undefined)
          .map((path) => `\`${path}\``)
          .join(" or ")}`;
      continue;
    }
    if (name === "level") {
      const level = levelOfText(typeof value === "object" ? "" : String(value));
      texts.level = level ?? levelOfText(String(field.default ?? ""));
      if (level !== null && found !== null) use(found);
      continue;
    }
    if (found !== null) use(found);
    if (isEntryField) texts[name] = typeof value === "string" ? value : JSON.stringify(value);
    else flatten(name, value, attributes);
  }
  const rest = without(record, [], new Set(used));
  if (mapping.keepUnmapped !== false)
    for (const [key, value] of Object.entries(rest)) flatten(key, value, attributes);
  const service = texts.service?.slice(0, SERVICE_MAX_CHARS) ?? null;
  const host = texts.host?.slice(0, HOST_MAX_CHARS) ?? null;
  if (service !== (texts.service ?? null) || host !== (texts.host ?? null))
    attributes.set("_truncated", true);
  return {
    ts: null,
    message: texts.message ?? JSON.stringify(mapping.keepUnmapped === false ? record : rest),
    level: texts.level ?? null,
    service,
    source: null,
    host,
    traceId: null,
    spanId: null,
    event_id: null,
    attrs: Object.fromEntries(attributes),
  };
}

function fieldValue(
  field: FieldMapping,
  record: JsonObject,
  isThere: (value: unknown) => boolean,
): { value: unknown; found: Found | null } {
  if (field.const !== undefined) return { value: field.const, found: null };
  const found = firstOf(record, [field.from, field.fromDefault], isThere);
  if (found === null) return { value: field.default, found: null };
  const { value } = found;
  if (typeof value === "object") return { value, found };
  const text = field.lowercase === true ? String(value).toLowerCase() : String(value);
  for (const [from, to] of Object.entries(field.map ?? {}).toReversed())
    if ((field.lowercase === true ? from.toLowerCase() : from) === text) return { value: to, found };
  return { value: typeof value === "string" ? text : value, found };
}

function firstOf(
  record: JsonObject,
  paths: readonly (string | undefined)[],
  isThere: (value: unknown) => boolean,
): Found | null {
  for (const path of paths) {
    const found = path === undefined ? null : lookUp(record, path.split("."), []);
    if (found !== null && isThere(found.value)) return found;
  }
  return null;
}

function lookUp(value: unknown, segments: readonly string[], keys: readonly string[] | null): Found | null {
  const [first, ...others] = segments;
  if (first === undefined) return { value, keys };
  if (Array.isArray(value))
    return /^\d+$/.test(first) && Number(first) < value.length
      ? lookUp(value[Number(first)], others, others.length === 0 ? null : keys && [...keys, first])
      : null;
  if (!isJsonObject(value)) return null;
  const whole = segments.join(".");
  if (Object.hasOwn(value, whole)) return { value: value[whole], keys: keys && [...keys, whole] };
  return Object.hasOwn(value, first) ? lookUp(value[first], others, keys && [...keys, first]) : null;
}

/** What is left of an object; inside arrays nothing is taken away. */
function without(object: JsonObject, at: readonly string[], used: ReadonlySet<string>): JsonObject {
  const members = Object.entries(object).flatMap(([key, value]): [string, unknown][] => {
    const keys = [...at, key];
    if (used.has(JSON.stringify(keys))) return [];
    if (!isJsonObject(value)) return [[key, value]];
    const rest = without(value, keys, used);
    return Object.keys(rest).length === 0 && Object.keys(value).length > 0 ? [] : [[key, rest]];
  });
  return Object.fromEntries(members);
}

function flatten(key: string, value: unknown, into: Map<string, unknown>): void {
  if (isJsonObject(value) && Object.keys(value).length > 0)
    for (const [inner, innerValue] of Object.entries(value)) flatten(`${key}.${inner}`, innerValue, into);
  else if (!into.has(key)) into.set(key, value);
}

function isValue(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isText(value: unknown): boolean {
  return isValue(value) && value !== "";
}
