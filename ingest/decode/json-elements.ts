import { JSON_MAX_DEPTH } from "../limits.ts";
import { isDeeperThan, isJsonObject, type JsonObject, parseJson, tryParseJson } from "./json-body.ts";
import { readJsonSequence } from "./json-sequence.ts";

/** Hears what a text holds, each with its place: a JSON pointer in an array, else its line. */
interface ElementVisitor {
  object(value: JsonObject, place: string): void;
  /** A line of text. */
  text(line: string, place: string): void;
  broken(raw: string, reason: string, place: string): void;
}

/** An array that nests deeper is not read at all; far above what one of its elements may. */
const ARRAY_MAX_DEPTH = 1000;

/**
 * Reads the objects of a body: a JSON array, or objects that follow one another, with lines of text among them. Throws
 * IngestRejectedError for a text that begins like an array and is none.
 */
export function readBodyElements(text: string, visitor: ElementVisitor): void {
  const array = beginsArray(text) ? parseJson(text, ARRAY_MAX_DEPTH) : null;
  if (Array.isArray(array)) readElements(array, visitor);
  else readSequence(text, visitor);
}

/** The same for a text that may be anything: what begins like an array and holds no object is read by lines. */
export function readTextElements(text: string, visitor: ElementVisitor): void {
  const parsed = beginsArray(text) ? tryParseJson(text, ARRAY_MAX_DEPTH) : null;
  if (parsed?.ok === true && Array.isArray(parsed.value) && parsed.value.some(isJsonObject))
    readElements(parsed.value, visitor);
  else readSequence(text, visitor);
}

function beginsArray(text: string): boolean {
  return /^\s*\[/.test(text);
}

function readSequence(text: string, visitor: ElementVisitor): void {
  readJsonSequence(text, {
    object: (value, line) => visitor.object(value, `line ${line}`),
    text: (line, number) => visitor.text(line, `line ${number}`),
    broken: (raw, reason, line) => visitor.broken(raw, reason, `line ${line}`),
  });
}

function readElements(array: readonly unknown[], visitor: ElementVisitor): void {
  for (const [index, element] of array.entries()) {
    const place = `/${index}`;
    if (!isJsonObject(element)) visitor.broken(JSON.stringify(element), "is no JSON object", place);
    else if (isDeeperThan(element, JSON_MAX_DEPTH))
      visitor.broken(JSON.stringify(element), `nests deeper than ${JSON_MAX_DEPTH} levels`, place);
    else visitor.object(element, place);
  }
}
