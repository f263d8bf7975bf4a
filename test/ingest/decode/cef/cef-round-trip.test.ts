/** Any event that is written as the standard says is read as what it was, and nothing at all breaks the decoder. */
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { CefDecoder } from "../../../../ingest/decode/cef/cef-decoder.ts";
import { MESSAGE_MAX_CHARS } from "../../../../ingest/limits.ts";
import { decodeEntries, decodeRequest, RECEIVED_AT_MS } from "../decoded-entries.ts";

const decoder = new CefDecoder({ now: () => RECEIVED_AT_MS });
const CORPUS = join(import.meta.dir, "corpus");

/** Header fields lose the blanks around them. */
const headerText = fc
  .string({ unit: "binary", maxLength: 12 })
  .map((text) => text.replace(/[\r\n]/g, "").trim())
  // A backslash at the end of an unescaped text cannot be told from one that escapes.
  .filter((text) => text.trim() === text);
const value = fc.string({ unit: "binary", maxLength: 20 });
/** Names that stand for nothing in the dictionaries. */
const key = fc.stringMatching(/^zz[A-Za-z0-9_.-]{0,8}$/);

function escapeHeader(text: string): string {
  return text.replace(/[\\|]/g, "\\$&");
}

function escapeValue(text: string): string {
  return text.replace(/[\\=]/g, "\\$&").replaceAll("\n", "\\n").replaceAll("\r", "\\r");
}

test("an event that is encoded and decoded is the same", () => {
  const event = fc.record({
    vendor: headerText,
    product: headerText,
    eventName: headerText,
    pairs: fc.uniqueArray(fc.tuple(key, value), { maxLength: 12, selector: ([name]) => name }),
    custom: fc.option(fc.tuple(fc.stringMatching(/^yy[a-z ]{0,6}[a-z]$/), value), { nil: null }),
  });
  fc.assert(
    fc.property(event, ({ vendor, product, eventName, pairs, custom }) => {
      const all = [...pairs];
      if (custom !== null) all.push(["cs3", custom[1]], ["cs3Label", custom[0]]);
      // The last value is the one that may not end with white space.
      all.push(["zzend", "."]);
      const extension = all.map(([name, text]) => `${name}=${escapeValue(text)}`).join(" ");
      const header = [vendor, product, "1", "2", eventName, "3"].map(escapeHeader).join("|");
      const [entry] = decodeEntries(decoder, `CEF:0|${header}|${extension}`);
      const expected = Object.fromEntries(pairs);
      if (custom !== null) expected[custom[0]] = custom[1];
      expect(entry?.message).toBe(eventName);
      expect(entry?.attrs).toEqual({
        cefVersion: 0,
        deviceVendor: vendor,
        deviceProduct: product,
        deviceVersion: "1",
        deviceEventClassId: "2",
        name: eventName,
        severity: 3,
        zzend: ".",
        ...expected,
      });
    }),
    { numRuns: 300 },
  );
});

test("no bytes make it throw, and every line is stored or rejected", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      "CEF:0|",
      "|",
      "\\",
      "=",
      " ",
      "\n",
      "cs1Label=",
      "cs1=",
      "rt=",
      "msg=",
      "CEF:",
      "a=b ",
      "<1>",
    ),
    fc.string({ unit: "binary", maxLength: 6 }),
  );
  const text = fc.array(piece, { maxLength: 40 }).map((pieces) => Buffer.from(pieces.join("")));
  fc.assert(
    fc.property(fc.oneof(text, fc.uint8Array({ maxLength: 80 })), (body) => {
      const { entries, rejections, refusal } = decodeRequest(decoder, body);
      const lines = Buffer.from(body).toString("latin1").split("\n");
      expect(refusal).toBeNull();
      expect(entries.length + rejections.length).toBe(
        lines.filter((line) => !/^[ \t\r]*$/.test(line)).length,
      );
    }),
    { numRuns: 500 },
  );
});

test("a line of multi-byte text may end after any byte", () => {
  const line = Buffer.from("CEF:0|v|p|1|2|n|3|msg=äß日本語😀 cs1=Ω≈ç cs1Label=łabel");
  for (let length = 0; length <= line.length; length++) {
    const { entries, rejections } = decodeRequest(decoder, line.subarray(0, length));
    expect(entries.length + rejections.length).toBe(length === 0 ? 0 : 1);
  }
});

test("every line of the corpus of hostile lines is stored or rejected", () => {
  const files = existsSync(CORPUS) ? readdirSync(CORPUS) : [];
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) {
    const { entries, rejections } = decodeRequest(decoder, readFileSync(join(CORPUS, file)));
    expect(entries.length + rejections.length).toBeGreaterThan(0);
  }
});

// What is quadratic takes minutes, which the time limit of a test ends.
test("giant lines are read and cut", () => {
  const bodies = [
    `CEF:0|v|p|1|2|n|3|msg=${"x".repeat(2_000_000)}`,
    `CEF:0|v|p|1|2|n|3|${"a=b ".repeat(500_000)}`,
    `CEF:0|v|p|1|2|n|3|x=${"\\\\".repeat(1_000_000)}`,
    `CEF:0|v|p|1|2|n|3|${Array.from({ length: 50_000 }, (_, i) => `k${i}=1`).join(" ")}`,
    `CEF:0|${"\\|".repeat(1_000_000)}`,
    "CEF:".repeat(500_000),
  ];
  const [long, , , many] = bodies.map((body) => decodeRequest(decoder, body).entries[0]);
  expect(long?.message).toHaveLength(MESSAGE_MAX_CHARS);
  expect(long?.attrs._truncated).toBe(true);
  expect(many?.attrs._dropped_attributes).toBeGreaterThan(1000);
});
