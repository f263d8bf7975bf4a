import { describe, expect, test } from "bun:test";
import { ACCESS_LINES } from "./corpus/access-lines.ts";
import { DATA_LINES } from "./corpus/data-lines.ts";
import { PLAIN_LINES } from "./corpus/plain-lines.ts";
import { PRODUCT_LINES } from "./corpus/product-lines.ts";
import { SYSLOG_LINES } from "./corpus/syslog-lines.ts";
import { TEXT_LINES } from "./corpus/text-lines.ts";
import { read } from "./line-case.ts";

describe("a line says", () => {
  test.each([...TEXT_LINES, ...PRODUCT_LINES, ...SYSLOG_LINES, ...ACCESS_LINES, ...DATA_LINES])(
    "%s",
    (line, said) => {
      expect(read(line)).toEqual(said);
    },
  );
});

describe("nothing is made up for", () => {
  test.each([...PLAIN_LINES])("%s", (line) => {
    expect(read(line)).toBeNull();
  });

  test("a sentence with a time and a word for a level in it", () => {
    for (const line of [
      "2026-01-02 03:04:05 Error while reading",
      "2026-01-02 03:04:05 ALL tests passed",
      "2026-01-02 03:04:05 NOTE that this is text",
    ])
      expect([read(line)?.level, read(line)?.message]).toEqual([undefined, line.slice(20)]);
  });
});

describe("lines that only look like one another", () => {
  test("a path may have columns of anything behind it", () => {
    expect(read("see /var/log/app.log 2026-01-02 03:04:05 for more")).toBeNull();
  });

  test("a wrapping may hold a wrapping, and an end is put to it", () => {
    let line = "deep";
    for (let i = 0; i < 20; i++) line = `2026-01-02T03:04:05Z stdout F ${line}`;
    expect(read(line)?.attributes).toEqual({ "log.iostream": "stdout" });
  });

  test("words of any length are read in no time", () => {
    for (const line of [
      `2026-01-02 03:04:05 INFO ${"a-".repeat(50_000)}!`,
      `2026-01-02 03:04:05 INFO [${"[x]".repeat(30_000)}`,
      `${"a=b ".repeat(50_000)}level="`,
      `1.2.3.4 - - [${" ".repeat(100_000)}`,
      `{${"[".repeat(100_000)}`,
      `${"x ".repeat(50_000)}[10/Oct/2000:13:55:36 -0700] "`,
    ])
      expect(() => read(line)).not.toThrow();
  });
});
