/** Entries put together from the bytes of a batch against those made of the values that the store answers. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { CommittedBlock, indexedText } from "../../../../ingest/index.ts";
import { encodeEntry } from "../../../../src/domains/logs/entry-json.ts";
import { EntryEncoder } from "../../../../src/receive/entry-encoder.ts";
import { committedBatch } from "./committed-batch.ts";

/** The row in the wire formats of `ENTRY_COLUMNS`, as the store would answer it. */
function wireRowOf(block: CommittedBlock, row: number): readonly unknown[] {
  return [
    block.id(row).toString(),
    block.ts(row).toString(),
    (block.receivedAt(row) * 1_000_000n).toString(),
    block.level(row),
    indexedText(block.service, row),
    indexedText(block.source, row),
    indexedText(block.host, row),
    block.messageText(row),
    block.eventId(row),
    block.traceId(row),
    block.spanId(row),
    block.attributes(row),
  ];
}

function expectSame(entries: readonly object[]): void {
  const block = new CommittedBlock(committedBatch(1, entries).block);
  const encoder = new EntryEncoder(block);
  for (let row = 0; row < block.rows; row++) {
    const text = encoder.encode(row);
    expect(text).toBe(encodeEntry(wireRowOf(block, row)));
    expect(() => JSON.parse(text)).not.toThrow();
  }
}

const CHARACTERS = [...'ab Z09"\\/\b\f\n\r\t\u0000\u001f\u007f\u0080é\u2028ß磁😀\ufeff\ufffd'];
const text = fc.string({ unit: fc.constantFrom(...CHARACTERS), maxLength: 20 });
const name = fc.string({ unit: fc.constantFrom(...CHARACTERS), minLength: 1, maxLength: 8 });
const value = fc.oneof(
  text,
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.jsonValue(),
);
const MIN_NS = -2_208_988_800n * 1_000_000_000n;
const MAX_NS = 9_223_286_399n * 1_000_000_000n;
const time = fc.bigInt({ min: MIN_NS, max: MAX_NS }).chain((ns) =>
  fc.constantFrom(1n, 1_000n, 1_000_000n).map((unit) => {
    const rounded = ns - (((ns % unit) + unit) % unit);
    const rest = ((rounded % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
    const whole = new Date(Number((rounded - rest) / 1_000_000n)).toISOString().slice(0, -5);
    return `${whole}.${rest.toString().padStart(9, "0")}Z`;
  }),
);
const entry = fc.record(
  {
    ts: time,
    message: text,
    level: fc.constantFrom("trace", "debug", "info", "warn", "error", "fatal"),
    service: name,
    source: name,
    host: name,
    event_id: fc.uuid(),
    attrs: fc.dictionary(name, value, { maxKeys: 6 }),
  },
  { requiredKeys: ["message"] },
);

test("are the same texts, for any entries", () => {
  fc.assert(
    fc.property(fc.array(entry, { minLength: 1, maxLength: 8 }), (entries) => {
      expectSame(entries.map((one) => ({ ...one, message: `${one.message}.` })));
    }),
    { numRuns: 500 },
  );
});

test("are the same texts for the longest entries", () => {
  const wide = Object.fromEntries(Array.from({ length: 256 }, (_, i) => [`key ${i}`, "\u0001".repeat(600)]));
  expectSame([
    { message: "\u0001".repeat(8192), attrs: wide },
    { message: "short" },
    { message: "x".repeat(8192), attrs: { nested: { deep: [1, "two", null] } } },
  ]);
});
