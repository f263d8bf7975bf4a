const BACKSLASH = code("\\");
const QUOTES = codes("\"'");
const APOSTROPHE = code("'");
const LINE_ENDS = codes("\n\r");
const SPACES = codes(
  "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff",
);
/** Where a value ends that is neither in quotes nor in brackets. */
const BARE_ENDS = new Set([...SPACES, ...codes(",;&\"')]}\\")]);
/** Where the part of an address ends that may hold a password (RFC 3986, 3.2). */
const AUTHORITY_ENDS = new Set([...SPACES, ...codes("/?#\"'")]);
const COLON = code(":");
const AT = code("@");
const OPENING_PARENTHESIS = code("(");
const CLOSING: ReadonlyMap<number, number> = new Map([
  [code("["), code("]")],
  [code("{"), code("}")],
  [OPENING_PARENTHESIS, code(")")],
]);
/** What a line ends with, and what the next one begins with, where a list or object goes on over them. */
const GOES_ON_BEHIND = codes("[{(,:=>");
const GOES_ON_BEFORE = codes("]}),\"'");
/** What some languages write right before the quotes of a string. */
const STRING_PREFIXES = codes("bu$");
/** How far a bracket in the middle of a value is looked for the one that closes it: most such values are no lists. */
const INNER_MAX_CHARS = 256;

/** With what a value ends that was cut off: the line, if the value does not evidently go on in the next one, or the whole text. */
export type CutEnd = "line" | "text";

/**
 * Where a value ends that begins at `start`, whether a text in quotes, a list, an object or a word; `start` where there is none.
 * The work is proportional to the length of the value: what is read of the text beyond has a bound, or is a quote that is looked
 * for in vain, of which there can be none of its kind in a later value.
 */
export function endOfValue(text: string, start: number, cutEnd: CutEnd): number {
  const first = text.charCodeAt(start);
  const from = STRING_PREFIXES.has(first) && startsQuoted(text, start + 1) ? start + 1 : start;
  if (startsQuoted(text, from)) return endOfQuoted(text, from, cutEnd);
  if (!startsList(text, start)) return endOfBare(text, start);
  const { end, isClosed } = listAt(text, start, cutEnd);
  return isClosed ? endOfBare(text, end) : end;
}

/** The password of a user in an address whose authority begins at `start`, and where that ends; null where it has none. */
export function passwordInAuthority(
  text: string,
  start: number,
): { end: number; password: { start: number; end: number } | null } {
  let from = -1;
  let to = -1;
  let end = start;
  for (; end < text.length; end++) {
    const here = text.charCodeAt(end);
    if (AUTHORITY_ENDS.has(here)) break;
    if (here === COLON && from === -1) from = end + 1;
    // Hosts have none, and those who write a password without escaping it forget this sign, too.
    else if (here === AT && from !== -1) to = end;
  }
  return { end, password: to > from ? { start: from, end: to } : null };
}

/** A word may go on with a list, as `map[…]` and `Some(…)` do. */
function endOfBare(text: string, start: number): number {
  let looksForLists = true;
  for (let i = start; i < text.length; i++) {
    const here = text.charCodeAt(i);
    if (BARE_ENDS.has(here)) return i;
    if (!looksForLists || !CLOSING.has(here)) continue;
    const { end, isClosed } = listAt(text.slice(i, i + INNER_MAX_CHARS), 0, "line");
    if (isClosed) i += end - 1;
    // Once for each value: what was looked at in vain is looked at again.
    else looksForLists = false;
  }
  return text.length;
}

/** A parenthesis before a space closes a sentence with a sad face rather than opening a list. */
function startsList(text: string, at: number): boolean {
  const here = text.charCodeAt(at);
  if (here !== OPENING_PARENTHESIS) return CLOSING.has(here);
  return at + 1 < text.length && !SPACES.has(text.charCodeAt(at + 1));
}

/** The list or object that a bracket opens. Only brackets of its kind are counted: others may be part of words in it. */
function listAt(text: string, start: number, cutEnd: CutEnd): { end: number; isClosed: boolean } {
  const opening = text.charCodeAt(start);
  const closing = CLOSING.get(opening);
  let depth = 0;
  let latest = opening;
  let escapes = 0;
  for (let i = start; i < text.length; i++) {
    const here = text.charCodeAt(i);
    if (here === BACKSLASH) {
      escapes++;
      continue;
    }
    if (here === opening) depth++;
    else if (here === closing) {
      depth--;
      if (depth === 0) return { end: i + 1, isClosed: true };
    } else if (QUOTES.has(here) && (escapes > 0 || !isInsideWord(text, i)))
      i = endOfQuoted(text, i - escapes, cutEnd) - 1;
    else if (LINE_ENDS.has(here)) {
      const next = endOfSpaces(text, i);
      const goesOn = GOES_ON_BEHIND.has(latest) || GOES_ON_BEFORE.has(text.charCodeAt(next));
      if (cutEnd === "line" && !goesOn) return { end: i, isClosed: false };
      i = next - 1;
    }
    if (!SPACES.has(here)) latest = here;
    escapes = 0;
  }
  return { end: text.length, isClosed: false };
}

/** Whether there is an apostrophe as in "don't", and no quote: of strings nothing stands before it but a short prefix. */
function isInsideWord(text: string, at: number): boolean {
  return text.charCodeAt(at) === APOSTROPHE && /^\w{3}'\w/.test(text.slice(Math.max(0, at - 3), at + 2));
}

function startsQuoted(text: string, at: number): boolean {
  return QUOTES.has(text.charCodeAt(endOfEscapes(text, at)));
}

/**
 * A text in quotes, behind as many escapes as there are texts in texts around it: it ends with a quote that is escaped as the
 * first one is, or before one of a text around it.
 */
function endOfQuoted(text: string, start: number, cutEnd: CutEnd): number {
  const opening = endOfEscapes(text, start);
  const quote = text.charCodeAt(opening);
  const depth = quoteDepth(opening - start);
  let escapes = 0;
  for (let i = opening + 1; i < text.length; i++) {
    const here = text.charCodeAt(i);
    if (here === BACKSLASH) {
      escapes++;
      continue;
    }
    const found = here === quote ? quoteDepth(escapes) : depth + 1;
    escapes = 0;
    if (found > depth) continue;
    if (found < depth) return i - (2 ** found - 1);
    // SQL and CSV write a quote in a text twice.
    if (depth > 0 || text.charCodeAt(i + 1) !== quote) return i + 1;
    i++;
  }
  return cutEnd === "text" ? text.length : endOfLine(text, opening + 1);
}

/**
 * In how many texts the text lies that a quote behind so many backslashes ends: 0, 1, 3, 7 are those before the quote itself,
 * and what a text has of them besides has twice as many in each text around it.
 */
function quoteDepth(escapes: number): number {
  let depth = 0;
  for (let left = escapes; left % 2 === 1; left = (left - 1) / 2) depth++;
  return depth;
}

function endOfEscapes(text: string, start: number): number {
  let end = start;
  while (text.charCodeAt(end) === BACKSLASH) end++;
  return end;
}

function endOfSpaces(text: string, start: number): number {
  let end = start;
  while (SPACES.has(text.charCodeAt(end))) end++;
  return end;
}

function endOfLine(text: string, start: number): number {
  let end = start;
  while (end < text.length && !LINE_ENDS.has(text.charCodeAt(end))) end++;
  return end;
}

function codes(chars: string): ReadonlySet<number> {
  return new Set(Array.from(chars, code));
}

function code(char: string): number {
  return char.charCodeAt(0);
}
