import { Lexer, LineCounter, parseDocument } from "yaml";
import {
  ALIAS_MAX_COUNT,
  DOCUMENT_MAX_CHARS,
  DOCUMENT_MAX_TOKENS,
  HINT_MAX_CHARS,
  PROBLEMS_MAX_COUNT,
  VALUE_MAX_DEPTH,
} from "./limits.ts";
import { type Place, pointerOf, type SigmaProblem } from "./problem.ts";
import { isMap, type SigmaMap } from "./values.ts";

/** A document of a text, not yet read. */
interface DocumentText {
  /** Line of its first character in the whole text, from 1. */
  readonly line: number;
  readonly text: string;
}

/** A document as its values, and where they stand. */
export type SigmaDocument =
  | {
      readonly line: number;
      readonly map: SigmaMap;
      readonly problemAt: (place: Place, message: string) => SigmaProblem;
    }
  | { readonly line: number; readonly map: null; readonly problems: readonly SigmaProblem[] };

/**
 * The documents of a text, by the lines that part them: such a line ends a document wherever it stands (YAML 1.2.2, 9.1.2),
 * so that what is wrong in one is never read into the next. What is blank is none. Ends behind one more than `most`.
 */
export function splitDocuments(text: string, most: number): DocumentText[] {
  const found: DocumentText[] = [];
  const whole = text.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
  let line = 1;
  let from = 0;
  let start = "";
  const finish = (to: number): void => {
    const said = start + whole.slice(from, to);
    if (hasContent(said)) found.push({ line, text: said });
    line += linesIn(whole, from, to);
  };
  for (const { index } of whole.matchAll(/(?<=^|\n)(?:---|\.\.\.)(?=\s|$)/g)) {
    finish(index);
    if (found.length > most) return found;
    [start, from] = ["   ", index + 3];
  }
  finish(whole.length);
  return found;
}

/** Whether any of its lines is more than a comment or a directive. */
function hasContent(text: string): boolean {
  return /(?<=^|\n)[^\S\n]*[^\s#%]/.test(text);
}

function linesIn(text: string, from: number, to: number): number {
  let lines = 0;
  for (let at = text.indexOf("\n", from); at !== -1 && at < to; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}

/** Reads a document: no tags, no name twice, bounded aliases. */
export function readDocument({ line, text }: DocumentText): SigmaDocument {
  const refused = (message: string, at = { line: 1, col: 1 }): SigmaDocument => {
    const problem = { message, path: "", line: line + at.line - 1, column: at.col };
    return { line, map: null, problems: [problem] };
  };
  if (text.length > DOCUMENT_MAX_CHARS)
    return refused(`The document has more than ${DOCUMENT_MAX_CHARS} characters.`);
  if (hasMoreTokens(text, DOCUMENT_MAX_TOKENS))
    return refused(`The document has more than ${DOCUMENT_MAX_TOKENS} signs, names and values.`);
  const lineCounter = new LineCounter();
  const document = parseDocument(text, {
    ...{ lineCounter, version: "1.2", schema: "core", uniqueKeys: true, intAsBigInt: true },
    ...{ logLevel: "silent", prettyErrors: false },
  });
  const wrong = [...document.errors, ...document.warnings];
  if (wrong.length > 0) {
    const problems = wrong.slice(0, PROBLEMS_MAX_COUNT).map(({ message, pos: [start] }) => {
      const at = lineCounter.linePos(start);
      return { message: `This is not YAML: ${message}.`, path: "", line: line + at.line - 1, column: at.col };
    });
    return { line, map: null, problems };
  }
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: ALIAS_MAX_COUNT });
  } catch (error) {
    if (!(error instanceof ReferenceError || error instanceof RangeError)) throw error;
    if (!error.message.startsWith("Excessive alias count"))
      return refused(`This is not YAML: ${error.message}.`);
    return refused("The document refers to its own parts too often.");
  }
  // Every value has a character of its own, unless an alias stands for it once more.
  const walked = walk(value, text.length, VALUE_MAX_DEPTH);
  if (walked === "deep") return refused(`The document is nested deeper than ${VALUE_MAX_DEPTH} levels.`);
  if (walked === "many") return refused("The document refers to its own parts too often.");
  if (!isMap(value))
    return refused(`A Sigma rule is a map, with title, logsource and detection.${hintOf(text)}`);
  const offsetOf = (place: Place): number => {
    for (let length = place.length; length >= 0; length--) {
      const node: unknown = length === 0 ? document.contents : document.getIn(place.slice(0, length), true);
      const range = isMap(node) && Array.isArray(node.range) ? Number(node.range[0]) : Number.NaN;
      if (!Number.isNaN(range)) return range;
    }
    return 0;
  };
  return {
    ...{ line, map: value },
    problemAt: (place, message) => {
      const at = lineCounter.linePos(offsetOf(place));
      return { message, path: pointerOf(place), line: line + at.line - 1, column: at.col };
    },
  };
}

/** Rules of other products are pasted, too. */
export function hintOf(text: string): string {
  const head = text.slice(0, HINT_MAX_CHARS);
  if (/^\s*rule\s+\w+/.test(head) && /\{[^{}]*\bcondition\s*:/.test(head)) return " This looks like YARA.";
  if (/^[ \t]*\[(?:rule|metadata)\]/m.test(head)) return " This looks like a rule of Elastic in TOML.";
  if (/^[ \t]*(?:search\s|index\s*=|\|\s*tstats|`\w+`)/m.test(head))
    return " This looks like a search of Splunk.";
  return "";
}

/** Parts the text as a parser does, and stops where there are too many parts. */
function hasMoreTokens(text: string, most: number): boolean {
  let tokens = 0;
  for (const _ of new Lexer().lex(text)) if (++tokens > most) return true;
  return false;
}

/**
 * Whether a value holds more others than that, counted wherever they are told again, or nests deeper: what refers to itself does.
 * It looks at no more than `most`.
 */
function walk(value: unknown, most: number, depth: number): "fits" | "deep" | "many" {
  let left = most;
  const visit = (each: unknown, below: number): "fits" | "deep" | "many" => {
    if (left-- < 0) return "many";
    if (typeof each !== "object" || each === null) return "fits";
    if (below === 0) return "deep";
    for (const part of Object.values(each)) {
      const found = visit(part, below - 1);
      if (found !== "fits") return found;
    }
    return "fits";
  };
  return visit(value, depth);
}
