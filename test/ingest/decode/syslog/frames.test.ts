/** Framing of syslog (RFC 6587): the same frames however the bytes arrive, and never more memory than a frame. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type OctetFrameFault, readOctetFrames } from "../../../../ingest/decode/syslog/octet-frames.ts";
import { StreamFrames } from "../../../../ingest/decode/syslog/stream-frames.ts";

const MAX = 64;
/** Digits of a count and the blank behind them. */
const COUNT_MAX_BYTES = 9;

/** The frames of a stream that arrives in pieces of these sizes, over and over. */
function framesOf(
  stream: Uint8Array,
  sizes: readonly number[],
): { frames: string[]; cut: number; mostHeld: number; longest: number } {
  const reader = new StreamFrames({ maxFrameBytes: MAX });
  const frames: string[] = [];
  let mostHeld = 0;
  let longest = 0;
  const take = (frame: Uint8Array): void => {
    frames.push(textOf(frame));
    longest = Math.max(longest, frame.length);
  };
  for (let at = 0, i = 0; at < stream.length; i++) {
    const size = sizes[i % sizes.length] ?? 1;
    reader.push(stream.subarray(at, at + size));
    at += size;
    for (let frame = reader.next(); frame !== null; frame = reader.next()) take(frame);
    mostHeld = Math.max(mostHeld, reader.heldBytes);
  }
  const rest = reader.rest();
  if (rest !== null) take(rest);
  return { frames, cut: reader.cut, mostHeld, longest };
}

function textOf(frame: Uint8Array): string {
  return Buffer.from(frame).toString();
}

function counted(message: string): string {
  return `${Buffer.byteLength(message)} ${message}`;
}

describe("frames of a connection", () => {
  const cases: [string, string, string[]][] = [
    ["lines", "<13>a\n<13>b\n", ["<13>a", "<13>b"]],
    ["lines with carriage returns", "<13>a\r\n<13>b\r\n", ["<13>a", "<13>b"]],
    ["a last line without its end", "<13>a\n<13>b", ["<13>a", "<13>b"]],
    ["empty lines", "\n\r\n\n<13>a\n\n", ["<13>a"]],
    ["messages ended with NUL", "<13>a\n\0<13>b\n\0", ["<13>a", "<13>b"]],
    ["octet counting", counted("<13>a\nb") + counted("<13>日本"), ["<13>a\nb", "<13>日本"]],
    [
      "octet counting with line ends behind",
      `${counted("<13>a")}\n${counted("<13>b")}\n`,
      ["<13>a", "<13>b"],
    ],
    ["both", `${counted("<13>a")}<13>b\n${counted("<13>c")}`, ["<13>a", "<13>b", "<13>c"]],
    [
      "lines that begin with numbers",
      "12 monkeys\n123: *Mar  1\n2026-01-01 x\n99999999999 <x\n7\n",
      ["12 monkeys", "123: *Mar  1", "2026-01-01 x", "99999999999 <x", "7"],
    ],
    ["a zero is no count", "0 <13>a\n", ["0 <13>a"]],
    ["a part of a counted frame", "50 <13>cut off", ["<13>cut off"]],
    ["a count and nothing", "50 ", ["50 "]],
    ["nothing", "", []],
  ];
  test.each(cases)("%s", (_, stream, expected) => {
    const bytes = Buffer.from(stream);
    for (let size = 1; size <= Math.max(1, bytes.length); size++)
      expect(framesOf(bytes, [size]).frames).toEqual(expected);
  });

  test("what is longer than a frame may be is cut between two characters, and the rest of it left out", () => {
    const long = `<13>${"ü".repeat(200)}`;
    for (const stream of [`${long}\n<13>next\n`, `${counted(long)}<13>next\n`]) {
      const bytes = Buffer.from(stream);
      for (let size = 1; size <= bytes.length; size++) {
        const { frames, cut, mostHeld } = framesOf(bytes, [size]);
        expect(frames).toEqual([`<13>${"ü".repeat((MAX - 4) / 2)}`, "<13>next"]);
        expect(cut).toBe(1);
        expect(mostHeld).toBeLessThanOrEqual(MAX + COUNT_MAX_BYTES + size);
      }
    }
  });

  test("a stream without any end is never held", () => {
    const { frames, cut, mostHeld } = framesOf(new Uint8Array(1_000_000).fill(0x41), [1000]);
    expect([frames.length, cut]).toEqual([1, 1]);
    expect(mostHeld).toBeLessThanOrEqual(MAX + 1000);
  });

  test("any messages in any framing and any pieces are the same messages", () => {
    const text = fc.string({ unit: "binary", maxLength: 12 });
    const frame = fc.oneof(
      text.map((body) => ({ wire: counted(`<13>${body}`), message: `<13>${body}` })),
      text.map((body) => {
        const line = `<13>${body.replace(/[\r\n]/g, "_")}`;
        return { wire: `${line}\n`, message: line };
      }),
    );
    fc.assert(
      fc.property(
        fc.array(frame, { maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 5 }),
        (sent, sizes) => {
          const { frames, cut } = framesOf(Buffer.from(sent.map(({ wire }) => wire).join("")), sizes);
          expect(frames).toEqual(sent.map(({ message }) => message));
          expect(cut).toBe(0);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("any bytes give the same frames in any pieces, and none is longer than it may be", () => {
    const piece = fc.oneof(
      fc.constantFrom("12 <", "\n", "\r", "\0", "9999999 <13>", "70 <", " ", "<13>", "0"),
      fc.string({ unit: "binary", maxLength: 90 }),
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 4 }),
        (pieces, sizes) => {
          const bytes = Buffer.from(pieces.join(""));
          const whole = framesOf(bytes, [Math.max(1, bytes.length)]);
          expect(framesOf(bytes, sizes).frames).toEqual(whole.frames);
          expect(whole.longest).toBeLessThanOrEqual(MAX);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe("frames of a body", () => {
  function read(body: string): { messages: string[]; fault: OctetFrameFault | null } {
    const bytes = Buffer.from(body);
    const messages: string[] = [];
    const fault = readOctetFrames(bytes, (start, end) =>
      messages.push(bytes.subarray(start, end).toString()),
    );
    return { messages, fault };
  }

  const SHORT = "the frame has 9 bytes, of which 1 are there";
  const NO_COUNT = "a frame begins with its length in bytes and a blank";
  test.each([
    ["", [], null],
    ["1 a2 bb", ["a", "bb"], null],
    ["1 a\n2 bb\n\n", ["a", "bb"], null],
    ["6 日本", ["日本"], null],
    ["0 1 a", ["", "a"], null],
    ["1 a9 b", ["a"], { at: 3, reason: SHORT }],
    ["1 ax", ["a"], { at: 3, reason: NO_COUNT }],
    ["12", [], { at: 0, reason: NO_COUNT }],
    ["-1 a", [], { at: 0, reason: NO_COUNT }],
    ["9999999999 a", [], { at: 0, reason: NO_COUNT }],
  ] as [string, string[], OctetFrameFault | null][])("%p", (body, messages, fault) => {
    expect(read(body)).toEqual({ messages, fault });
  });

  test("any messages are read back", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary", maxLength: 20 }), { maxLength: 10 }), (sent) => {
        expect(read(sent.map(counted).join(""))).toEqual({ messages: sent, fault: null });
      }),
    );
  });
});
