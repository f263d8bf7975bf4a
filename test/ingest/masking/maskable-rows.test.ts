import { expect, test } from "bun:test";
import fc from "fast-check";
import { CommittedBlock } from "../../../ingest/committed-block.ts";
import { NativeFormat } from "../../../ingest/decode/native.ts";
import { LogBatch } from "../../../ingest/log-batch.ts";
import { entryTexts } from "../../../ingest/masking/entry-texts.ts";
import { EntryMasker, type Mask } from "../../../ingest/masking/mask.ts";
import { MaskableRows } from "../../../ingest/masking/maskable-rows.ts";
import { MASK_PATTERN_NAMES } from "../../../ingest/masking/patterns.ts";
import { requestColumns } from "../../../ingest/request-columns.ts";
import { takeBlock } from "../../../ingest/take-block.ts";
import { anyText, nativeEntry } from "../log-entry-arbitrary.ts";

/** What patterns find, what nearly is such a thing, and what stands beside it: digits, dividers, what JSON writes otherwise. */
const PIECES = [
  ...[
    "4111111111111111",
    "4111 1111 1111 1111",
    "3782-822463-10005",
    "4111111111111112",
    "0000000000000000000000004111",
  ],
  ...["1790000000000000000", "12", " ", "-", "7", "00000000000000000000"],
  ...["ann@example.org", "a@b", "@", "jörg@münchen.example", "\\u0040example.org"],
  ...[
    "Bearer abcdefgh12345",
    "basic YWxhZGRpbjo=",
    "sk-aaaaaaaaaaaaaaaaaaaaaaaa",
    "task-force",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIi.x",
  ],
  ...[
    "AKIAIOSFODNN7EXAMPLE",
    "-----BEGIN PRIVATE KEY-----x",
    "password=hunter2",
    "key:1",
    "postgres://app:pw@db/x",
    "X-Api-Key: leak",
    "passWord => [a, b]",
    "amqp://u:p@ss@h",
  ],
  ...[
    '{"user":{"email":"x"},"password":"y"}',
    '{"n":4111111111111111}',
    ' {"user\\u002eid":1}',
    '["a@example.org"]',
    '{"secret":["y"]}',
    '{"password":"cut',
  ],
];
/** Around 32, 45 and 48 to 57 bytes, lengths are what runs of digits are made of. */
const PADDINGS = [0, 5, 14, 16, 29, 30, 31, 32, 33, 40, 41, 42, 43, 120, 130].map((length) =>
  "x".repeat(length),
);
const text = fc
  .array(fc.oneof(fc.constantFrom(...PIECES), fc.constantFrom(...PADDINGS), anyText(6)), { maxLength: 4 })
  .map((pieces) => pieces.join(""));
const KEYS = [
  "user",
  "user.email",
  "password",
  "headers.Api-Key",
  "PassPhrase",
  "n",
  "a b",
  "ann@example.org",
  "id",
];
const entry = fc
  .tuple(
    nativeEntry,
    text,
    fc.dictionary(
      fc.constantFrom(...KEYS),
      fc.oneof(text, fc.record({ email: text }), fc.array(text), fc.double()),
    ),
    fc.option(fc.constantFrom("s", "4111111111111111", "ann@example.org", "a@b")),
  )
  .map(([plain, message, attrs, name]) => ({
    ...plain,
    message: message.slice(0, 4000) || "m",
    attrs: { ...plain.attrs, ...attrs },
    ...(name !== null && { service: name, event_id: name }),
  }));
const mask = fc
  .record({
    fields: fc.array(fc.constantFrom("user", "user.email", "password", "n", "id", "message", "host", "e"), {
      maxLength: 3,
    }),
    patterns: fc.subarray([...MASK_PATTERN_NAMES]),
  })
  .filter(({ fields, patterns }) => fields.length + patterns.length > 0);

function found(masks: readonly Mask[], entries: CommittedBlock | ReturnType<typeof requestColumns>) {
  const looks = new MaskableRows(masks).of(entries);
  let step = looks.next();
  while (step.done !== true) step = looks.next();
  return step.value;
}

