import { isJsonObject, type JsonObject, tryParseJson } from "../../decode/json-body.ts";
import { JSON_MAX_DEPTH } from "../../limits.ts";
import type { SourceFormat } from "../mapping.ts";
import { joinPath } from "./leaves.ts";

/** Records that are looked at: more of the same kind teach nothing, and the answer is waited for. */
const RECORDS_MAX_COUNT = 50;
/** Characters of a sample that is a text: what lies behind is not looked at. */
const TEXT_MAX_CHARS = 1024 * 1024;
/** Lines of text that are looked at: a stack is a record of many. */
const LINES_MAX_COUNT = 500;
/** The share of lines that must be objects where the others may be cut or broken ones. */
const OBJECTS_MIN_SHARE = 0.25;
/** Objects on the way to an array of records inside an envelope. */
const ENVELOPE_MAX_DEPTH = 2;
/** Members of one object that are searched for an array of records. */
const ENVELOPE_MAX_MEMBERS = 64;
/** What a line of CEF holds behind its prefix. */
const CEF_START = /(^|\s)CEF:\d/;
/** Arrays with these names hold records even beside members that look like a record's. */
const RECORD_ARRAYS =
  /^(records|items|events|logs|entries|alerts|logevents|messages|data|results|hits|value|rows)$/i;

export interface SampleRecords {
  readonly format: SourceFormat;
  /** Whether the sample could be a line among others. */
  readonly isOneLine: boolean;
  /** The path of the array in the sample that the records are taken from; null when they stand by themselves. */
  readonly recordsPath: string | null;
  readonly records: readonly JsonObject[];
  /** The lines of a sample in CEF or in text, which are no records yet. */
  readonly lines: readonly string[];
}

/** The first records of a sample: an object, an array, an envelope around an array, or a text of JSON, lines of it, CEF or anything else. */
export function sampleRecords(sample: unknown): SampleRecords {
  if (typeof sample === "string") return textRecords(sample.slice(0, TEXT_MAX_CHARS).trim());
  return { ...valueRecords(sample, "json"), isOneLine: true };
}

function textRecords(text: string): SampleRecords {
  const lines = firstLines(text);
  if (CEF_START.test(lines[0] ?? ""))
    return { ...none("cef"), lines: lines.filter((line) => CEF_START.test(line)) };
  const whole = tryParseJson(text, JSON_MAX_DEPTH);
  if (whole.ok) return { ...valueRecords(whole.value, "json"), isOneLine: lines.length === 1 };
  const objects = lines.flatMap((line) => {
    const parsed = tryParseJson(line, JSON_MAX_DEPTH);
    return parsed.ok && isJsonObject(parsed.value) ? [parsed.value] : [];
  });
  // A stack has more lines than the object in front of it, but few objects stand among lines that are none.
  if (objects.length < lines.length * OBJECTS_MIN_SHARE)
    return { ...none("text"), lines: text.split("\n", LINES_MAX_COUNT) };
  return valueRecords(objects, "ndjson");
}

/** The first lines that are not blank, found without splitting the rest. */
function firstLines(text: string): string[] {
  const lines: string[] = [];
  for (let at = 0; at < text.length && lines.length < RECORDS_MAX_COUNT; ) {
    const end = text.indexOf("\n", at);
    const line = text.slice(at, end < 0 ? text.length : end).trim();
    if (line !== "") lines.push(line);
    at = end < 0 ? text.length : end + 1;
  }
  return lines;
}

function valueRecords(value: unknown, format: SourceFormat): SampleRecords {
  if (Array.isArray(value)) {
    const elements: unknown[] = value.slice(0, RECORDS_MAX_COUNT);
    const texts = elements.filter((element) => typeof element === "string");
    if (texts.length > 0 && texts.length === elements.length) return textRecords(texts.join("\n"));
    const records = elements.filter(isRecord);
    const inner = format === "json" && records.length > 0 ? commonEnvelope(records) : null;
    return inner ?? { ...none(format), records };
  }
  if (!isRecord(value)) return none(format);
  return commonEnvelope([value]) ?? { ...none(format), records: [value] };
}

/** The records inside, when all the given ones are envelopes with an array at the same path. */
function commonEnvelope(outer: readonly JsonObject[]): SampleRecords | null {
  const [first] = outer;
  if (first === undefined) return null;
  const found = arrayOfRecords(first, [], ENVELOPE_MAX_DEPTH);
  if (found === null) return null;
  const records = outer.flatMap((record) => recordsAt(record, found).slice(0, RECORDS_MAX_COUNT));
  const recordsPath = joinPath(found);
  if (recordsPath === null || outer.some((record) => recordsAt(record, found).length === 0)) return null;
  return { ...none("json"), recordsPath, records: records.slice(0, RECORDS_MAX_COUNT) };
}

/** Where an array of records lies: one with a telling name, or the only thing of substance in the envelope. */
function arrayOfRecords(
  object: JsonObject,
  path: readonly string[],
  depth: number,
): readonly string[] | null {
  const members = Object.entries(object).slice(0, ENVELOPE_MAX_MEMBERS);
  for (const [key, value] of members) {
    if (!Array.isArray(value) || !isRecord(value[0])) continue;
    if (RECORD_ARRAYS.test(key) || (members.length === 1 && path.length === 0)) return [...path, key];
  }
  if (depth === 1) return null;
  for (const [key, value] of members) {
    const inner =
      isRecord(value) && RECORD_ARRAYS.test(key) ? arrayOfRecords(value, [...path, key], depth - 1) : null;
    if (inner !== null) return inner;
  }
  return null;
}

function recordsAt(object: JsonObject, path: readonly string[]): JsonObject[] {
  let value: unknown = object;
  for (const key of path) value = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** A record that a source would take: an object that does not nest too deep. */
function isRecord(value: unknown): value is JsonObject {
  return isJsonObject(value) && !nestsDeeper(value, JSON_MAX_DEPTH);
}

function nestsDeeper(value: unknown, maxDepth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (maxDepth === 0) return true;
  return Object.values(value).some((member) => nestsDeeper(member, maxDepth - 1));
}

function none(format: SourceFormat): SampleRecords {
  return { format, isOneLine: false, recordsPath: null, records: [], lines: [] };
}
