import { type EncodedTexts, sliceTexts, type TextSlices } from "./block-reader.ts";
import type { ByteBuffer } from "./byte-buffer.ts";

/** Texts that were written one behind the other: where each of them lies is found out when somebody asks. */
export class WrittenTexts implements EncodedTexts {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
  readonly count: number;
  #slices: Omit<TextSlices, "bytes"> | undefined;

  /** `count` texts, each behind its length: `bytes[start, end)`. */
  constructor(bytes: Uint8Array, start: number, end: number, count: number) {
    this.bytes = bytes;
    this.start = start;
    this.end = end;
    this.count = count;
  }

  get starts(): Uint32Array {
    return this.#found().starts;
  }

  get ends(): Uint32Array {
    return this.#found().ends;
  }

  /** The same in a buffer, instead of what that held. */
  copyTo(buffer: ByteBuffer): WrittenTexts {
    buffer.clear();
    buffer.writeSlice(this.bytes, this.start, this.end);
    return new WrittenTexts(buffer.bytes, 0, buffer.length, this.count);
  }

  #found(): Omit<TextSlices, "bytes"> {
    this.#slices ??= sliceTexts(this.bytes, this.start, this.count);
    return this.#slices;
  }
}
