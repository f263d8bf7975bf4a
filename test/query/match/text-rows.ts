import type { TextRows } from "../../../query/index.ts";

const utf8 = new TextEncoder();

/** The texts one behind the other, each behind a byte that is none of theirs, as in a block of the store. */
export function textRows(texts: readonly string[]): TextRows {
  const encoded = texts.map((text) => utf8.encode(text));
  const bytes = new Uint8Array(encoded.reduce((sum, { length }) => sum + length + 1, 0));
  const starts = new Uint32Array(texts.length);
  const ends = new Uint32Array(texts.length);
  let at = 0;
  for (const [row, text] of encoded.entries()) {
    bytes[at++] = text.length & 0x7f;
    starts[row] = at;
    bytes.set(text, at);
    at += text.length;
    ends[row] = at;
  }
  return { bytes, starts, ends };
}
