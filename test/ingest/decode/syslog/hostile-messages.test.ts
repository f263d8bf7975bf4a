/** Whatever bytes come as syslog become entries, in linear time, and none of them is lost. */
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { decodeMessage, decodeMessages } from "./decoded-messages.ts";

const CORPUS = join(import.meta.dir, "corpus");

test("bytes that are not UTF-8 are read as Latin-1, and no byte is lost", () => {
  expect(decodeMessage(Buffer.from("<13>caf\xe9 \xff\x80", "latin1")).message).toBe("café ÿ\u0080");
  expect(decodeMessage(Buffer.concat([Buffer.from("<13>ü "), Buffer.from([0xe9, 0xc3])])).message).toBe(
    "ü éÃ",
  );
});

test("a message of multi-byte text may be cut after any byte", () => {
  const message = Buffer.from('<13>1 - häuser ä 日 - [é ü="ß😀"] 日本語 😀');
  for (let length = 0; length <= message.length; length++) {
    const entry = decodeMessage(message.subarray(0, length));
    expect(entry.message + JSON.stringify(entry.attrs)).not.toContain("\uFFFD");
  }
});

test("nothing makes the decoder throw or reject, and what it does not know is in the message", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      "<13>",
      "1 ",
      "- ",
      "Oct 11 22:14:15 ",
      "2026-10-11T22:14:15Z ",
      "[a",
      ' b="',
      "\\",
      '"',
      "]",
      ":",
      "CEF:0|",
      "@cee:",
      "{",
      "%A-1-B:",
      "*",
      "12: ",
    ),
    fc.string({ unit: "binary", maxLength: 8 }),
  );
  const text = fc.array(piece, { maxLength: 30 }).map((pieces) => Buffer.from(pieces.join("")));
  fc.assert(
    fc.property(fc.array(fc.oneof(text, fc.uint8Array({ maxLength: 60 })), { maxLength: 4 }), (messages) => {
      expect(decodeMessages(messages)).toHaveLength(messages.length);
    }),
    { numRuns: 500 },
  );
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z ]{0,30}$/), (words) => {
      expect(decodeMessage(`<13>Oct 11 22:14:15 host app[1]: ${words}`).message).toBe(words);
      expect(decodeMessage(`<13>1 - - - - - - ${words}`).message).toBe(words.replace(/^ /, ""));
    }),
  );
});

test("every message of the corpus of hostile messages is stored", () => {
  const files = existsSync(CORPUS) ? readdirSync(CORPUS) : [];
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) {
    const lines = readFileSync(join(CORPUS, file), "latin1").split("\n");
    const messages = lines.map((line) => Buffer.from(line, "latin1"));
    expect(decodeMessages(messages)).toHaveLength(messages.length);
  }
});

// What is quadratic takes minutes, which the time limit of a test ends.
test("giant messages are read", () => {
  for (const message of [
    `<13>1 - - - - - [a b="${"\\\\".repeat(30_000)}"] x`,
    `<13>1 - - - - - ${'[a b="c"]'.repeat(7_000)}`,
    `<13>1 - - - - - [a${' b="c"'.repeat(10_000)}`,
    `<13>${"1: ".repeat(20_000)}`,
    `<13>Oct 11 22:14:15 ${"a".repeat(60_000)}: x`,
    `<13>${" ".repeat(60_000)}x`,
    `{${'"a":{'.repeat(10_000)}`,
    `<13>1 - - - - - - ${"CEF:0|".repeat(10_000)}`,
  ])
    expect(decodeMessage(message).message).not.toBe("");
});
