import { isUtf8 } from "node:buffer";
import { utf8SequenceLength } from "./utf8.ts";

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** UTF-8 takes two bytes for the upper half of Latin-1. */
const LATIN1_MAX_BYTES = 2;

/**
 * The text of `bytes[start, end)` from senders that say nothing about their encoding. What is UTF-8 is read as such;
 * every other byte becomes the character that Latin-1 has for it, so that no byte is lost.
 */
export function decodeLenient(bytes: Uint8Array, start: number, end: number): string {
  const slice = bytes.subarray(start, end);
  if (isUtf8(slice)) return utf8.decode(slice);
  const readable = new Uint8Array(slice.length * LATIN1_MAX_BYTES);
  let length = 0;
  for (let at = start; at < end; ) {
    const byte = bytes[at] ?? 0;
    const sequence = byte < 0x80 ? 1 : utf8SequenceLength(bytes, at, end);
    if (sequence === 0) {
      readable[length++] = 0xc0 | (byte >> 6);
      readable[length++] = 0x80 | (byte & 0x3f);
      at++;
    }
    for (let i = 0; i < sequence; i++) readable[length++] = bytes[at++] ?? 0;
  }
  return utf8.decode(readable.subarray(0, length));
}
