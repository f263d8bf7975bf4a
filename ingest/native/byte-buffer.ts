/** Below this many bytes a plain loop copies faster than a native call with its set-up cost (measured on Bun 1.4). */
const LOOP_COPY_MAX_BYTES = 16;
/** Copies between arrays without a view for each copy: a third of the cost of `set` with `subarray`. */
const copyBytes: (
  this: Uint8Array,
  target: Uint8Array,
  targetStart: number,
  sourceStart: number,
  sourceEnd: number,
) => number = Buffer.prototype.copy;

/** Writes a text as UTF-8 into an array and answers its bytes, without an array of its own. */
const writeText: (this: Uint8Array, text: string, start: number) => number = Buffer.prototype.write;
const UTF8_MAX_BYTES_PER_UNIT = 3;
const VAR_UINT_MAX_BYTES = 8;

/**
 * An append-only byte sequence that grows by doubling and is reused between batches.
 * `bytes` is public because the decoders write into it in their inner loops; they call `reserve` first and set
 * `length` after.
 */
export class ByteBuffer {
  bytes: Uint8Array<ArrayBuffer>;
  length = 0;

  constructor(initialBytes = 4096) {
    this.bytes = new Uint8Array(initialBytes);
  }

  /** Makes room for `count` more bytes. */
  reserve(count: number): void {
    const needed = this.length + count;
    if (needed <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.bytes.length * 2));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }

  writeByte(value: number): void {
    this.reserve(1);
    this.bytes[this.length++] = value;
  }

  /** Unsigned LEB128, as ClickHouse's Native format writes lengths. `value` is an integer from 0 to 2^53 - 1. */
  writeVarUint(value: number): void {
    this.reserve(8);
    let rest = value;
    while (rest >= 0x80) {
      this.bytes[this.length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.bytes[this.length++] = rest;
  }

  writeUInt32(value: number): void {
    this.reserve(4);
    this.bytes[this.length++] = value & 0xff;
    this.bytes[this.length++] = (value >>> 8) & 0xff;
    this.bytes[this.length++] = (value >>> 16) & 0xff;
    this.bytes[this.length++] = value >>> 24;
  }

  /** A 64-bit little-endian integer from its two halves. */
  writeUInt64(low: number, high: number): void {
    this.writeUInt32(low);
    this.writeUInt32(high);
  }

  /** Copies `source[start, end)`. */
  writeSlice(source: Uint8Array, start: number, end: number): void {
    const count = end - start;
    this.reserve(count);
    if (count <= LOOP_COPY_MAX_BYTES) {
      const target = this.bytes;
      let at = this.length;
      for (let i = start; i < end; i++) target[at++] = source[i] ?? 0;
    } else {
      copyBytes.call(source, this.bytes, this.length, start, end);
    }
    this.length += count;
  }

  writeBytes(source: Uint8Array): void {
    this.reserve(source.length);
    this.bytes.set(source, this.length);
    this.length += source.length;
  }

  /** The text as UTF-8 behind its length in bytes; a lone surrogate becomes U+FFFD. */
  writeString(text: string): void {
    // Written in place behind a length of the size that it has if the text is ASCII, as most are.
    const lengthBytes = varUintBytes(text.length);
    this.reserve(text.length * UTF8_MAX_BYTES_PER_UNIT + 2 * VAR_UINT_MAX_BYTES);
    const start = this.length + lengthBytes;
    const count = writeText.call(this.bytes, text, start);
    const moved = varUintBytes(count) - lengthBytes;
    if (moved > 0) this.bytes.copyWithin(start + moved, start, start + count);
    this.writeVarUint(count);
    this.length += count;
  }

  /** The bytes written so far, without a copy; valid until the next write. */
  view(): Uint8Array<ArrayBuffer> {
    return this.bytes.subarray(0, this.length);
  }

  clear(): void {
    this.length = 0;
  }

  /** Gives memory back when a rare giant batch made the buffer larger than it needs to stay. */
  shrink(maxBytes: number): void {
    if (this.bytes.length > maxBytes) this.bytes = new Uint8Array(maxBytes);
  }
}

/** Bytes that `writeVarUint` takes for a number. */
function varUintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes++;
  return bytes;
}
