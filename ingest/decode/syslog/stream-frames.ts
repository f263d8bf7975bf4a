const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const NUL = 0x00;
const SPACE = 0x20;
const LESS = 0x3c;
const DIGIT_ZERO = 0x30;
const DIGIT_ONE = 0x31;
const INITIAL_BYTES = 8 * 1024;
/** Digits of an octet count; more of them begin a line. */
const COUNT_MAX_DIGITS = 8;

/** What a frame begins with: a count and the offset behind it, a line, or not enough bytes to know. */
type FrameStart = { readonly count: number; readonly at: number } | "line" | "unknown";

/**
 * Takes the bytes of one TCP connection apart (RFC 6587): octet counting and lines, in any order on one connection, split
 * and joined anywhere. A count is one when `<` comes behind it; so a line may begin with a number. A frame that is longer
 * than `maxFrameBytes` is cut there, between two characters, and the rest of it left out. Holds at most one such frame
 * and what was pushed last.
 */
export class StreamFrames {
  readonly #maxFrameBytes: number;
  #buffer = new Uint8Array(INITIAL_BYTES);
  /** The bytes not taken yet are `#buffer[#at, #end)`. */
  #at = 0;
  #end = 0;
  /** Up to here there is no line feed. */
  #searched = 0;
  /** Of a frame that was cut: bytes still to be left out, `line` up to the next line feed. */
  #skip: number | "line" = 0;
  #cut = 0;

  constructor(options: { maxFrameBytes: number }) {
    this.#maxFrameBytes = options.maxFrameBytes;
  }

  /** Frames that were cut so far. */
  get cut(): number {
    return this.#cut;
  }

  /** Bytes that were pushed and not taken yet. */
  get heldBytes(): number {
    return this.#end - this.#at;
  }

  push(chunk: Uint8Array): void {
    if (this.#at > 0) {
      this.#buffer.copyWithin(0, this.#at, this.#end);
      this.#searched = Math.max(0, this.#searched - this.#at);
      this.#end -= this.#at;
      this.#at = 0;
    }
    const needed = this.#end + chunk.length;
    if (needed > this.#buffer.length) {
      const grown = new Uint8Array(Math.max(needed, this.#buffer.length * 2));
      grown.set(this.#buffer.subarray(0, this.#end));
      this.#buffer = grown;
    }
    this.#buffer.set(chunk, this.#end);
    this.#end = needed;
  }

  /** The next whole frame, without its framing; null when it is not all there. Valid until the next `push`. */
  next(): Uint8Array | null {
    if (!this.#skipRest()) return null;
    this.#skipBetweenFrames();
    if (this.#at === this.#end) return null;
    const start = this.#frameStart();
    if (start === "unknown") return null;
    return start === "line" ? this.#nextLine() : this.#nextCounted(start.at, start.count);
  }

  /** What is left when the connection has ended: a last line without its end, or a part of a frame; null for nothing. */
  rest(): Uint8Array | null {
    if (!this.#skipRest()) return null;
    this.#skipBetweenFrames();
    const start = this.#frameStart();
    const from = typeof start === "string" ? this.#at : start.at;
    const frame = this.#buffer.subarray(Math.min(from, this.#end), this.#end);
    this.#at = this.#end;
    return frame.length === 0 ? null : frame;
  }

  #nextLine(): Uint8Array | null {
    const start = this.#at;
    const found = this.#buffer.subarray(0, this.#end).indexOf(LINE_FEED, Math.max(start, this.#searched));
    const end = found === -1 ? this.#end : found;
    if (end - start > this.#maxFrameBytes) {
      this.#skip = "line";
      return this.#takeCut(start);
    }
    this.#searched = end;
    if (found === -1) return null;
    this.#at = found + 1;
    return this.#buffer.subarray(start, this.#buffer[found - 1] === CARRIAGE_RETURN ? found - 1 : found);
  }

  #nextCounted(start: number, count: number): Uint8Array | null {
    if (count > this.#maxFrameBytes) {
      // With one byte more, so that it shows whether a character ends at the cut.
      if (this.#end - start <= this.#maxFrameBytes) return null;
      this.#skip = count - this.#maxFrameBytes;
      const frame = this.#takeCut(start);
      this.#at = start + this.#maxFrameBytes;
      return frame;
    }
    if (this.#end - start < count) return null;
    this.#at = start + count;
    return this.#buffer.subarray(start, start + count);
  }

  /** The part of a frame that is kept. The rest of a line is left out from there, so that its line feed is found. */
  #takeCut(start: number): Uint8Array {
    this.#cut++;
    this.#at = start + this.#maxFrameBytes;
    return this.#buffer.subarray(start, endOfCharacter(this.#buffer, start, this.#at));
  }

  /** Leaves out the rest of a frame that was cut; false when more of it is to come. */
  #skipRest(): boolean {
    if (this.#skip === "line") {
      const found = this.#buffer.subarray(0, this.#end).indexOf(LINE_FEED, this.#at);
      this.#at = found === -1 ? this.#end : found + 1;
      if (found === -1) return false;
      this.#skip = 0;
    }
    const skipped = Math.min(this.#skip, this.#end - this.#at);
    this.#at += skipped;
    this.#skip -= skipped;
    return this.#skip === 0;
  }

  /** Line ends behind a counted frame, empty lines, and the NUL that some senders end a message with. */
  #skipBetweenFrames(): void {
    for (; this.#at < this.#end; this.#at++) {
      const byte = this.#buffer[this.#at];
      if (byte !== LINE_FEED && byte !== CARRIAGE_RETURN && byte !== NUL) return;
    }
  }

  #frameStart(): FrameStart {
    const first = this.#at;
    if ((this.#buffer[first] ?? 0) < DIGIT_ONE) return "line";
    let count = 0;
    for (let at = first; at < this.#end; at++) {
      const byte = this.#buffer[at] ?? 0;
      const digit = byte - DIGIT_ZERO;
      if (digit >= 0 && digit <= 9 && at - first < COUNT_MAX_DIGITS) {
        count = count * 10 + digit;
        continue;
      }
      if (byte !== SPACE || at === first) return "line";
      if (at + 1 === this.#end) return "unknown";
      return this.#buffer[at + 1] === LESS ? { count, at: at + 1 } : "line";
    }
    return "unknown";
  }
}

/** The end of a range that was cut at `end`, put back to where no UTF-8 sequence is cut. */
function endOfCharacter(bytes: Uint8Array, start: number, end: number): number {
  for (let at = end; at > start && at > end - 4; at--) {
    const next = bytes[at] ?? 0;
    // What begins here is no continuation, so everything before it is whole.
    if ((next & 0xc0) !== 0x80) return at;
  }
  return end;
}
