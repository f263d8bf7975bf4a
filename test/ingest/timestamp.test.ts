import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ByteBuffer } from "../../ingest/native/byte-buffer.ts";
import { Int64Column } from "../../ingest/native/number-column.ts";
import { appendEpochTimestamp, appendIsoTimestamp, appendMilliseconds } from "../../ingest/timestamp.ts";

type Append = (column: Int64Column, source: Uint8Array, start: number, end: number) => boolean;

/** Nanoseconds since 1970 that the text stands for, or null when it is refused. */
function read(append: Append, text: string): bigint | null {
  const column = new Int64Column("Int64");
  // Bytes around the text must not matter.
  const source = new TextEncoder().encode(`9${text}9`);
  return append(column, source, 1, source.length - 1) ? first(column) : null;
}

function first(column: Int64Column): bigint {
  const out = new ByteBuffer();
  column.writeData(out);
  return new DataView(out.view().buffer).getBigInt64(0, true);
}

const iso = (text: string): bigint | null => read(appendIsoTimestamp, text);
const epoch = (text: string): bigint | null => read(appendEpochTimestamp, text);

describe("RFC 3339 timestamps", () => {
  test("every instant between 1900 and 2262 is read to the nanosecond", () => {
    const instant = fc.date({
      min: new Date("1900-01-01T00:00:00Z"),
      max: new Date("2262-04-10T23:59:59Z"),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(instant, fc.nat(999_999), (date, nanos) => {
        const text = date.toISOString().replace("Z", `${String(nanos).padStart(6, "0")}Z`);
        expect(iso(text)).toBe(BigInt(date.getTime()) * 1_000_000n + BigInt(nanos));
      }),
      { numRuns: 2000 },
    );
  });

  test("an offset is taken off", () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date(0), max: new Date("2100-01-01"), noInvalidDate: true }),
        fc.integer({ min: -1439, max: 1439 }),
        (date, minutes) => {
          const shifted = new Date(date.getTime() + minutes * 60_000).toISOString().slice(0, -1);
          const size = Math.abs(minutes);
          const offset = `${minutes < 0 ? "-" : "+"}${String(Math.floor(size / 60)).padStart(2, "0")}:${String(size % 60).padStart(2, "0")}`;
          expect(iso(shifted + offset)).toBe(BigInt(date.getTime()) * 1_000_000n);
          expect(iso(shifted + offset.replace(":", ""))).toBe(BigInt(date.getTime()) * 1_000_000n);
        },
      ),
    );
  });

  test.each([
    ["2026-11-21T03:50:38Z", 1_795_233_038_000_000_000n],
    ["2026-11-21t03:50:38z", 1_795_233_038_000_000_000n],
    ["2026-11-21 03:50:38.5Z", 1_795_233_038_500_000_000n],
    ["2026-11-21T03:50:38.1234567899Z", 1_795_233_038_123_456_789n],
    ["2016-12-31T23:59:60Z", 1_483_228_800_000_000_000n],
    ["2024-02-29T00:00:00Z", 1_709_164_800_000_000_000n],
    ["1900-01-01T00:00:00Z", -2_208_988_800_000_000_000n],
  ])("%s is accepted", (text, nanoseconds) => expect(iso(text)).toBe(nanoseconds));

  test.each([
    "2026-11-21T03:50:38",
    "2026-11-21",
    "2023-02-29T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-00-01T00:00:00Z",
    "2026-01-32T00:00:00Z",
    "2026-01-01T24:00:00Z",
    "2026-01-01T00:60:00Z",
    "2026-01-01T00:00:61Z",
    "2026-01-01T00:00:00.Z",
    "2026-01-01T00:00:00+24:00",
    "2026-01-01T00:00:00+0100x",
    "2026-01-01T00:00:00ZZ",
    "1899-12-31T23:59:59Z",
    "2262-04-11T23:47:17Z",
    "0000-00-00T00:00:00Z",
    "",
  ])("%p is refused", (text) => expect(iso(text)).toBeNull());
});

describe("epoch timestamps", () => {
  test("the magnitude tells the unit, and no digit is lost", () => {
    const nanoseconds = fc.bigInt({ min: 1_000_000_000n * 1_000_000_000n, max: 9_223_286_399_999_999_999n });
    fc.assert(
      fc.property(nanoseconds, (value) => {
        expect(epoch(String(value))).toBe(value);
        expect(epoch(String(value / 1_000n))).toBe((value / 1_000n) * 1_000n);
        expect(epoch(String(value / 1_000_000n))).toBe((value / 1_000_000n) * 1_000_000n);
        expect(epoch(String(value / 1_000_000_000n))).toBe((value / 1_000_000_000n) * 1_000_000_000n);
      }),
      { numRuns: 2000 },
    );
  });

  test.each(["0", "00", "9223286400000000000", "99999999999999999999", ""])("%p is refused", (text) =>
    expect(epoch(text)).toBeNull(),
  );
});

test("milliseconds of the server's clock are kept exactly", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4_000_000_000_000 }), (ms) => {
      const column = new Int64Column("Int64");
      appendMilliseconds(column, ms);
      expect(first(column)).toBe(BigInt(ms) * 1_000_000n);
    }),
  );
});
