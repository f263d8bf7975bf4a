import { isJsonObject, type JsonObject, numberText } from "../../decode/json-body.ts";
import { parsePath } from "../path.ts";

/** Different paths that are looked at: a record with more of them is a document. */
const LEAVES_MAX_COUNT = 512;
/** Objects inside objects: fields of meaning for all records lie near the top. */
const DEPTH_MAX = 8;
/** Characters of a value that are looked at. */
const VALUE_MAX_CHARS = 512;

/** What stands at one path in the records of a sample. */
export interface Leaf {
  readonly path: string;
  readonly keys: readonly string[];
  /** The keys without case and punctuation, joined with dots: `@timestamp`, `TimeStamp`, `time_stamp` are one name. */
  readonly fullName: string;
  /** The texts of the values; numbers by their digits. Empty for arrays. */
  readonly texts: readonly string[];
  readonly isNumber: boolean;
  readonly isText: boolean;
  /** Records with a value here, among all that were looked at: 0 to 1. */
  readonly share: number;
}

interface Found {
  readonly keys: readonly string[];
  readonly texts: string[];
  count: number;
  numbers: number;
  strings: number;
}

/** The values of the records by their path, in the order in which they first occur. */
export function collectLeaves(records: readonly JsonObject[]): readonly Leaf[] {
  const found = new Map<string, Found>();
  for (const record of records) visit(record, [], found);
  return [...found].map(([path, { keys, texts, count, numbers, strings }]) => ({
    path,
    keys,
    fullName: keys.map(plainName).join("."),
    texts,
    isNumber: numbers > 0 && numbers === texts.length,
    isText: strings > 0 && strings === texts.length,
    share: count / records.length,
  }));
}

function plainName(key: string): string {
  return key.toLowerCase().replace(/[^a-z0-9.]/g, "");
}

/**
 * The path of a value by its keys; null when there is none that a mapping may have. Only the last key may hold plain
 * dots, because the whole rest of a path is tried as one key.
 */
export function joinPath(keys: readonly string[]): string | null {
  const last = keys.length - 1;
  const path = keys
    .map((key, i) => {
      const safe = key.replace(/[\\[]/g, "\\$&");
      return i === last && !/^\.|\.\.|\.$/.test(key) ? safe : safe.replaceAll(".", "\\.");
    })
    .join(".");
  return keys.includes("") || parsePath(path) === null ? null : path;
}

function visit(object: JsonObject, keys: readonly string[], found: Map<string, Found>): void {
  for (const [key, value] of Object.entries(object)) {
    // An empty text is no value of a field either.
    if (value === null || value === undefined || value === "") continue;
    const path = [...keys, key];
    if (isJsonObject(value)) {
      if (path.length < DEPTH_MAX) visit(value, path, found);
      continue;
    }
    countLeaf(path, value, found);
  }
}

function countLeaf(keys: readonly string[], value: unknown, found: Map<string, Found>): void {
  const path = joinPath(keys);
  if (path === null) return;
  const known = found.get(path);
  if (known === undefined && found.size >= LEAVES_MAX_COUNT) return;
  const leaf = known ?? { keys, texts: [], count: 0, numbers: 0, strings: 0 };
  found.set(path, leaf);
  leaf.count++;
  const digits = numberText(value);
  if (digits !== null) leaf.numbers++;
  if (typeof value === "string") leaf.strings++;
  if (digits !== null || typeof value === "string" || typeof value === "boolean")
    leaf.texts.push((digits ?? String(value)).slice(0, VALUE_MAX_CHARS));
}
