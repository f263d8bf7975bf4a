/** UTF-8 takes at most three bytes for one UTF-16 code unit. */
const MAX_BYTES_PER_UNIT = 3;

const encoder = new TextEncoder();

/** The text, or its first `maxChars` code points. */
export function cutToChars(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  let chars = 0;
  let at = 0;
  while (at < text.length && chars < maxChars) {
    at += isPair(text, at) ? 2 : 1;
    chars++;
  }
  return at >= text.length ? text : text.slice(0, at);
}

/** The text, or as much of its beginning as fits into `maxBytes` of UTF-8 without cutting a character. */
export function cutToBytes(text: string, maxBytes: number): string {
  if (text.length * MAX_BYTES_PER_UNIT <= maxBytes) return text;
  const { read } = encoder.encodeInto(text, new Uint8Array(maxBytes));
  return read === text.length ? text : text.slice(0, read);
}

function isPair(text: string, at: number): boolean {
  return isSurrogate(text.charCodeAt(at), 0xd800) && isSurrogate(text.charCodeAt(at + 1), 0xdc00);
}

function isSurrogate(unit: number, first: number): boolean {
  return unit >= first && unit < first + 0x400;
}

/** Where the first `maxChars` code points of `source[start, end)`, which is UTF-8, end. */
export function endOfChars(source: Uint8Array, start: number, end: number, maxChars: number): number {
  if (end - start <= maxChars) return end;
  let chars = 0;
  for (let at = start; at < end; at++) {
    const isStart = ((source[at] ?? 0) & 0xc0) !== 0x80;
    if (isStart && chars++ === maxChars) return at;
  }
  return end;
}

/** Where as much of `source[start, end)`, which is UTF-8, ends as fits into `maxBytes` without cutting a character. */
export function endOfBytes(source: Uint8Array, start: number, end: number, maxBytes: number): number {
  if (end - start <= maxBytes) return end;
  let at = start + maxBytes;
  while (at > start && ((source[at] ?? 0) & 0xc0) === 0x80) at--;
  return at;
}
