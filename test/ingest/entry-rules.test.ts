import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { appendEntries, UNCHANGED } from "../../ingest/append-entries.ts";
import { CommittedBlock } from "../../ingest/committed-block.ts";
import { NativeFormat } from "../../ingest/decode/native.ts";
import { type EntryAction, type EntryRule, EntryRules } from "../../ingest/entry-rules.ts";
import { LogBatch } from "../../ingest/log-batch.ts";
import { type EntryTexts, entryTexts } from "../../ingest/masking/entry-texts.ts";
import { EntryMasker } from "../../ingest/masking/mask.ts";
import { BlockReader } from "../../ingest/native/block-reader.ts";
import { takeBlock } from "../../ingest/take-block.ts";
import { type NativeEntry, nativeEntry } from "./log-entry-arbitrary.ts";

const format = new NativeFormat();

function blockOf(entries: readonly NativeEntry[]): Uint8Array {
  const batch = new LogBatch();
  batch.beginRequest(1, 1_790_000_000_000);
  if (entries.length > 0) format.decode(new TextEncoder().encode(JSON.stringify(entries)), batch, new Set());
  return takeBlock(batch);
}

function entriesOf(bytes: Uint8Array): EntryTexts[] {
  if (new BlockReader(bytes).rows === 0) return [];
  const block = new CommittedBlock(bytes);
  return Array.from({ length: block.rows }, (_, row) => entryTexts(block, row));
}

const forAll: EntryRule["rowsOf"] = () => ({ candidates: null, isFor: () => true });
const forMessage =
  (message: string): EntryRule["rowsOf"] =>
  (block) => ({ candidates: null, isFor: (row) => block.messageText(row) === message });

function judged(entries: readonly NativeEntry[], rules: readonly EntryRule[], random = () => 0.5) {
  const received = new CommittedBlock(blockOf(entries));
  const steps = new EntryRules({ rules, applied: () => {}, random }).judge(received);
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  const { dropped, outcomes, ...changed } = step.value;
  const batch = new LogBatch();
  batch.beginRequest(1, 1_790_000_000_000);
  appendEntries(batch, received, dropped, changed);
  return { dropped: dropped.size, changed, outcomes, entries: entriesOf(takeBlock(batch)) };
}

const mask = (fields: readonly string[], patterns: readonly "email"[] = []): EntryAction => ({
  kind: "mask",
  fields,
  patterns,
});

describe("entries before they are stored", () => {
  test("the first rule that drops an entry ends its way, and counts it", () => {
    const { entries, dropped, outcomes } = judged(
      [{ message: "a" }, { message: "b" }, { message: "c" }],
      [
        { action: mask(["message"]), rowsOf: forMessage("b") },
        { action: { kind: "drop" }, rowsOf: forMessage("b") },
        { action: { kind: "drop" }, rowsOf: forAll },
      ],
    );
    expect(entries).toEqual([]);
    expect(dropped).toBe(3);
    expect(outcomes).toEqual([
      { rule: 1, dropped: 1, masked: 0 },
      { rule: 2, dropped: 2, masked: 0 },
    ]);
  });

  test("a rule is asked about the entry as it was received, whatever a rule before it masked", () => {
    const { entries } = judged(
      [{ message: "a", service: "s" }],
      [
        { action: mask(["message"]), rowsOf: forAll },
        { action: mask(["service"]), rowsOf: forMessage("a") },
      ],
    );
    expect(entries).toMatchObject([{ message: "[masked]", service: "[masked]" }]);
  });

  test("one in so many is kept by a sample, each by its own chance", () => {
    const chances = [0, 0.24, 0.25, 0.99];
    const { entries, outcomes } = judged(
      chances.map((chance) => ({ message: `m${chance}` })),
      [{ action: { kind: "sample", keepOneIn: 4 }, rowsOf: forAll }],
      () => chances.shift() ?? 1,
    );
    expect(entries.map(({ message }) => message)).toEqual(["m0", "m0.24"]);
    expect(outcomes).toEqual([{ rule: 0, dropped: 2, masked: 0 }]);
  });

  test("what no rule is for stays as it is", () => {
    const { dropped, changed, outcomes } = judged(
      [{ message: "a" }],
      [{ action: mask([], ["email"]), rowsOf: forAll }],
    );
    expect({ dropped, changed, outcomes }).toEqual({ dropped: 0, changed: UNCHANGED, outcomes: [] });
  });

  test("any mask of any entries changes these texts only, and keeps the others where they were", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(nativeEntry, fc.constantFrom("keep", "drop", "mask")), {
          minLength: 1,
          maxLength: 12,
        }),
        (fates) => {
          const entries = fates.map(([entry, fate], i) => ({
            ...entry,
            host: `${fate} ${i}`,
            attrs: { ...entry.attrs, mail: `to a${i}@example.org`, deep: { list: [`b${i}@example.org`, i] } },
          }));
          const hostBegins =
            (word: string): EntryRule["rowsOf"] =>
            (block) => ({
              candidates: null,
              isFor: (row) => entryTexts(block, row).host.startsWith(word),
            });
          const action = mask(["message", "deep.list"], ["email"]);
          const { entries: left } = judged(entries, [
            { action: { kind: "drop" }, rowsOf: hostBegins("drop") },
            { action, rowsOf: hostBegins("mask") },
          ]);
          if (action.kind !== "mask") throw new TypeError("not a mask");
          const masker = new EntryMasker(action);
          const expected = entriesOf(blockOf(entries))
            .filter(({ host }) => !host.startsWith("drop"))
            .map((entry) => (entry.host.startsWith("mask") ? masker.entry(entry) : entry));
          expect(left).toEqual(expected);
          for (const { host, message } of left) expect(message === "[masked]").toBe(host.startsWith("mask"));
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe("several masks together", () => {
  const KEYS = ["user", "password", "n", "ann@example.org"];
  const value = fc.oneof(
    fc.constantFrom("[masked]", "", "ann@example.org", "hunter2", "\u00e4"),
    fc.record({ email: fc.constant("ann@example.org") }),
    fc.integer(),
    fc.constant(null),
  );
  const maskOf = fc
    .record({
      fields: fc.subarray(["user", "user.email", "password", "n", "message", "absent"]),
      patterns: fc.subarray(["email", "password"] as const),
    })
    .filter(({ fields, patterns }) => fields.length + patterns.length > 0);
  const hostHas =
    (letter: string): EntryRule["rowsOf"] =>
    (block) => ({ candidates: null, isFor: (row) => entryTexts(block, row).host.includes(letter) });

  test("hide what each by itself would hide one after the other, and count what each of them changed", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            message: fc.constantFrom("m", '{"user":"x","n":1}', "to ann@example.org", "password=x"),
            host: fc.subarray(["a", "b", "c", "drop"]).map((words) => words.join(" ")),
            attrs: fc.dictionary(fc.constantFrom(...KEYS), value),
          }),
          { minLength: 1, maxLength: 8 },
        ),
        fc.tuple(maskOf, maskOf, maskOf),
        (entries, masks) => {
          const rules = [
            { action: { kind: "drop" as const }, rowsOf: hostHas("drop") },
            ...masks.map((terms, i) => ({
              action: { kind: "mask" as const, ...terms },
              rowsOf: hostHas("abc".charAt(i)),
            })),
          ];
          const counts = rules.map((_, rule) => ({ rule, dropped: 0, masked: 0 }));
          const expected = entriesOf(blockOf(entries)).flatMap((received) => {
            if (received.host.includes("drop")) {
              count(counts, 0, "dropped");
              return [];
            }
            const masked = masks.reduce((entry, terms, i) => {
              if (!received.host.includes("abc".charAt(i))) return entry;
              const next = new EntryMasker(terms).entry(entry);
              if (next !== entry) count(counts, i + 1, "masked");
              return next;
            }, received);
            return [masked];
          });
          const { entries: left, outcomes } = judged(entries, rules);
          expect(left).toEqual(expected);
          expect(outcomes).toEqual(counts.filter(({ dropped, masked }) => dropped + masked > 0));
        },
      ),
      { numRuns: 150 },
    );
  });

  function count(
    counts: readonly { dropped: number; masked: number }[],
    rule: number,
    outcome: "dropped" | "masked",
  ): void {
    const counted = counts[rule];
    if (counted !== undefined) counted[outcome]++;
  }
});

