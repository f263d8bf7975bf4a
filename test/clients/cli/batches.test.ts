import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { BATCH_MAX_BYTES, BATCH_MAX_ENTRIES, LINE_MAX_BYTES } from "../../../clients/cli/limits.ts";
import { type Batch, readBatches } from "../../../clients/cli/ship/batches.ts";
import type { ByteSource } from "../../../clients/cli/ship/byte-source.ts";
import { NATIVE_INGEST } from "../../../clients/cli/ship/destination.ts";
import { EntryText, type LineFormat } from "../../../clients/cli/ship/entry-text.ts";
import { plainSessions } from "../../../clients/cli/ship/plain-session.ts";
import { type Position, START } from "../../../clients/cli/ship/position.ts";
import { recognisedSessions } from "../../../clients/cli/ship/recognised-session.ts";
import { emptyTally } from "../../../clients/cli/ship/tally.ts";

interface ReadOptions {
  from?: Readonly<Position>;
  maxEntries?: number;
  format?: LineFormat;
  /** Lines are left as they are unless this is set. */
  recognised?: boolean;
  /** Bytes of one read. */
  readBytes?: number;
  sinceMs?: number | null;
}

async function batchesOf(
  input: Uint8Array,
  {
    from = START,
    maxEntries = BATCH_MAX_ENTRIES,
    format = "auto",
    recognised = false,
    readBytes = 1 << 20,
    sinceMs = null,
  }: ReadOptions = {},
): Promise<Batch[]> {
  let at = from.offset;
  const source: ByteSource = {
    read: async (target) => {
      const size = Math.min(readBytes, target.length, input.length - at);
      target.set(input.subarray(at, at + size));
      at += size;
      return size;
    },
  };
  const batches: Batch[] = [];
  const entryText = new EntryText({ service: "s" });
  const openSession = recognised
    ? recognisedSessions("Europe/Berlin", entryText)
    : plainSessions(format, entryText);
  const yearReferenceMs = Date.UTC(2026, 0, 5);
  const options = { source, from, openSession, maxEntries, tally: emptyTally(), sinceMs, yearReferenceMs };
  for await (const batch of readBatches({ ...options, lingerMs: Number.POSITIVE_INFINITY }))
    batches.push(batch);
  return batches;
}

/** A source that gives the first text, and each other one when it is told to go on. */
function restingSource(texts: readonly string[]): { source: ByteSource; goOn: () => void } {
  const released = Promise.withResolvers<void>();
  let reads = 0;
  const read = async (target: Uint8Array): Promise<number> => {
    const text = texts[reads++] ?? "";
    if (reads > 1) await released.promise;
    target.set(Buffer.from(text));
    return Buffer.byteLength(text);
  };
  return { source: { read }, goOn: released.resolve };
}

function bodyOf(batch: Batch | undefined): string {
  return NATIVE_INGEST.bodyOf(batch?.entries ?? []);
}

/** What is sent: the place of a batch, which is its key, and its body. */
function requestsOf(batches: readonly Batch[]): string[] {
  return batches.map(
    ({ start, end, entries }) =>
      `${start.offset}.${start.part}-${end.position.offset}.${end.position.part} ${Bun.hash(NATIVE_INGEST.bodyOf(entries))}`,
  );
}

const line = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom("", "a", "line\r", "日本語", '{"message":"m"}', '{"message":""}') },
  { weight: 1, arbitrary: fc.constantFrom("x".repeat(9000), "é".repeat(30_000)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(1, 2.3).map((times) => "z".repeat(Math.ceil(LINE_MAX_BYTES * times))),
  },
);
const input = fc.array(line, { maxLength: 30 }).map((lines) => Buffer.from(lines.join("\n")));

const head = fc.constantFrom(
  "2026-01-02 03:04:05,678 ERROR [main] com.shop.Cart - cannot pay",
  "Jan  2 03:04:05 web01 sshd[42]: Failed password for root",
  '{"level":50,"time":1700000000000,"name":"api","msg":"late","pid":7}',
  "level=warn msg=slow took=3s",
  "2026-01-02T03:04:05Z stdout P a part of a line ",
);
const follower = fc.constantFrom(
  "java.lang.IllegalStateException: no",
  "\tat com.shop.Cart.pay(Cart.java:7)",
  "\tat com.shop.Cart.pay(Cart.java:7)\n".repeat(1200),
  "Traceback (most recent call last):",
  '  File "a.py", line 1, in <module>',
  "ValueError: no",
  "#Fields: date time cs-method cs-uri-stem sc-status",
  "2026-01-02 03:04:05 GET /cart 502",
  "what nobody recognises",
  "",
);
const recognisable = fc
  .array(fc.oneof({ weight: 5, arbitrary: head }, { weight: 5, arbitrary: follower }, line), {
    maxLength: 40,
  })
  .map((lines) => Buffer.from(lines.join("\n")));

