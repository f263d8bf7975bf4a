import { JSON_MAX_DEPTH } from "../limits.ts";
import { isJsonObject, type JsonObject, tryParseJson } from "./json-body.ts";

/** Hears what a text holds, piece by piece; lines count from 1. */
interface SequenceVisitor {
  object(value: JsonObject, line: number): void;
  /** A line that does not begin like an object, without its line break. */
  text(text: string, line: number): void;
  /** A piece that begins like an object, or follows one on its line, and is none. */
  broken(raw: string, reason: string, line: number): void;
}

/**
 * Characters that failed attempts may look at, for each one of the text, before an attempt looks no further than to the
 * next line that may begin something new: a text of unclosed brackets would otherwise be read to its end from each of them.
 */
const WASTED_PASSES = 4;

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Where something new begins at the earliest: neither indented nor the end of what was opened before. */
const NEXT_START = /\n(?![\s}\],])/g;
/** `{"` and `{}`, perhaps with blanks between; `{error} disk full` is a line of text. */
const OBJECT_START = /\{\s*["}]/y;

/**
 * Reads JSON objects that follow one another on lines of their own, over several lines, or on one line with or without a
 * comma, and lines of text among them. Every character that is no white space is given to the visitor exactly once.
 */
export function readJsonSequence(text: string, visitor: SequenceVisitor): void {
  let at = 0;
  let line = 1;
  let lineStart = 0;
  /** Kept, so that a line of many objects is not searched for its end again for each of them. */
  let endOfLine = lineEnd(text, 0);
  /** Whether an object ended on the present line. */
  let isBehindObject = false;
  let wasted = 0;
  let knownStart = -1;

  /** Where something new begins behind `at` at the earliest; kept for the same reason. */
  const nextStart = (): number => {
    if (knownStart <= at) knownStart = findNextStart(text, at);
    return knownStart;
  };
  const advance = (end: number): void => {
    while (endOfLine < end) {
      line++;
      lineStart = endOfLine + 1;
      endOfLine = lineEnd(text, lineStart);
      isBehindObject = false;
    }
    at = end;
  };

  for (;;) {
    advance(endOfBlanks(text, at));
    if (isBehindObject && text.charCodeAt(at) === COMMA) advance(endOfBlanks(text, at + 1));
    if (at === text.length) return;
    const startLine = line;
    if (!beginsObject(text, at)) {
      if (isBehindObject)
        visitor.broken(text.slice(at, endOfLine).trimEnd(), "follows a JSON object and is none", startLine);
      else visitor.text(text.slice(lineStart, endOfLine).trimEnd(), startLine);
      advance(endOfLine);
      continue;
    }
    const reach = wasted > WASTED_PASSES * text.length ? nextStart() : text.length;
    const read = readObject(text, at, isBehindObject ? null : endOfLine, reach);
    if (read.value !== null) {
      visitor.object(read.value, startLine);
      advance(read.end);
    } else {
      wasted += read.end - at;
      const end = Math.min(nextStart(), read.isClosed ? read.end : text.length);
      visitor.broken(text.slice(at, end).trimEnd(), read.reason, startLine);
      advance(end);
    }
    isBehindObject = at > lineStart;
  }
}

type ReadObject =
  | { readonly value: JsonObject; readonly end: number }
  | { readonly value: null; readonly end: number; readonly isClosed: boolean; readonly reason: string };

/** `endOfLine` where the object may be all there is on its line, else null. */
function readObject(text: string, at: number, endOfLine: number | null, reach: number): ReadObject {
  // An object on a line of its own, which is nearly always so, is found without looking at every character.
  if (endOfLine !== null && endOfLine <= reach) {
    const end = text.charCodeAt(endOfLine - 1) === CARRIAGE_RETURN ? endOfLine - 1 : endOfLine;
    if (text.charCodeAt(end - 1) === CLOSE_BRACE) {
      const parsed = tryParseJson(text.slice(at, end), JSON_MAX_DEPTH);
      if (parsed.ok && isJsonObject(parsed.value)) return { value: parsed.value, end };
    }
  }
  const { end, isClosed } = closingBrace(text, at, reach);
  if (!isClosed) return { value: null, end, isClosed, reason: "is a JSON object without an end" };
  const parsed = tryParseJson(text.slice(at, end), JSON_MAX_DEPTH);
  if (parsed.ok && isJsonObject(parsed.value)) return { value: parsed.value, end };
  return { value: null, end, isClosed, reason: parsed.ok ? "is no JSON object" : parsed.reason };
}

/** The end of the object at `at`, or where looking for it ended: at `reach`, or at a line break inside a string. */
function closingBrace(text: string, at: number, reach: number): { end: number; isClosed: boolean } {
  let depth = 0;
  for (let i = at; i < reach; i++) {
    const char = text.charCodeAt(i);
    if (char === QUOTE) {
      i++;
      for (; i < reach && text.charCodeAt(i) !== QUOTE; i++) {
        const inside = text.charCodeAt(i);
        if (inside === BACKSLASH) i++;
        else if (inside === NEWLINE) return { end: i, isClosed: false };
      }
    } else if (char === OPEN_BRACE) depth++;
    else if (char === CLOSE_BRACE && --depth === 0) return { end: i + 1, isClosed: true };
  }
  return { end: reach, isClosed: false };
}

function beginsObject(text: string, at: number): boolean {
  OBJECT_START.lastIndex = at;
  return text.charCodeAt(at) === OPEN_BRACE && OBJECT_START.test(text);
}

/** Behind the white space and the record separators (RFC 7464) at `at`. */
function endOfBlanks(text: string, at: number): number {
  let end = at;
  for (; end < text.length; end++) {
    const char = text.charCodeAt(end);
    if (char !== 0x20 && char !== NEWLINE && char !== 0x0d && char !== 0x09 && char !== 0x1e) return end;
  }
  return end;
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end;
}

function findNextStart(text: string, at: number): number {
  NEXT_START.lastIndex = at;
  const found = NEXT_START.exec(text);
  return found === null ? text.length : found.index + 1;
}
