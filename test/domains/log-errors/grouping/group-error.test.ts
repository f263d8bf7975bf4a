/** What has the same cause is one group, whatever changes from event to event, and what has another is another. */
import { describe, expect, test } from "bun:test";
import { groupError } from "../../../../src/domains/log-errors/grouping/group-error.ts";
import { TRACES, VARIANTS, type Variant } from "./traces.ts";

function anyVariant(): Variant {
  const [first] = VARIANTS;
  if (first === undefined) throw new Error("there are no variants");
  return first;
}

const ANY = anyVariant();

function groupOf(stack: string, more: { service?: string; message?: string } = {}) {
  const { service = "checkout", message = "request failed" } = more;
  const grouped = groupError({ service, level: "error", message, attrs: { "exception.stacktrace": stack } });
  if (grouped === null) throw new Error("no error");
  return grouped;
}

describe.each(Object.entries(TRACES))("%s", (runtime, trace) => {
  test("twenty events of one fault are one group, known by its calls", () => {
    const groups = VARIANTS.map((variant) => groupOf(trace(variant)));
    expect(new Set(groups.map(({ fingerprint }) => fingerprint)).size).toBe(1);
    expect(new Set(groups.map((group) => `${group.runtime} ${group.by}`))).toEqual(
      new Set([`${runtime} frames`]),
    );
    expect(groups[0]?.culprit.toLowerCase()).toMatch(/charge|card/);
    expect(groups[0]?.message).toContain("declined");
  });

  test("in one line, with other line ends and in the message it is the same one", () => {
    const stack = trace(ANY);
    const { fingerprint } = groupOf(stack);
    const written = [
      groupOf(stack.replaceAll("\n", "\\n")),
      groupOf(stack.replaceAll("\n", "\r\n")),
      groupError({ service: "checkout", level: "error", message: stack, attrs: {} }),
    ];
    expect(written.map((each) => each?.fingerprint)).toEqual([fingerprint, fingerprint, fingerprint]);
  });

  test("another call, and another service, are another one", () => {
    const { fingerprint } = groupOf(trace(ANY));
    for (const other of [
      groupOf(trace(ANY, { call: "refund" })),
      groupOf(trace(ANY), { service: "billing" }),
    ])
      expect(other.fingerprint).not.toBe(fingerprint);
  });
});

/** Pairs that must stay apart, by what tells them apart. */
const APART: readonly (readonly [string, string, string])[] = [
  ...["javascript", "python", "java", "dotnet", "ruby", "php", "elixir"].map(
    (runtime): [string, string, string] => {
      const trace = TRACES[runtime] ?? (() => "");
      return [`${runtime}: another type at the same place`, trace(ANY), trace(ANY, { type: "LimitError" })];
    },
  ),
  ["go: a fatal error and a panic", trace("go"), trace("go", { type: "fatal" })],
  [
    "java: the same wrapper around another cause",
    trace("java"),
    trace("java").replace("payments.Card.charge", "stock.Shelf.take"),
  ],
  [
    "dotnet: the same wrapper around another cause",
    trace("dotnet"),
    trace("dotnet").replace("Payments.Card.Charge", "Stock.Shelf.Take"),
  ],
  [
    "javascript: a method of another class",
    "E: x\n    at Card.run (/app/a.js:1:2)",
    "E: x\n    at Shelf.run (/app/a.js:1:2)",
  ],
  [
    "javascript: a function of the same name in another file",
    "E: x\n    at run (/app/src/a.js:1:2)",
    "E: x\n    at run (/app/src/b.js:1:2)",
  ],
  ["python: another caller of the same helper", python("pay", "helper"), python("refund", "helper")],
  ["python: the same names in another module", python("pay", "run", "a"), python("pay", "run", "b")],
  ["go: another receiver", trace("go"), trace("go").replace("(*Card)", "(*Wallet)")],
  ["rust: another module", trace("rust"), trace("rust").replace("payments::card", "payments::wallet")],
  ["ruby: another file", trace("ruby"), trace("ruby").replaceAll("payments/card.rb", "payments/wallet.rb")],
  ["php: another class", trace("php"), trace("php").replaceAll("Payments\\Card->", "Payments\\Wallet->")],
  [
    "elixir: another module",
    trace("elixir"),
    trace("elixir").replaceAll("Payments.Card", "Payments.Wallet").replaceAll("card.ex", "wallet.ex"),
  ],
  ["two messages without a stack", "could not reach the stock service", "could not write the receipt"],
];

function trace(runtime: string, fault: Parameters<(typeof TRACES)[string]>[1] = {}): string {
  return TRACES[runtime]?.(ANY, fault) ?? "";
}

function python(caller: string, call: string, module = "a"): string {
  return `Traceback (most recent call last):\n  File "/app/shop/main.py", line 3, in ${caller}\n    x()\n  File "/app/shop/${module}.py", line 9, in ${call}\n    y()\nValueError: x`;
}

test("twenty pairs that look alike are apart", () => {
  expect(APART.length).toBeGreaterThanOrEqual(20);
  const together = APART.filter(([, one, other]) => {
    const groups = [one, other].map((text) =>
      text.includes("\n")
        ? groupOf(text)
        : groupError({ service: "a", level: "error", message: text, attrs: {} }),
    );
    return groups[0]?.fingerprint === groups[1]?.fingerprint;
  });
  expect(together.map(([what]) => what)).toEqual([]);
});

test("messages that differ in their values alone are together, with ids in every word too", () => {
  const of = (message: string) =>
    groupError({ service: "a", level: "error", message, attrs: {} })?.fingerprint;
  const groups = VARIANTS.map(({ number, id, hash }) =>
    of(`user ${number} of ${id} has no card ${hash} since 2026-03-04T10:15:${10 + (number % 50)}Z`),
  );
  expect(new Set(groups).size).toBe(1);
});

test("a bundle that a machine wrote is known by its message and not by names that change with each build", () => {
  const of = (name: string, column: number) =>
    groupOf(
      `TypeError: Cannot read properties of undefined (reading 'card')\n    at ${name} (https://shop.example.com/assets/main.${name}3f.min.js:1:${column})`,
    );
  expect(of("a", 40_211).fingerprint).toBe(of("xR", 51_002).fingerprint);
});

test("a megabyte, half a stack and noise are taken as they are, and what is no error is none", () => {
  const long = `CardError: x\n${"    at charge (/app/card.js:1:1)\n".repeat(40_000)}`;
  expect(groupOf(long).by).toBe("frames");
  for (const text of [
    "at ",
    "Traceback (most recent call last):",
    "goroutine 1 [running]:",
    "\0\u2028#0",
    "at x".repeat(9_999),
  ])
    expect(groupOf(text).fingerprint).toHaveLength(32);
  expect(groupError({ service: "a", level: "info", message: trace("java"), attrs: {} })).toBeNull();
});

test("a program that reports another's trace beside its own is known by its own", () => {
  const mixed = `${trace("java")}\n--- from the worker ---\n${python("pay", "run")}`;
  expect(groupOf(mixed).runtime).toBe("java");
});
