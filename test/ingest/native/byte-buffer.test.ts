import { describe, expect, test } from "bun:test";
import { ByteBuffer } from "../../../ingest/native/byte-buffer.ts";

const encoder = new TextEncoder();

describe("a byte buffer", () => {
  test("writes texts of every kind behind their length in bytes, also where that length takes more bytes", () => {
    for (const length of [0, 1, 40, 42, 43, 63, 64, 126, 127, 128, 5_461, 5_462, 8_191, 16_383, 16_384])
      for (const unit of ["a", "é", "€", "😀", "\ud800"]) {
        const text = unit.repeat(length);
        const out = new ByteBuffer(1);
        out.writeByte(7);
        out.writeString(text);
        out.writeByte(9);
        const expected = new ByteBuffer();
        const bytes = encoder.encode(text);
        expected.writeByte(7);
        expected.writeVarUint(bytes.length);
        expected.writeBytes(bytes);
        expected.writeByte(9);
        expect(Buffer.compare(out.view(), expected.view())).toBe(0);
      }
  });

  test("copies slices of every length, also of a part of an array", () => {
    const whole = Uint8Array.from({ length: 300 }, (_, i) => i % 251);
    const part = whole.subarray(13);
    for (let length = 0; length <= 200; length++) {
      const out = new ByteBuffer(1);
      out.writeByte(1);
      out.writeSlice(part, 5, 5 + length);
      expect(Buffer.compare(out.view(), Uint8Array.from([1, ...whole.slice(18, 18 + length)]))).toBe(0);
    }
  });
});
