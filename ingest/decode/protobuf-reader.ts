import { IngestRejectedError } from "../errors.ts";

/** Wire types. Groups, which no schema uses any more, are refused. */
export const VARINT = 0;
export const FIXED64 = 1;
export const LENGTH = 2;
export const FIXED32 = 5;

/** Bytes of a number of 64 bits in groups of seven. */
const VARINT_MAX_BYTES = 10;
const TWO_POW_32 = 2 ** 32;

const NOTHING = new Uint8Array(0);
const NOTHING_VIEW = new DataView(NOTHING.buffer);

/**
 * Reads the fields of protobuf messages, one after the other and without an object for any. `next` reads a field whole;
 * who wants to read the message that it holds goes back to its `start` and reads up to its `stop`. What is cut off or
 * malformed throws an IngestRejectedError. Source: Protocol Buffers documentation, "Encoding".
 */
export class ProtobufReader {
  source: Uint8Array = NOTHING;
  view: DataView = NOTHING_VIEW;
  /** Where the next field begins. */
  at = 0;

  /** After `next`: the number of the field and its wire type. */
  field = 0;
  wire = 0;
  /** The two halves of a number, unsigned. */
  low = 0;
  high = 0;
  /** Where the bytes of a field with a length begin and end. */
  start = 0;
  stop = 0;

  open(source: Uint8Array): void {
    this.source = source;
    this.view = new DataView(source.buffer, source.byteOffset, source.byteLength);
    this.at = 0;
  }

  /** Lets go of the source, which may be large. */
  release(): void {
    this.source = NOTHING;
    this.view = NOTHING_VIEW;
  }

  /** Reads the next field of a message that ends at `end`; false when there is none. */
  next(end: number): boolean {
    if (this.at >= end) return false;
    this.#readVarint(end);
    const key = this.low;
    this.field = key >>> 3;
    this.wire = key & 7;
    if (this.field === 0 || this.high !== 0) throw this.malformed("a field has no number");
    switch (this.wire) {
      case VARINT:
        this.#readVarint(end);
        return true;
      case LENGTH:
        this.#readVarint(end);
        this.start = this.at;
        this.stop = this.at + this.low;
        if (this.high !== 0 || this.stop > end) throw this.malformed("it is cut off");
        this.at = this.stop;
        return true;
      case FIXED64:
        this.#readFixed(8, end);
        this.low = this.view.getUint32(this.at - 8, true);
        this.high = this.view.getUint32(this.at - 4, true);
        return true;
      case FIXED32:
        this.#readFixed(4, end);
        this.low = this.view.getUint32(this.at - 4, true);
        this.high = 0;
        return true;
      default:
        throw this.malformed("a field is of no known kind");
    }
  }

  /** Throws unless the field that was read last is of a wire type. */
  expect(wire: number): void {
    if (this.wire !== wire)
      throw this.malformed(`field ${this.field} is of another kind than the protocol's`);
  }

  malformed(problem: string): IngestRejectedError {
    const message = `the body is no protobuf of this kind: ${problem}, at byte ${this.at}`;
    return new IngestRejectedError(message, [{ path: "", code: "custom", message }]);
  }

  #readFixed(bytes: number, end: number): void {
    if (this.at + bytes > end) throw this.malformed("it is cut off");
    this.at += bytes;
  }

  #readVarint(end: number): void {
    const { source } = this;
    let at = this.at;
    const first = source[at] ?? 0;
    if (first < 0x80 && at < end) {
      this.at = at + 1;
      this.low = first;
      this.high = 0;
      return;
    }
    let low = 0;
    let high = 0;
    for (let i = 0; i < VARINT_MAX_BYTES; i++) {
      if (at >= end) throw this.malformed("it is cut off");
      const byte = source[at++] ?? 0;
      const bits = byte & 0x7f;
      if (i < 4) low |= bits << (7 * i);
      else if (i === 4) {
        low |= bits << 28;
        high = bits >>> 4;
      } else high |= bits << (7 * i - 32);
      if (byte >= 0x80) continue;
      this.at = at;
      this.low = low >>> 0;
      this.high = high >>> 0;
      return;
    }
    throw this.malformed("a number is too long");
  }
}

/** A number of 64 bits as a double, exact below 2^53. */
export function unsignedOf(low: number, high: number): number {
  return high * TWO_POW_32 + low;
}
