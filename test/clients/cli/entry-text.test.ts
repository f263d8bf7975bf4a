import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { EntryText } from "../../../clients/cli/ship/entry-text.ts";

const plain = new EntryText({});
const full = new EntryText({ service: "api", source: "app", host: "h1", level: "warn" });

describe("a line is taken as the entry it is", () => {
  const entries = [
    '{"message":"m"}',
    '  {"message":"m"}\t',
    '{"message":"m","ts":"2026-01-02T03:04:05.123456789Z"}',
    '{"message":"m","ts":"2026-01-02T03:04:05+02:00"}',
    '{"message":"m","ts":1700000000}',
    '{"message":"m","service":"s","source":"","host":"","event_id":"e","level":"fatal","attrs":{}}',
    '{"message":"m","attrs":{"a":{"b":[1,null,true]},"":"empty key"}}',
    `{"message":"${"\u{1f600}".repeat(8192)}"}`,
  ];
  for (const line of entries)
    test(line.slice(0, 70), () => {
      expect(plain.ofNative(line)?.text).toBe(line.trim());
    });
});

describe("a line is text when the API would refuse it as an entry", () => {
  const lines = [
    "",
    "text",
    "[1]",
    "null",
    "{",
    '{"message":"m"} trailing',
    "{}",
    '{"message":""}',
    '{"message":1}',
    '{"message":null}',
    '{"msg":"m"}',
    '{"message":"m","other":1}',
    '{"message":"m","level":"WARN"}',
    '{"message":"m","level":""}',
    '{"message":"m","service":""}',
    `{"message":"m","service":"${"s".repeat(256)}"}`,
    `{"message":"${"m".repeat(8193)}"}`,
    `{"message":"${"\u{1f600}".repeat(8193)}"}`,
    '{"message":"m","ts":0}',
    '{"message":"m","ts":-1}',
    '{"message":"m","ts":1.5}',
    '{"message":"m","ts":"yesterday"}',
    '{"message":"m","ts":"2026-01-02"}',
    '{"message":"m","ts":"2026-13-02T03:04:05Z"}',
    '{"message":"m","event_id":""}',
    '{"message":"m","attrs":[]}',
    '{"message":"m","attrs":null}',
    `{"message":"m","attrs":{"a":"${"v".repeat(64 * 1024 + 1)}"}}`,
    `{"message":"m","attrs":{"a":${"[".repeat(40)}${"]".repeat(40)}}}`,
    `{"message":"m","attrs":${JSON.stringify(Object.fromEntries(Array.from({ length: 257 }, (_, i) => [`k${i}`, 1])))}}`,
    '{"message":"m","__proto__":{}}',
  ];
  for (const line of lines)
    test(line.slice(0, 70) || "(empty)", () => {
      expect(plain.ofNative(line)).toBeNull();
    });
});

describe("defaults", () => {
  test("fill what is missing and leave digits, spelling and own fields alone", () => {
    const line =
      '{ "attrs":{"n":12345678901234567890,"f":1.0,"e":1E2},"message":"\\u0041", "service":"own" }';
    expect(full.ofNative(line)?.text).toBe(`${line.slice(0, -1)},"source":"app","host":"h1","level":"warn"}`);
  });

  test("make a text an entry that reads back as given", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1 }), (message) => {
        const entry = { message, service: "api", source: "app", host: "h1", level: "warn" };
        const attrs = { _line: 7, _part: 2 };
        expect(JSON.parse(full.ofText(message).text)).toEqual(entry);
        expect(JSON.parse(full.ofText(message, { line: 7, part: 2, last: false }).text)).toEqual({
          ...entry,
          attrs,
        });
        expect(JSON.parse(full.ofText(message, { line: 7, part: 2, last: true }).text)).toEqual({
          ...entry,
          attrs: { ...attrs, _last: true },
        });
      }),
      { numRuns: 200 },
    );
  });

  test("given to an entry change nothing else of it", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ maxLength: 20 }), fc.jsonValue({ maxDepth: 3 })), (attrs) => {
        const entry = { message: "m", attrs };
        const text = full.ofNative(JSON.stringify(entry))?.text;
        const wanted = { ...entry, service: "api", source: "app", host: "h1", level: "warn" };
        expect(JSON.stringify(JSON.parse(text ?? ""))).toBe(JSON.stringify(wanted));
      }),
      { numRuns: 200 },
    );
  });
});

describe("what is known of an entry", () => {
  const line = '{"message":"m","ts":"2026-01-02T03:04:05.5Z","level":"error","source":"own"}';

  test("is what it says itself, and else the defaults", () => {
    const facts = { timeMs: Date.UTC(2026, 0, 2, 3, 4, 5, 500), level: "error" };
    expect(plain.ofNative(line)).toMatchObject({ ...facts, service: null, source: "own" });
    expect(full.ofNative(line)).toMatchObject({ ...facts, service: "api", source: "own" });
    const text = { timeMs: null, level: "warn", service: "api", source: "app" };
    expect(full.ofText("m")).toMatchObject(text);
    expect(full.ofNative('{"message":"m"}')).toMatchObject(text);
  });

  test("has the time of any of its spellings", () => {
    const times = ["1767323045", "1767323045000", "1767323045000000", "1767323045000000000"];
    for (const time of [...times, '"2026-01-02T03:04:05Z"', '"2026-01-02T05:04:05+02:00"'])
      expect(plain.ofNative(`{"message":"m","ts":${time}}`)?.timeMs).toBe(1_767_323_045_000);
  });
});
