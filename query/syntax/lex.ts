import { scanString } from "./string-literal.ts";
import type { Token, TokenKind } from "./token.ts";

/** Types whose literals are written `type(body)`, the body being no expression. `dynamic(...)` is read by the parser. */
export const TYPED_LITERALS: ReadonlySet<string> = new Set([
  "bool",
  "boolean",
  "int",
  "int32",
  "long",
  "int64",
  "real",
  "double",
  "decimal",
  "datetime",
  "date",
  "timespan",
  "time",
  "guid",
  "uuid",
  "uniqueid",
]);

/** Names that hold a hyphen; anywhere else a hyphen is a minus. */
const HYPHENATED: ReadonlySet<string> = new Set([
  "project-away",
  "project-keep",
  "project-rename",
  "project-reorder",
  "project-by-names",
  "project-smart",
  "mv-expand",
  "mv-apply",
  "make-series",
  "make-graph",
  "top-nested",
  "top-hitters",
  "sample-distinct",
  "parse-where",
  "parse-kv",
  "macro-expand",
  "assert-schema",
  "execute-and-cache",
  "partition-by",
  "graph-match",
  "graph-shortest-paths",
  "graph-mark-components",
  "graph-to-table",
  "graph-where-nodes",
  "graph-where-edges",
  "granny-asc",
  "granny-desc",
]);

const NEGATED: ReadonlySet<string> = new Set([
  "!in",
  "!in~",
  "!between",
  "!has",
  "!has_cs",
  "!hasprefix",
  "!hasprefix_cs",
  "!hassuffix",
  "!hassuffix_cs",
  "!contains",
  "!contains_cs",
  "!startswith",
  "!startswith_cs",
  "!endswith",
  "!endswith_cs",
]);

const BLANK = /(?:\s|\u180e|\u200b|\/\/[^\n\r\u2028\u2029]*)+/y;
const WORD = /\$?[\p{L}\p{N}_]+/uy;
const HYPHENATED_WORD = /[a-z]{1,16}(?:-[a-z]{1,16}){1,2}(?![\p{L}\p{N}_])/uy;
const NEGATED_WORD = /![a-z_]+~?/y;
const NUMBER = /\d+(?:\.\d+(?:[eE][+-]?\d+)?|\.(?![.\p{L}_])|[eE][+-]?\d+)|0[xX][0-9a-fA-F]+|\d+/uy;
const TIMESPAN_UNIT =
  /(?:m(?:in(?:utes?)?)?|s(?:ec(?:onds?)?)?|d(?:ays?)?|h(?:ours?|rs?)?|ms|milli(?:s(?:ec(?:onds?)?)?)?|micro(?:s(?:ec(?:onds?)?)?)?|nano(?:s(?:ec(?:onds?)?)?)?|ticks?)(?![\p{L}\p{N}_])/uy;
const SYMBOL = /\.\.|==|=~|=>|!=|!~|<=|>=|<>|&&|\|\||[*@|}\]),:\-.=!><{[(%+?;/&~^]/y;
const TYPED_BODY = /\(([^()'"\r\n]*|\s*"[^"\r\n]*"\s*|\s*'[^'\r\n]*'\s*)\)/y;

/** The tokens of a text, the last one being its end. Any text has tokens; the time taken grows with its length. */
export function lex(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    at = matchAt(BLANK, text, at)?.end ?? at;
    if (at >= text.length) break;
    const token = tokenAt(text, at);
    tokens.push(token);
    at = token.span.end;
  }
  tokens.push(makeToken("end", "", text.length, text.length));
  return tokens;
}

function tokenAt(text: string, at: number): Token {
  const string = scanString(text, at);
  if (string !== null) {
    const { end, value, problem } = string;
    return { ...makeToken("string", text.slice(at, end), at, end), value, problem };
  }
  return numberAt(text, at) ?? wordAt(text, at) ?? symbolAt(text, at) ?? unknownAt(text, at);
}

/** A number or timespan; null for a name that begins with a digit as well. */
function numberAt(text: string, at: number): Token | null {
  const number = matchAt(NUMBER, text, at);
  if (number === null) return null;
  const unit = matchAt(TIMESPAN_UNIT, text, number.end);
  if (unit !== null) return makeToken("timespan", text.slice(at, unit.end), at, unit.end);
  const word = matchAt(WORD, text, at);
  const isReal = /[.eE]/.test(number.text) && !/^0[xX]/.test(number.text);
  if (word !== null && word.end > number.end) return null;
  return makeToken(isReal ? "real" : "long", number.text, at, number.end);
}

function wordAt(text: string, at: number): Token | null {
  const word = matchAt(WORD, text, at);
  if (word === null) return null;
  if (text[word.end] === "-") {
    const hyphenated = matchAt(HYPHENATED_WORD, text, at);
    if (hyphenated !== null && HYPHENATED.has(hyphenated.text))
      return makeToken("name", hyphenated.text, at, hyphenated.end);
  }
  if (word.text === "in" && text[word.end] === "~" && text[word.end + 1] !== "~")
    return makeToken("name", "in~", at, word.end + 1);
  if (TYPED_LITERALS.has(word.text)) {
    const body = matchAt(TYPED_BODY, text, word.end);
    if (body !== null)
      return {
        ...makeToken("typed", word.text, at, body.end),
        value: body.text.slice(1, -1).trim(),
      };
  }
  return makeToken("name", word.text, at, word.end);
}

function symbolAt(text: string, at: number): Token | null {
  const negated = matchAt(NEGATED_WORD, text, at);
  if (negated !== null) {
    const found = [negated.text, negated.text.replace("~", "")].find((name) => NEGATED.has(name));
    if (found !== undefined) return makeToken("symbol", found, at, at + found.length);
  }
  const symbol = matchAt(SYMBOL, text, at);
  return symbol === null ? null : makeToken("symbol", symbol.text, at, symbol.end);
}

function unknownAt(text: string, at: number): Token {
  const char = String.fromCodePoint(text.codePointAt(at) ?? 0);
  const token = makeToken("unknown", char, at, at + char.length);
  const advice = /[\u2018-\u201f\u00ab\u00bb]/.test(char) ? ` Texts stand in straight quotes: "text".` : "";
  return { ...token, problem: `The character ${JSON.stringify(char)} has no meaning here.${advice}` };
}

function matchAt(
  pattern: RegExp,
  text: string,
  at: number,
): { readonly text: string; readonly end: number } | null {
  pattern.lastIndex = at;
  const found = pattern.exec(text);
  return found === null ? null : { text: found[0], end: at + found[0].length };
}

function makeToken(kind: TokenKind, text: string, start: number, end: number): Token {
  return { kind, text, value: "", span: { start, end }, problem: null };
}
