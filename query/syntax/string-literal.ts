/** A string literal from its first character to its last. */
interface ScannedString {
  readonly end: number;
  readonly value: string;
  readonly problem: string | null;
}

const FENCES = ["```", "~~~"];
const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
  "'": "'",
  '"': '"',
  "\\": "\\",
  a: "\u0007",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};
const ESCAPE =
  /\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{2})|([0-3][0-7]{2}|[0-7]{1,2})|(['"\\abfnrtv]))/y;

const LINE_BREAK = /[\r\n]/;

/**
 * The string literal that begins at the offset; null when none does. `'..'` and `".."` know escapes, `@'..'` and
 * `@".."` double their quote, three backticks or tildes hold several lines; an `h` in front hides the text from
 * Kusto's logs and means nothing here. A literal that is not closed ends with its line, or with the text.
 */
export function scanString(text: string, start: number): ScannedString | null {
  let at = start;
  if (text[at] === "h" || text[at] === "H") at++;
  for (const fence of FENCES)
    if (text.startsWith(fence, at)) return scanFenced(text, at + fence.length, fence);
  const isVerbatim = text[at] === "@";
  if (isVerbatim) at++;
  const quote = text[at];
  if (quote !== "'" && quote !== '"') return null;
  return isVerbatim ? scanVerbatim(text, at + 1, quote) : scanEscaped(text, at + 1, quote);
}

function scanFenced(text: string, start: number, fence: string): ScannedString {
  const end = text.indexOf(fence, start);
  if (end === -1)
    return { end: text.length, value: text.slice(start), problem: `The text is not closed with ${fence}.` };
  return { end: end + fence.length, value: text.slice(start, end), problem: null };
}

function scanVerbatim(text: string, start: number, quote: string): ScannedString {
  const parts: string[] = [];
  let from = start;
  for (;;) {
    const end = text.indexOf(quote, from);
    const part = text.slice(from, end === -1 ? text.length : end);
    const lineBreak = part.search(LINE_BREAK);
    if (end === -1 || lineBreak !== -1)
      return notClosed(from + (lineBreak === -1 ? part.length : lineBreak), text, from, quote, parts);
    parts.push(part);
    if (text[end + 1] !== quote) return { end: end + 1, value: parts.join(quote), problem: null };
    from = end + 2;
  }
}

function scanEscaped(text: string, start: number, quote: string): ScannedString {
  const parts: string[] = [];
  let problem: string | null = null;
  let from = start;
  for (let at = start; at < text.length; ) {
    const char = text[at];
    if (char === "\n" || char === "\r") break;
    if (char === quote) {
      parts.push(text.slice(from, at));
      return { end: at + 1, value: parts.join(""), problem };
    }
    if (char !== "\\") {
      at++;
      continue;
    }
    parts.push(text.slice(from, at));
    ESCAPE.lastIndex = at;
    const match = ESCAPE.exec(text);
    const meaning = match === null ? null : escaped(match);
    if (match === null || meaning === null) {
      const unit = (text[at + 1] ?? "").replace(LINE_BREAK, "");
      problem ??= `\\${unit} is no escape; write \\\\ for a backslash, or @ in front of the text.`;
      at += 1 + unit.length;
    } else {
      parts.push(meaning);
      at += match[0].length;
    }
    from = at;
  }
  const rest = text.slice(from).search(LINE_BREAK);
  return notClosed(rest === -1 ? text.length : from + rest, text, from, quote, parts);
}

/** Null for a code point that does not exist. */
function escaped([, short, long, byte, octal, simple]: RegExpExecArray): string | null {
  if (simple !== undefined) return SIMPLE_ESCAPES[simple] ?? null;
  const code =
    octal === undefined ? Number.parseInt(short ?? long ?? byte ?? "", 16) : Number.parseInt(octal, 8);
  return code > 0x10ffff ? null : String.fromCodePoint(code);
}

function notClosed(
  end: number,
  text: string,
  from: number,
  quote: string,
  parts: readonly string[],
): ScannedString {
  const value = parts.join("") + text.slice(from, end);
  return { end, value, problem: `The text is not closed with ${quote} on its line.` };
}