describe("batches", () => {
  test.each([
    ["left as they are", false],
    ["recognised", true],
  ])(
    "of lines that are %s: from the end of any batch on are those the first run made",
    async (_, recognised) => {
      await fc.assert(
        fc.asyncProperty(
          recognised ? recognisable : input,
          fc.integer({ min: 1, max: 7 }),
          fc.integer({ min: 50_000, max: 2_000_000 }),
          async (bytes, maxEntries, readBytes) => {
            const batches = await batchesOf(bytes, { maxEntries, recognised });
            for (const [index, { end }] of batches.entries()) {
              const again = await batchesOf(bytes, { from: end.position, maxEntries, readBytes, recognised });
              expect(requestsOf(again)).toEqual(requestsOf(batches.slice(index + 1)));
            }
          },
        ),
        { numRuns: 25 },
      );
    },
  );

  test("follow one another without a gap and keep the limits of a request", async () => {
    await fc.assert(
      fc.asyncProperty(input, fc.integer({ min: 1, max: 500 }), async (bytes, maxEntries) => {
        let at = 0;
        for (const batch of await batchesOf(bytes, { maxEntries })) {
          const { start, end, isCut } = batch;
          const body = bodyOf(batch);
          expect(start.offset).toBe(at);
          at = end.position.offset;
          expect(isCut).toBe(at === bytes.length);
          const entries: unknown[] = JSON.parse(body);
          expect(entries.length).toBeLessThanOrEqual(maxEntries);
          expect(Buffer.byteLength(body)).toBeLessThanOrEqual(BATCH_MAX_BYTES);
        }
        expect(at).toBe(bytes.length);
      }),
      { numRuns: 40 },
    );
  });

  test("keep a request below its bytes whatever the text is made of", async () => {
    for (const text of ["x", "\u0000", "é", "日", "\u{1f600}", '"']) {
      const lines = `${text.repeat(2000)}\n`.repeat(1000) + text.repeat(100_000);
      for (const batch of await batchesOf(Buffer.from(lines)))
        expect([text, Buffer.byteLength(bodyOf(batch)) <= BATCH_MAX_BYTES]).toEqual([text, true]);
    }
  });

  test("of nothing but empty lines carry no entry, and end where the input does", async () => {
    const [batch, ...others] = await batchesOf(Buffer.from("\n\r\n\n"));
    expect(others).toEqual([]);
    expect(batch).toMatchObject({ entries: [], isCut: true, end: { position: { offset: 4, line: 3 } } });
    expect(batch?.end.tally).toMatchObject({ lines: 0, entries: 0, emptyLines: 3 });
    expect(await batchesOf(Buffer.alloc(0))).toEqual([]);
  });

  test("number the parts of a long line, and mark the last", async () => {
    const bytes = Buffer.from(`first\n${"x".repeat(20_000)}\nlast`);
    const [batch] = await batchesOf(bytes);
    const entries: { message: string; attrs?: object }[] = JSON.parse(bodyOf(batch));
    expect(entries.map(({ message, attrs }) => [message.length, attrs])).toEqual([
      [5, undefined],
      [8192, { _line: 6, _part: 1 }],
      [8192, { _line: 6, _part: 2 }],
      [3616, { _line: 6, _part: 3, _last: true }],
      [4, undefined],
    ]);
    expect(batch?.end.tally).toMatchObject({ lines: 3, entries: 5, splitLines: 1 });
  });

  test("leave out what has an older time of its own, and go on behind it", async () => {
    const times = [1_700_000_000, 1_800_000_000, 1_700_000_001, 1_700_000_002];
    const lines = times.map((ts) => `{"message":"at ${ts}","ts":${ts}}\n`);
    const bytes = Buffer.from(`${lines.slice(0, 3).join("")}no time\n${lines[3]}`);
    const [batch, ...others] = await batchesOf(bytes, { sinceMs: 1_750_000_000_000 });
    expect(others).toEqual([]);
    const entries: { message: string }[] = JSON.parse(bodyOf(batch));
    expect(entries.map(({ message }) => message)).toEqual(["at 1800000000", "no time"]);
    expect(batch?.end).toMatchObject({
      position: { offset: bytes.length },
      tally: { entries: 2, olderEntries: 3 },
    });
  });

  test("give what is complete at a rest, and wait a moment for what belongs to the last entry", async () => {
    const [first, second] = ["2026-01-02 03:04:05 ERROR a", "2026-01-02 03:04:06 ERROR b"];
    const stack = "\tat com.shop.Cart.pay(Cart.java:7)";
    for (const comesInTime of [true, false]) {
      const reads = restingSource([`${first}\n${second}\n`, `${stack}\n`]);
      const batches = readBatches({
        source: reads.source,
        from: START,
        openSession: recognisedSessions("UTC", new EntryText({})),
        maxEntries: 500,
        tally: emptyTally(),
        sinceMs: null,
        yearReferenceMs: 0,
        lingerMs: 0,
      });
      const messagesOf = async (): Promise<string[]> => {
        const { value } = await batches.next();
        return value?.entries.map((entry: string): string => JSON.parse(entry).message) ?? [];
      };
      expect(await messagesOf()).toEqual(["a"]);
      if (comesInTime) {
        reads.goOn();
        expect(await messagesOf()).toEqual([`b\n${stack}`]);
      } else {
        expect(await messagesOf()).toEqual(["b"]);
        reads.goOn();
        expect(await messagesOf()).toEqual([stack]);
      }
      expect(await messagesOf()).toEqual([]);
    }
  });

  test("of ndjson name the line that is none", async () => {
    const bytes = Buffer.from('{"message":"a"}\n\nnot one\n');
    await expect(batchesOf(bytes, { format: "ndjson" })).rejects.toThrow("line 3 is not a log entry");
    const long = Buffer.from(`{"message":"${"m".repeat(LINE_MAX_BYTES)}"}`);
    await expect(batchesOf(long, { format: "ndjson" })).rejects.toThrow("line 1 is not a log entry");
  });
});
