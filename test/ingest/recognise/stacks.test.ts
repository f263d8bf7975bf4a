import { describe, expect, test } from "bun:test";
import { JOINED_MAX_CHARS, JOINED_MAX_LINES } from "../../../ingest/recognise/limits.ts";
import { entriesOf, messagesOf } from "./entries.ts";

/** Lines whose second and later ones belong to the first. */
const STACKS: readonly (readonly [name: string, lines: readonly string[]])[] = [
  [
    "Java",
    [
      "2026-01-02 03:04:05,678 ERROR [main] a.b.C: cannot open",
      "java.io.IOException: no such file",
      "\tat a.b.C.open(C.java:42)",
      "\tat a.b.C.main(C.java:7)",
      "Caused by: java.lang.NullPointerException: x",
      "\tat a.b.D.close(D.java:1)",
      "\t... 12 more",
    ],
  ],
  [
    "Python, logged",
    [
      "2026-01-02 03:04:05,678 - billing - ERROR - cannot open",
      "Traceback (most recent call last):",
      '  File "/srv/a.py", line 3, in <module>',
      "    open(1)",
      "KeyError: 'a'",
      "",
      "During handling of the above exception, another exception occurred:",
      "",
      "Traceback (most recent call last):",
      '  File "/srv/a.py", line 5, in <module>',
      "billing.Broken: b",
    ],
  ],
  [
    "Python, by itself",
    [
      "Traceback (most recent call last):",
      '  File "/srv/a.py", line 3, in <module>',
      "    open(1)",
      "billing.Broken",
    ],
  ],
  [
    "Go",
    [
      "panic: runtime error: index out of range [3] with length 3",
      "",
      "goroutine 1 [running]:",
      "main.main()",
      "\t/srv/main.go:8 +0x1d",
      "created by main.start in goroutine 7",
      "\t/srv/main.go:3 +0x2",
      "exit status 2",
    ],
  ],
  ["Node", ["Error: broken", "    at open (/srv/a.js:3:1)", "    at node:internal/main:1:1"]],
  [
    ".NET",
    [
      "fail: Shop.Ledger[0]",
      "      cannot open",
      "      System.IO.IOException: no such file",
      "         at Shop.Ledger.Open() in /srv/Ledger.cs:line 3",
      "         --- End of inner exception stack trace ---",
    ],
  ],
  [
    "Ruby",
    [
      "E, [2026-01-02T03:04:05.123456 #1] ERROR -- billing: broken (RuntimeError)",
      "\tfrom a.rb:3:in `open'",
      "\tfrom a.rb:7:in `<main>'",
    ],
  ],
  ["an indented text", ["2026-01-02 03:04:05 INFO settings:", "  a: 1", "  b: 2"]],
  ["an object over several lines", ["[WARN] settings {", '  "a": 1', "}"]],
];

describe("a stack is one entry with its head", () => {
  test.each([...STACKS])("%s", (_name, lines) => {
    const next = "2026-01-02 03:04:06 INFO next";
    const [entry, ...others] = entriesOf(`${lines.join("\n")}\n${next}\n`);
    expect(others.map(({ message }) => message)).toEqual(["next"]);
    // The head's own prefix is gone from the first line, nothing of the others.
    for (const line of lines.slice(1)) expect(entry?.message).toContain(line.trim());
    expect(entry?.end).toBe(Buffer.byteLength(lines.join("\n")) + 1);
  });

  test("inside the lines of a container, too, and of each of its streams by itself", () => {
    const cri = (stream: string, text: string): string => `2026-01-02T03:04:05Z ${stream} F ${text}`;
    const text = [
      cri("stderr", "ERROR: cannot open"),
      cri("stderr", "java.io.IOException: x"),
      cri("stderr", "\tat a.b.C.open(C.java:42)"),
      cri("stdout", "\tat the door"),
    ].join("\n");
    expect(messagesOf(text)).toEqual([
      "cannot open\njava.io.IOException: x\n\tat a.b.C.open(C.java:42)",
      "\tat the door",
    ]);
  });
});

describe("what was cut is put together", () => {
  test("parts of a line of a container", () => {
    const text = ["P one ", "P two ", "F three", "F four"].map(
      (part) => `2026-01-02T03:04:05Z stdout ${part}`,
    );
    expect(messagesOf(text.join("\n"))).toEqual(["one two three", "four"]);
  });

  test("parts of a line of Docker", () => {
    const line = (log: string): string =>
      JSON.stringify({ log, stream: "stdout", time: "2026-01-02T03:04:05Z" });
    expect(messagesOf([line("one "), line("two\n"), line("three\n")].join("\n"))).toEqual([
      "one two",
      "three",
    ]);
  });

  test("a message below its head", () => {
    const [first, second, ...others] = entriesOf(
      "Jan 02, 2026 3:04:05 PM org.example.Ledger open\nSEVERE: cannot open\n\tat a.b.C(D.java:1)\nJan 02, 2026 3:04:06 PM org.example.Ledger open\nINFO: open\n",
    );
    expect([first?.level, first?.message]).toEqual(["error", "cannot open\n\tat a.b.C(D.java:1)"]);
    expect([second?.level, second?.message, others]).toEqual(["info", "open", []]);
  });
});

describe("a line stands by itself", () => {
  test("when nothing was recognised above it", () => {
    expect(messagesOf("one\ntwo\n  three\n")).toEqual(["one", "two", "  three"]);
  });

  test("behind a line of data, unless it is a frame", () => {
    expect(messagesOf('{"level":"info","msg":"a"}\n  > vite\n')).toEqual(["a", "  > vite"]);
    expect(messagesOf('{"level":"error","msg":"a"}\n    at open (/srv/a.js:3:1)\n')).toEqual([
      "a\n    at open (/srv/a.js:3:1)",
    ]);
  });

  test("behind a head with a time, unless they came one after the other", () => {
    const head = (n: number): string => `2026-01-02 03:04:0${n} INFO ${n}`;
    expect(messagesOf([head(1), "more"].join("\n"))).toEqual(["1", "more"]);
    expect(messagesOf([head(1), head(2), head(3), "SELECT *", "FROM a", head(4)].join("\n"))).toEqual([
      "1",
      "2",
      "3\nSELECT *\nFROM a",
      "4",
    ]);
  });
});

describe("what never ends is bounded", () => {
  test("a stack goes on in entries of the same head", () => {
    const frame = `\tat ${"x".repeat(200)}`;
    const lines = ["2026-01-02 03:04:05 ERROR a.b.C: broken", ...Array.from({ length: 200 }, () => frame)];
    const entries = entriesOf(`${lines.join("\n")}\n`);
    expect(entries.length).toBeGreaterThan(3);
    expect(entries.every(({ message }) => message.length <= JOINED_MAX_CHARS)).toBe(true);
    expect(new Set(entries.map(({ level, time }) => `${level} ${time?.seconds}`)).size).toBe(1);
    expect(entries.map(({ attributes }) => attributes.get("_part"))).toEqual([
      undefined,
      ...entries.slice(1).map((_, i) => i + 2),
    ]);
    expect(entries.map(({ message }) => message).join("\n")).toBe(["broken", ...lines.slice(1)].join("\n"));
  });

  test("and so do lines without an end of short ones", () => {
    const lines = Array.from({ length: JOINED_MAX_LINES * 2 }, () => " x");
    const entries = entriesOf(`[WARN] a\n${lines.join("\n")}`);
    expect(entries.length).toBeGreaterThan(1);
    expect(entries.map(({ message }) => message).join("\n")).toBe(["a", ...lines].join("\n"));
  });
});
