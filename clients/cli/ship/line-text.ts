const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const REPLACEMENT = "\ufffd";
const REPLACEMENT_BYTES = Buffer.from(REPLACEMENT);

/** The text of bytes; what is not UTF-8 in them becomes U+FFFD. */
export function decodeText(bytes: Uint8Array): { text: string; invalidUtf8: boolean } {
  const text = decoder.decode(bytes);
  return { text, invalidUtf8: text.includes(REPLACEMENT) && !isValidUtf8(bytes, text) };
}

/** A replacement character may have been in the input as such. */
function isValidUtf8(bytes: Uint8Array, text: string): boolean {
  return text.split(REPLACEMENT).length - 1 === countOf(bytes, REPLACEMENT_BYTES);
}

function countOf(bytes: Uint8Array, pattern: Buffer): number {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let count = 0;
  for (let at = buffer.indexOf(pattern); at >= 0; at = buffer.indexOf(pattern, at + pattern.length)) count++;
  return count;
}
