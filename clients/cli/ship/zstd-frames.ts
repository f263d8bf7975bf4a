/** Bytes of a dictionary's id and of the size of the content, by the bits that say so. */
const DICTIONARY_ID_BYTES = [0, 1, 2, 4];
const CONTENT_SIZE_BYTES = [0, 2, 4, 8];
const MAGIC_BYTES = 4;
const SKIPPABLE_MAGIC = 0x184d2a5;
const BLOCK_HEADER_BYTES = 3;
const CHECKSUM_BYTES = 4;
const RLE_BLOCK = 1;

/** What comes next: bytes that say how much follows, or bytes to pass over. */
type Part = "magic" | "descriptor" | "skippable size" | "block header" | "passed over";

/**
 * Follows the frames of zstd (RFC 8878, section 3.1) without unpacking them, to know whether they have come to their end:
 * what unpacks them does not say that the last one was cut off.
 */
export class ZstdFrames {
  #part: Part = "magic";
  readonly #head = new Uint8Array(MAGIC_BYTES);
  #headBytes = 0;
  #passOver = 0;
  /** What is looked at behind what is passed over. */
  #next: Part = "magic";
  #hasChecksum = false;

  /** Whether the bytes so far are whole frames. */
  get isWhole(): boolean {
    return this.#part === "magic" && this.#headBytes === 0;
  }

  /** The next bytes, as they are in the file. */
  take(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      if (this.#part === "passed over") {
        const passed = Math.min(this.#passOver, bytes.length - at);
        at += passed;
        this.#pass(this.#passOver - passed, this.#next);
        continue;
      }
      this.#head[this.#headBytes] = bytes[at] ?? 0;
      this.#headBytes += 1;
      at += 1;
      if (this.#headBytes < headBytesOf(this.#part)) continue;
      this.#headBytes = 0;
      this.#follow(this.#part);
    }
  }

  #follow(part: Exclude<Part, "passed over">): void {
    const [first = 0, second = 0, third = 0, fourth = 0] = this.#head;
    const number = first + second * 2 ** 8 + third * 2 ** 16 + fourth * 2 ** 24;
    if (part === "magic")
      this.#part = Math.floor(number / 16) === SKIPPABLE_MAGIC ? "skippable size" : "descriptor";
    else if (part === "skippable size") this.#pass(number, "magic");
    else if (part === "descriptor") {
      const isSingleSegment = (first & 0x20) !== 0;
      this.#hasChecksum = (first & 0x04) !== 0;
      const sizeBytes = first >> 6 === 0 && isSingleSegment ? 1 : (CONTENT_SIZE_BYTES[first >> 6] ?? 0);
      const rest = (isSingleSegment ? 0 : 1) + (DICTIONARY_ID_BYTES[first & 0x03] ?? 0) + sizeBytes;
      this.#pass(rest, "block header");
    } else {
      const header = first + second * 2 ** 8 + third * 2 ** 16;
      const isLast = (header & 1) === 1;
      const size = ((header >> 1) & 3) === RLE_BLOCK ? 1 : header >> 3;
      const checksum = isLast && this.#hasChecksum ? CHECKSUM_BYTES : 0;
      this.#pass(size + checksum, isLast ? "magic" : "block header");
    }
  }

  #pass(bytes: number, next: Part): void {
    this.#passOver = bytes;
    this.#next = next;
    this.#part = bytes === 0 ? next : "passed over";
  }
}

function headBytesOf(part: Exclude<Part, "passed over">): number {
  if (part === "descriptor") return 1;
  return part === "block header" ? BLOCK_HEADER_BYTES : MAGIC_BYTES;
}
