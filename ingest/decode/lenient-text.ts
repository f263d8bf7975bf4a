import { isUtf8 } from "node:buffer";
import { utf8SequenceLength } from "./utf8.ts";

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * The text of `bytes[start, end)` from senders that say nothing about their encoding. What is UTF-8 is read as such;
 * every other byte becomes the character that Latin-1 has for it, so that no byte is lost.
 */
export function decodeLenient(bytes: Uint8Array, start: number, end: number): string {
  const slice = bytes.subarray(start, end);
  if (isUtf8(slice)) return utf8.decode(slice);
  let text = "";
  let plainStart = start;
  for (let at = start; at < end; ) {
    const length = (bytes[at] ?? 0) < 0x80 ? 1 : utf8SequenceLength(bytes, at, end);
    if (length === 0) {
      text += utf8.decode(bytes.subarray(plainStart, at)) + String.fromCharCode(bytes[at] ?? 0);
      plainStart = at + 1;
    }
    at += length || 1;
  }
  return text + utf8.decode(bytes.subarray(plainStart, end));
}
