/** Where values of a JSON text end, by its bytes (RFC 8259). */

/** What a value may be nested in: no list of indicators is half as deep. */
const DEPTH_MAX = 100;
const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const LIST = 91;
const BACKSLASH = 92;
const LIST_END = 93;
const N = 110;
const OBJECT = 123;
const OBJECT_END = 125;
const FIRST_PRINTABLE = 32;
const SPACES = new Set([9, 10, 13, 32]);
const ESCAPES = new Set([...'"\\/bfnrt'].map((char) => char.charCodeAt(0)));
const UNICODE_ESCAPE = 117;
const HEX = /^[0-9a-fA-F]{4}$/;
const SCALAR = /^(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)$/;

export function beginsList(bytes: Buffer, at: number): boolean {
  return bytes[at] === LIST;
}

export function beginsObject(bytes: Buffer, at: number): boolean {
  return bytes[at] === OBJECT;
}

export function beginsNull(bytes: Buffer, at: number): boolean {
  return bytes[at] === N;
}

export function afterSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (SPACES.has(bytes[at] ?? 0)) at++;
  return at;
}

/** Where the value of a member begins whose name ends there. */
export function afterColon(bytes: Buffer, end: number): number {
  return afterSpace(bytes, afterSpace(bytes, end) + 1);
}

/** Where the first element or member begins of a list or an object that begins there; null where it has none. */
export function firstIn(bytes: Buffer, start: number): number | null {
  const at = afterSpace(bytes, start + 1);
  return bytes[at] === LIST_END || bytes[at] === OBJECT_END ? null : at;
}

/** Where the one behind the one that ends there begins; null behind the last. */
export function nextIn(bytes: Buffer, end: number): number | null {
  const at = afterSpace(bytes, end);
  return bytes[at] === COMMA ? afterSpace(bytes, at + 1) : null;
}

/** Behind the value that begins there; null where none does. */
export function endOfJson(bytes: Buffer, start: number, depth = 0): number | null {
  const first = bytes[start];
  if (first === QUOTE) return endOfText(bytes, start);
  if (first !== LIST && first !== OBJECT) return endOfScalar(bytes, start);
  if (depth > DEPTH_MAX) return null;
  const close = first === LIST ? LIST_END : OBJECT_END;
  let at = afterSpace(bytes, start + 1);
  if (bytes[at] === close) return at + 1;
  for (;;) {
    const value = first === LIST ? at : valueOfMember(bytes, at);
    const end = value === null ? null : endOfJson(bytes, value, depth + 1);
    if (end === null) return null;
    at = afterSpace(bytes, end);
    if (bytes[at] === close) return at + 1;
    if (bytes[at] !== COMMA) return null;
    at = afterSpace(bytes, at + 1);
  }
}

function valueOfMember(bytes: Buffer, start: number): number | null {
  const end = bytes[start] === QUOTE ? endOfText(bytes, start) : null;
  return end === null || bytes[afterSpace(bytes, end)] !== COLON ? null : afterColon(bytes, end);
}

function endOfText(bytes: Buffer, start: number): number | null {
  for (let at = start + 1; at < bytes.byteLength; at++) {
    const char = bytes[at] ?? 0;
    if (char === QUOTE) return at + 1;
    if (char < FIRST_PRINTABLE) return null;
    if (char !== BACKSLASH) continue;
    at++;
    const escaped = bytes[at] ?? 0;
    if (ESCAPES.has(escaped)) continue;
    if (escaped !== UNICODE_ESCAPE || !HEX.test(bytes.toString("latin1", at + 1, at + 5))) return null;
    at += 4;
  }
  return null;
}

function endOfScalar(bytes: Buffer, start: number): number | null {
  let end = start;
  while (end < bytes.byteLength && !endsScalar(bytes[end] ?? 0)) end++;
  return SCALAR.test(bytes.toString("latin1", start, end)) ? end : null;
}

function endsScalar(char: number): boolean {
  return char === COMMA || char === LIST_END || char === OBJECT_END || SPACES.has(char);
}
