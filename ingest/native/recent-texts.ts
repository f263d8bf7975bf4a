const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

const SLOTS = 1024;
/** What is longer is hardly a name that comes again, and is not kept. */
const KEPT_MAX_BYTES = 64;

/** A text and the bytes that it was decoded from. */
interface RecentText {
  readonly bytes: Uint8Array;
  readonly text: string;
}

/** Decodes texts, and has those of late without decoding them again: as one and the same string, whose hash is known. */
export class RecentTexts {
  readonly #slots: (RecentText | undefined)[] = new Array<RecentText | undefined>(SLOTS);

  /** The text of `source[start, end)`, valid UTF-8; `hash` is that of its bytes. */
  textOf(source: Uint8Array, start: number, end: number, hash: number): string {
    const slot = hash % SLOTS;
    const recent = this.#slots[slot];
    if (recent !== undefined && isSame(recent.bytes, source, start, end)) return recent.text;
    const bytes = source.subarray(start, end);
    const text = utf8.decode(bytes);
    if (bytes.length <= KEPT_MAX_BYTES) this.#slots[slot] = { bytes: bytes.slice(), text };
    return text;
  }
}

function isSame(bytes: Uint8Array, source: Uint8Array, start: number, end: number): boolean {
  if (bytes.length !== end - start) return false;
  for (let i = 0; i < bytes.length; i++) if (bytes[i] !== source[start + i]) return false;
  return true;
}
