/** What every decoder promises, whatever its format; what is particular to one stands in its own tests. */
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import type { DecodedRequest } from "./decoded-entries.ts";
import { FORMATS, type FormatUnderTest } from "./formats-under-test.ts";

const encoder = new TextEncoder();
const CORPUS = join(import.meta.dir, "corpus");

/** What has broken a decoder of some kind once, of any format. */
const HOSTILE: readonly (string | Uint8Array)[] = [
  "",
  " \n\t\r\n",
  "\u0000",
  "\ufeff",
  "null",
  "0",
  '"text"',
  "[]",
  "{}",
  "[[]]",
  "[null,1,true,[],{}]",
  "{}{}{}",
  "[".repeat(100_000),
  `${"[".repeat(5_000)}${"]".repeat(5_000)}`,
  `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`,
  '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
  '{"message":"\\ud800","m\\udfff":1}',
  `{"n":${"9".repeat(4_000)},"e":1e400,"f":0.${"1".repeat(4_000)}}`,
  "CEF:0|||||||",
  "CEF:0|a|b|c|d|e|f|=\\",
  "<999>1 - - - - - -",
  "99999999999999999999 x",
  new Uint8Array([0xff, 0xfe, 0x00, 0xd8]),
  new Uint8Array([0xc3]),
  new Uint8Array(1_000).fill(0x22),
];

/** Decodes and checks what holds for any body at all. */
function decodeAnything(format: FormatUnderTest, body: string | Uint8Array): DecodedRequest {
  const decoded = format.decode(typeof body === "string" ? encoder.encode(body) : body);
  for (const { place, reason } of decoded.rejections) {
    expect(place).not.toBe("");
    expect(reason).not.toBe("");
  }
  expect(decoded.refusal).not.toBe("");
  expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  return decoded;
}

function messagesOf({ entries }: DecodedRequest): string[] {
  return entries.map(({ message }) => message);
}

describe.each(FORMATS.map((format) => [format.name, format] as const))("%s", (_, format) => {
  const text = fc
    .string({ unit: "binary", minLength: 1, maxLength: 40 })
    .map((value) => value.replace(format.cannotHold, "x"))
    .filter((value) => value.trim() === value && value.isWellFormed());

  test("every message of any text arrives unchanged and in order", () =>
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 6 }), (messages) => {
        const decoded = decodeAnything(format, format.bodyOf(messages));
        expect([decoded.refusal, decoded.rejections]).toEqual([null, []]);
        expect(messagesOf(decoded)).toEqual(messages);
      }),
      { numRuns: 100 },
    ));

  test("text of several bytes a character arrives at every offset", () => {
    const messages = Array.from({ length: 140 }, (_, length) => `${"x".repeat(length)}é€😀`);
    expect(messagesOf(decodeAnything(format, format.bodyOf(messages)))).toEqual(messages);
  });

  test("a message that is too long is cut at a character and marked, or refused by the strict formats", () => {
    const { entries, refusal } = decodeAnything(format, format.bodyOf(["😀".repeat(9_000)]));
    if (format.refusesLongMessages) return expect(refusal).not.toBeNull();
    expect(entries[0]?.message).toBe("😀".repeat(8_192));
    expect(entries[0]?.attrs).toMatchObject({ _truncated: true });
  });

  test("the same body gives the same entries, and without some positions the others", () =>
    fc.assert(
      fc.property(
        fc.array(text, { minLength: 1, maxLength: 6 }),
        fc.array(fc.nat({ max: 5 })),
        (messages, positions) => {
          const body = format.bodyOf(messages);
          const all = format.decode(body);
          expect(format.decode(body)).toEqual(all);
          const left = format.decode(body, new Set(positions));
          expect(left.entries).toEqual(all.entries.filter((_, i) => !positions.includes(i)));
        },
      ),
      { numRuns: 50 },
    ));

  test("a body cut anywhere is refused, or gives whole entries of the whole body and at most one that was cut", () => {
    const messages = ["first é", "second €", "third 😀"];
    const body = format.bodyOf(messages);
    for (let length = 0; length < body.length; length++) {
      const found = messagesOf(decodeAnything(format, body.slice(0, length)));
      const whole = found.slice(0, -1);
      expect(messages.slice(0, whole.length)).toEqual(whole);
      expect(found.length).toBeLessThanOrEqual(messages.length);
    }
  });

  test("bytes changed, put in or left out never break it", () =>
    fc.assert(
      fc.property(
        fc.array(text, { minLength: 1, maxLength: 3 }),
        fc.array(
          fc.record({ at: fc.nat(), byte: fc.nat({ max: 255 }), kind: fc.constantFrom("set", "put", "cut") }),
          {
            minLength: 1,
            maxLength: 5,
          },
        ),
        (messages, changes) => {
          let body = [...format.bodyOf(messages)];
          for (const { at, byte, kind } of changes) {
            const place = at % (body.length + 1);
            if (kind === "cut") body = body.toSpliced(place, 3);
            else body = body.toSpliced(place, kind === "set" ? 1 : 0, byte);
          }
          decodeAnything(format, Uint8Array.from(body));
        },
      ),
      { numRuns: 150 },
    ));

  test.each(HOSTILE.map((body, i) => [i, body] as const))("hostile body %d does no harm", (_, body) => {
    decodeAnything(format, body);
  });

  const corpus = join(CORPUS, format.name);
  const saved = existsSync(corpus) ? readdirSync(corpus) : [];
  test.each(saved)("the saved body %s does no harm", (file) => {
    decodeAnything(format, readFileSync(join(corpus, file)));
  });
});

test("every saved body belongs to a format", () => {
  const names = FORMATS.map(({ name }) => name);
  expect((existsSync(CORPUS) ? readdirSync(CORPUS) : []).filter((name) => !names.includes(name))).toEqual([]);
});
