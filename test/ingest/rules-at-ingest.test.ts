import { afterAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { CommittedBlock } from "../../ingest/committed-block.ts";
import { NativeFormat } from "../../ingest/decode/native.ts";
import { blockOf } from "../../ingest/entry-record.ts";
import { type EntryRule, EntryRules } from "../../ingest/entry-rules.ts";
import { takeSlice } from "../../ingest/entry-slice.ts";
import { openIngest } from "../../ingest/ingest.ts";
import { LogBatch } from "../../ingest/log-batch.ts";
import { entryTexts } from "../../ingest/masking/entry-texts.ts";
import { RequestCopy } from "../../ingest/request-columns.ts";
import { asRuled } from "../../ingest/request-entries.ts";
import { ruledSlices } from "../../ingest/rewrite-slice.ts";
import { takeBlock } from "../../ingest/take-block.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";
import { SILENT_OBSERVER } from "./silent-observer.ts";

const directory = temporaryDirectory();
afterAll(() => directory[Symbol.dispose]());

test("names that are masked or dropped are not among those of the batch either", async () => {
  const secret = "ann@example.org";
  const entries = [
    { message: "a", service: secret, host: secret, source: secret, attrs: { [secret]: { x: 1 } } },
    { message: "drop", service: `dropped ${secret}` },
    { message: "b", service: "kept" },
  ];
  const body = new TextEncoder().encode(JSON.stringify(entries));
  const format = new NativeFormat();
  const rules = new EntryRules({
    rules: [
      {
        action: { kind: "drop" },
        rowsOf: (block) => ({ candidates: [1], isFor: (row) => block.messageText(row) === "drop" }),
      },
      {
        action: { kind: "mask", fields: [], patterns: ["email"] },
        rowsOf: () => ({ candidates: null, isFor: () => true }),
      },
    ],
    random: Math.random,
    applied: () => {},
  });
  const request = {
    organizationId: 1,
    format: "native",
    bytes: body.length,
    keys: null,
    decode: (batch: LogBatch, skip: ReadonlySet<number>) => format.decode(body, batch, skip),
  };
  const alone = new LogBatch();
  alone.beginRequest(1, 0);
  format.decode(body, alone, new Set());
  const owner = { organizationId: 1, keys: null };
  const { slices } = await ruledSlices([takeSlice(alone, owner)], owner, rules, new LogBatch());
  const small = new LogBatch();
  small.beginRequest(1, 0);
  asRuled(request, rules, new RequestCopy()).append(small, new Set());
  for (const bytes of [takeBlock(small), ...slices.map((slice) => slice.bytes)]) {
    expect(Buffer.from(bytes).includes("kept")).toBe(true);
    expect(Buffer.from(bytes).includes(secret)).toBe(false);
  }
});

test("attributes that are hidden by their names alone are so in a batch that others share, and in a slice", async () => {
  const format = new NativeFormat();
  const bodyOf = (entries: readonly object[]): Uint8Array =>
    new TextEncoder().encode(JSON.stringify(entries));
  const body = bodyOf([
    { message: "a", attrs: { before: "kept 1", user: "hunter2", after: "kept 2" } },
    { message: "b", attrs: { user: "hunter2" } },
    { message: "c", attrs: { before: "kept 3" } },
  ]);
  const rules = new EntryRules({
    rules: [
      {
        action: { kind: "mask", fields: ["user"], patterns: [] },
        rowsOf: () => ({ candidates: null, isFor: () => true }),
      },
    ],
    random: Math.random,
    applied: () => {},
  });
  const shared = new LogBatch();
  for (const entries of [bodyOf([{ message: "of others", attrs: { user: "theirs" } }]), body]) {
    shared.beginRequest(1, 0);
    const decode = (batch: LogBatch, skip: ReadonlySet<number>) => format.decode(entries, batch, skip);
    const request = { organizationId: 1, format: "native", bytes: entries.length, keys: null, decode };
    if (entries === body) asRuled(request, rules, new RequestCopy()).append(shared, new Set());
    else decode(shared, new Set());
    shared.keepRequest();
  }
  const alone = new LogBatch();
  alone.beginRequest(1, 0);
  format.decode(body, alone, new Set());
  const owner = { organizationId: 1, keys: null };
  const { slices } = await ruledSlices([takeSlice(alone, owner)], owner, rules, new LogBatch());
  const masked = [
    { before: "kept 1", user: "[masked]", after: "kept 2" },
    { user: "[masked]" },
    { before: "kept 3" },
  ];
  const small = takeBlock(shared);
  expect(attributesOf(small)).toEqual([{ user: "theirs" }, ...masked]);
  expect(slices.flatMap((slice) => attributesOf(blockOf(slice)))).toEqual(masked);
  for (const bytes of [small, ...slices.map((slice) => slice.bytes)])
    expect(Buffer.from(bytes).includes("hunter2")).toBe(false);
});

test("whatever of a request is masked or dropped, it is stored in a shared batch as it is by itself", async () => {
  const format = new NativeFormat();
  const drop: EntryRule = {
    action: { kind: "drop" },
    rowsOf: (block) => ({ candidates: null, isFor: (row) => block.messageText(row) === "dropped" }),
  };
  const mask: EntryRule = {
    action: { kind: "mask", fields: ["user"], patterns: ["email", "card"] },
    rowsOf: () => ({ candidates: null, isFor: () => true }),
  };
  const [dropping, masking] = [[drop], [drop, mask]].map(
    (rules) => new EntryRules({ rules, random: Math.random, applied: () => {} }),
  );
  const owner = { organizationId: 1, keys: null };
  const text = fc.constantFrom("kept", "to ann@example.org", "4111 1111 1111 1111", "é");
  const entries = fc.array(
    fc.record(
      {
        message: fc.oneof(text, fc.constant("dropped")),
        ts: fc.constantFrom("2026-01-01T00:00:00Z", "2026-01-02T00:00:00.000000001Z"),
        host: fc.constantFrom("web-1", "web-2"),
        event_id: fc.constantFrom("e1", "e2"),
        level: fc.constantFrom("info", "error"),
        service: fc.oneof({ weight: 9, arbitrary: fc.constant("kept") }, text),
        attrs: fc.dictionary(
          fc.constantFrom("a", "b", "c", "d", "user", "ann@example.org"),
          fc.oneof(
            { weight: 9, arbitrary: text },
            fc.constant(""),
            fc.integer(),
            fc.constant(4111111111111111),
            fc.record({ user: text }),
          ),
        ),
      },
      { requiredKeys: ["message"] },
    ),
    { minLength: 1, maxLength: 6 },
  );
  await fc.assert(
    fc.asyncProperty(entries, fc.boolean(), fc.nat(6), async (entries, isMasked, known) => {
      const rules = isMasked ? masking : dropping;
      if (rules === undefined) throw new Error("no rules");
      const bodyOf = (some: readonly object[]) => new TextEncoder().encode(JSON.stringify(some));
      const body = bodyOf(entries);
      const decode = (batch: LogBatch, skip: ReadonlySet<number>) => format.decode(body, batch, skip);
      const [shared, alone] = [new LogBatch(), new LogBatch()];
      // Some of the names are known to the batch, others are not.
      const others = entries.slice(0, known);
      const receiveOthers = (batch: LogBatch): void => {
        batch.beginRequest(1, 0);
        format.decode(bodyOf([{ message: "others" }, ...others]), batch, new Set());
        batch.keepRequest();
      };
      // What was taken back is still in the memory of the column.
      shared.beginRequest(1, 0);
      shared.traceId.append("0af7651916cd43dd8448eb211c80319c");
      shared.rewindRequest();
      receiveOthers(shared);
      shared.beginRequest(1, 0);
      const request = { organizationId: 1, format: "native", bytes: body.length, keys: null, decode };
      const ruled = asRuled(request, rules, new RequestCopy());
      ruled.append(shared, new Set());
      shared.keepRequest();
      // What is appended behind it goes on to be right.
      receiveOthers(shared);
      receiveOthers(alone);
      const around = entriesOf(takeBlock(alone));
      alone.beginRequest(1, 0);
      decode(alone, new Set());
      const { slices, dropped } = await ruledSlices([takeSlice(alone, owner)], owner, rules, new LogBatch());
      const stored = slices.flatMap((slice) => entriesOf(blockOf(slice)));
      expect(ruled.dropped).toBe(dropped);
      const block = takeBlock(shared);
      expect(entriesOf(block)).toEqual([...around, ...stored, ...around]);
      for (const { texts, indexes } of namesOf(block))
        expect([...texts.keys()].slice(1).filter((name) => !Array.from(indexes).includes(name))).toEqual([]);
      expect(JSON.stringify(stored)).not.toMatch(isMasked ? /ann@example|4111|dropped/ : /dropped/);
    }),
    { numRuns: 300 },
  );
});

/** The names of a block; the first of them is the empty one. */
function namesOf(bytes: Uint8Array) {
  const { service, source, host, details } = new CommittedBlock(bytes);
  return [service, source, host, details.attrs.keys, details.attrJsonKeys.elements];
}

function entriesOf(bytes: Uint8Array): object[] {
  const block = new CommittedBlock(bytes);
  return Array.from({ length: block.rows }, (_, row) => ({
    ...entryTexts(block, row),
    level: block.levelBytes[row],
    ts: Buffer.from(block.tsBytes).toString("hex", row * 8, row * 8 + 8),
  }));
}

function attributesOf(bytes: Uint8Array): Record<string, string>[] {
  const block = new CommittedBlock(bytes);
  return Array.from({ length: block.rows }, (_, row) => {
    const [keys, texts] = block.attributes(row);
    return Object.fromEntries(keys.map((key, i) => [key, texts[i] ?? ""]));
  });
}

test("of a request of which events were stored before, what rules drop stays away and what they mask stays masked", async () => {
  const stored: string[] = [];
  const counted: unknown[] = [];
  const rules = new EntryRules({
    rules: [
      {
        action: { kind: "drop" },
        rowsOf: (block) => ({ candidates: null, isFor: (row) => block.messageText(row).startsWith("drop") }),
      },
      {
        action: { kind: "mask", fields: [], patterns: ["card"] },
        rowsOf: () => ({ candidates: null, isFor: () => true }),
      },
    ],
    random: Math.random,
    applied: (outcomes) => counted.push(...outcomes),
  });
  const ingest = await openIngest({
    directory: directory.path,
    store: { insert: () => Promise.resolve(), find: async () => new Map() },
    observer: SILENT_OBSERVER,
    instance: 1,
    walMaxBytes: 2 ** 20,
    maxInFlightBytes: 2 ** 20,
    dedupeWindowMs: 60_000,
    dedupeMaxKeys: 1000,
    now: Date.now,
    rulesOf: (organizationId) => (organizationId === 1 ? rules : null),
    committed: {
      committed: ({ block }) => {
        const entries = new CommittedBlock(block);
        for (let row = 0; row < entries.rows; row++) stored.push(entries.messageText(row));
      },
    },
    onFatal: (error) => {
      throw error;
    },
  });
  const format = new NativeFormat();
  const send = (organizationId: number, messages: readonly string[]) => {
    const entries = messages.map((message) => ({ message, event_id: message.split(" ")[1] ?? "" }));
    const body = new TextEncoder().encode(JSON.stringify(entries));
    return ingest.ingest({
      organizationId,
      format: "native",
      bytes: body.length,
      keys: null,
      decode: (batch, skip) => format.decode(body, batch, skip),
    });
  };
  const first = ["drop a", "pay b 4111111111111111", "keep c"];
  expect(await send(1, first)).toMatchObject({ accepted: 3, duplicates: 0 });
  const second = ["drop d", "pay b 4111111111111111", "drop e", "pay f 4111111111111111", "keep c", "keep g"];
  expect(await send(1, second)).toMatchObject({ accepted: 6, duplicates: 2 });
  expect(stored).toEqual(["pay b [card]", "keep c", "pay f [card]", "keep g"]);
  expect(counted).toEqual([
    { rule: 0, dropped: 1, masked: 0 },
    { rule: 1, dropped: 0, masked: 1 },
    { rule: 0, dropped: 2, masked: 0 },
    { rule: 1, dropped: 0, masked: 2 },
  ]);
  await send(2, ["drop h 4111111111111111"]);
  expect(stored.at(-1)).toBe("drop h 4111111111111111");
  await ingest.close(0);
});

test("no byte of the write-ahead log is of what is masked or dropped, while nothing has left it", async () => {
  using own = temporaryDirectory();
  const secret = "4539148803436467";
  const rules = new EntryRules({
    rules: [
      {
        action: { kind: "drop" },
        rowsOf: (block) => ({ candidates: null, isFor: (row) => block.messageText(row).startsWith("drop") }),
      },
      {
        action: { kind: "mask", fields: ["session"], patterns: ["card"] },
        rowsOf: () => ({ candidates: null, isFor: () => true }),
      },
    ],
    random: Math.random,
    applied: () => {},
  });
  const ingest = await openIngest({
    directory: own.path,
    // Of a store that is away nothing is acknowledged, so that all of it stays in the log.
    store: { insert: () => Promise.reject(new Error("away")), find: async () => new Map() },
    observer: SILENT_OBSERVER,
    instance: 1,
    walMaxBytes: 2 ** 26,
    maxInFlightBytes: 2 ** 26,
    dedupeWindowMs: 60_000,
    dedupeMaxKeys: 10_000,
    now: Date.now,
    rulesOf: () => rules,
    onFatal: (error) => {
      throw error;
    },
  });
  const format = new NativeFormat();
  const send = (entries: readonly object[]) => {
    const body = new TextEncoder().encode(JSON.stringify(entries));
    return ingest.ingest({
      organizationId: 1,
      format: "native",
      bytes: body.length,
      keys: null,
      decode: (batch, skip) => format.decode(body, batch, skip),
      apart: { spec: { kind: "native" }, body },
    });
  };
  const entriesOf = (name: string, count: number, filling: string): object[] =>
    Array.from({ length: count }, (_, i) => ({
      message: i % 3 === 0 ? `drop ${name}-gone ${i} ${secret}` : `${name}-kept ${i} ${secret} ${filling}`,
      attrs: { session: "session-7f3a91c4", card: secret, deep: { number: secret } },
    }));
  // Decoded where the request is answered, and apart.
  expect(await send(entriesOf("small", 9, ""))).toMatchObject({ accepted: 9 });
  expect(await send(entriesOf("large", 450, "x".repeat(1000)))).toMatchObject({ accepted: 450 });
  const bytes = readdirSync(own.path, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => readFileSync(join(file.parentPath, file.name)));
  const has = (text: string): boolean => bytes.some((file) => file.includes(text));
  expect(["small-kept", "large-kept", "[card]"].map(has)).toEqual([true, true, true]);
  expect(["small-gone", "large-gone", secret, "session-7f3a91c4"].map(has)).toEqual(
    Array.from({ length: 4 }, () => false),
  );
  await ingest.close(0);
});