describe("a mask", () => {
  const entry: EntryTexts = {
    message: "m",
    service: "shop",
    source: "",
    host: "",
    traceId: "0af7651916cd43dd8448eb211c80319c",
    spanId: "",
    event_id: "order ann@example.org",
    attributes: [
      {
        key: "user",
        text: '{"email":"ann@example.org","n":12345678901234567890,"tags":["a@example.org"]}',
        isJson: true,
      },
      { key: "count", text: "4111111111111111", isJson: true },
      { key: "nothing", text: "", isJson: true },
      { key: "ann@example.org", text: "x", isJson: false },
    ],
  };

  test("finds members by their path, keeps the digits of numbers, and the form of JSON", () => {
    const { attributes } = new EntryMasker({ fields: ["user.email"], patterns: ["card"] }).entry(entry);
    expect(attributes).toEqual([
      {
        key: "user",
        text: '{"email":"[masked]","n":12345678901234567890,"tags":["a@example.org"]}',
        isJson: true,
      },
      { key: "count", text: "[card]", isJson: false },
      { key: "nothing", text: "", isJson: true },
      { key: "ann@example.org", text: "x", isJson: false },
    ]);
  });

  test("looks into the names of attributes, and leaves ids that differ different", () => {
    const masker = new EntryMasker({ fields: ["traceId"], patterns: ["email"] });
    const masked = masker.entry(entry);
    expect(JSON.stringify(masked)).not.toContain("example.org");
    expect(masked.traceId).toBe("");
    expect(masked.event_id).toStartWith("[masked]");
    expect(masker.entry({ ...entry, event_id: "order eve@example.org" }).event_id).not.toBe(masked.event_id);
    expect(masker.entry(entry).event_id).toBe(masked.event_id);
  });

  test("answers the entry itself when there is nothing in it to mask", () => {
    expect(new EntryMasker({ fields: ["absent"], patterns: ["key"] }).entry(entry)).toBe(entry);
  });
});

test("a replaced entry stands in its place, its times and its level as they were", () => {
  const block = blockOf([
    { message: "a", level: "warn", ts: "2026-01-01T00:00:00.123456789Z" },
    { message: "b" },
  ]);
  const [first] = entriesOf(block);
  if (first === undefined) throw new TypeError("no entry");
  const batch = new LogBatch();
  batch.beginRequest(7, 1_790_000_000_000);
  appendEntries(batch, new CommittedBlock(block), new Set(), {
    ...UNCHANGED,
    replaced: new Map([[0, { ...first, message: "c" }]]),
  });
  const copy = new CommittedBlock(takeBlock(batch));
  expect([copy.messageText(0), copy.level(0), copy.ts(0)]).toEqual([
    "c",
    "warn",
    BigInt(Date.UTC(2026, 0, 1)) * 1_000_000n + 123_456_789n,
  ]);
  expect(copy.messageText(1)).toBe("b");
});