test("every entry that a mask would change is found, in a block as in an open batch behind others", () => {
  fc.assert(
    fc.property(
      fc.array(mask, { minLength: 1, maxLength: 4 }),
      fc.array(entry, { minLength: 1, maxLength: 6 }),
      fc.array(entry, { maxLength: 3 }),
      (masks, entries, others) => {
        const format = new NativeFormat();
        const encode = (some: readonly object[]): Uint8Array =>
          new TextEncoder().encode(JSON.stringify(some));
        const batch = new LogBatch();
        if (others.length > 0) {
          batch.beginRequest(2, 1_790_000_000_000);
          format.decode(encode(others), batch, new Set());
          batch.keepRequest();
        }
        batch.beginRequest(1, 1_790_000_000_000);
        format.decode(encode(entries), batch, new Set());
        const open = requestColumns(batch);
        const alone = new LogBatch();
        alone.beginRequest(1, 1_790_000_000_000);
        format.decode(encode(entries), alone, new Set());
        const block = new CommittedBlock(takeBlock(alone));
        for (const columns of [open, block]) {
          const { mayMask, mayMaskAny } = found(masks, columns);
          for (let row = 0; row < columns.rows; row++) {
            const received = entryTexts(columns, row);
            expect(received).toEqual(entryTexts(block, row));
            for (const [i, terms] of masks.entries()) {
              if (new EntryMasker(terms).entry(received) === received) continue;
              expect({ received, terms, mayMask: mayMask(i, row) }).toMatchObject({ mayMask: true });
              expect(mayMaskAny(i)).toBe(true);
            }
          }
        }
      },
    ),
    { numRuns: 400 },
  );
});

test("what looks like a secret from afar is not taken for one", () => {
  const batch = new LogBatch();
  batch.beginRequest(1, 1_790_000_000_000);
  const message =
    "0000000000000000000000004111111111111111 at 1790000000000000000 by git@10.0.0.1, a @ b, task-force, keynote SGML";
  const attrs = { trace_id: "0000000000000000000000001a2b3c4d", n: 4111111111111112 };
  new NativeFormat().decode(new TextEncoder().encode(JSON.stringify([{ message, attrs }])), batch, new Set());
  const patterns = [...MASK_PATTERN_NAMES];
  expect(found([{ fields: ["absent"], patterns }], requestColumns(batch)).mayMaskAny(0)).toBe(false);
});

test("the attributes that a mask names are told in order, each once, whether something else is found in them or not", () => {
  const batch = new LogBatch();
  batch.beginRequest(1, 1_790_000_000_000);
  const entries = [
    { message: "a", attrs: { user: "u", n: 1, password: "x" } },
    { message: "b", attrs: { n: 2 } },
    { message: "c", attrs: { password: "y", n: 3, user: "v" } },
  ];
  new NativeFormat().decode(new TextEncoder().encode(JSON.stringify(entries)), batch, new Set());
  const masks: Mask[] = [
    { fields: ["user", "password"], patterns: ["password"] },
    { fields: ["n"], patterns: [] },
    { fields: ["absent"], patterns: [] },
  ];
  const { namedBy, mayMaskAny, mayMask, isOfTexts } = found(masks, requestColumns(batch));
  expect(masks.map((_, mask) => mayMaskAny(mask))).toEqual([true, true, false]);
  expect(masks.map((_, mask) => namedBy(mask))).toEqual([[0, 2, 4, 6], [1, 3, 5], []]);
  expect(masks.map((_, mask) => [0, 1, 2].map((row) => mayMask(mask, row)))).toEqual([
    [true, false, true],
    [true, true, true],
    [false, false, false],
  ]);
  expect(isOfTexts(1, 1)).toBe(true);
});

test("a card is found wherever in memory it lies, and whatever its groups", () => {
  const numbers = [
    "4111111111111111",
    "4222222222222",
    "3782 822463 10005",
    "4-1-1-1-1-1-1-1-1-1-1-1-1-1-1-1",
  ];
  for (const number of numbers)
    for (let before = 1; before < 24; before++) {
      const batch = new LogBatch();
      batch.beginRequest(1, 1_790_000_000_000);
      const entries = [
        { message: "x".repeat(before) },
        { message: `${"y".repeat(before % 5)}.${number}` },
        { message: "z" },
      ];
      new NativeFormat().decode(new TextEncoder().encode(JSON.stringify(entries)), batch, new Set());
      const { mayMask } = found([{ fields: [], patterns: ["card"] }], requestColumns(batch));
      expect([0, 1, 2].map((row) => mayMask(0, row))).toEqual([false, true, false]);
    }
});
