const NUL = 0x00;
const INITIAL_BYTES = 8 * 1024;

/**
 * Takes the bytes of one TCP connection apart into frames that end with a zero byte, split and joined anywhere. Of a
 * frame that is longer than `maxFrameBytes` the rest is left out. Holds at most one such frame and what was pushed last.
 */
export class NulFrames {
  readonly #maxFrameBytes: number;
  #buffer = new Uint8Array(INITIAL_BYTES);
  /** The bytes not taken yet are `#buffer[#at, #end)`, of which there is no zero before `#searched`. */
  #at = 0;
  #end = 0;
  #searched = 0;
  /** The rest of a frame that was cut is being left out. */
  #skips = false;
  #cut = 0;

  constructor(options: { maxFrameBytes: number }) {
    this.#maxFrameBytes = options.maxFrameBytes;
  }

  /** Frames that were cut so far. */
  get cut(): number {
    return this.#cut;
  }

  push(chunk: Uint8Array): void {
    this.#makeRoom(chunk.length);
    this.#buffer.set(chunk, this.#end);
    this.#end += chunk.length;
  }

  /** The next whole frame, valid until the next call; null when there is none yet. Empty ones are left out. */
  next(): Uint8Array | null {
    for (;;) {
      const found = this.#buffer.subarray(0, this.#end).indexOf(NUL, this.#searched);
      const frameEnd = found === -1 ? this.#end : found;
      if (this.#skips) {
        this.#take(frameEnd, found);
        if (found === -1) return null;
        this.#skips = false;
        continue;
      }
      const length = frameEnd - this.#at;
      if (length > this.#maxFrameBytes) {
        const frame = this.#buffer.subarray(this.#at, this.#at + this.#maxFrameBytes);
        this.#cut++;
        this.#skips = found === -1;
        this.#take(frameEnd, found);
        return frame;
      }
      if (found === -1) {
        this.#searched = this.#end;
        return null;
      }
      const frame = this.#buffer.subarray(this.#at, frameEnd);
      this.#take(frameEnd, found);
      if (length > 0) return frame;
    }
  }

  /** What is left when the connection ends: a frame without its zero. */
  rest(): Uint8Array | null {
    if (this.#skips || this.#at === this.#end) return null;
    const frame = this.#buffer.subarray(this.#at, this.#end);
    this.#at = this.#end;
    return frame;
  }

  #take(frameEnd: number, found: number): void {
    this.#at = found === -1 ? frameEnd : frameEnd + 1;
    this.#searched = this.#at;
  }

  #makeRoom(count: number): void {
    if (this.#end + count <= this.#buffer.length) return;
    const held = this.#end - this.#at;
    const target =
      held + count <= this.#buffer.length
        ? this.#buffer
        : new Uint8Array(Math.max(held + count, this.#buffer.length * 2));
    // A frame that was answered may still be looked at, so bytes are moved only when new ones come.
    target.set(this.#buffer.subarray(this.#at, this.#end));
    this.#buffer = target;
    this.#searched -= this.#at;
    this.#at = 0;
    this.#end = held;
  }
}
