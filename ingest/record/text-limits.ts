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
