import { afterAll, expect, test } from "bun:test";
import { CommittedBlock } from "../../ingest/committed-block.ts";
import { NativeFormat } from "../../ingest/decode/native.ts";
import type { EntryRules } from "../../ingest/entry-rules.ts";
import { openIngest } from "../../ingest/ingest.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";
import { SILENT_OBSERVER } from "./silent-observer.ts";

const directory = temporaryDirectory();
afterAll(() => directory[Symbol.dispose]());

test("of a request of which events were stored before, what rules drop stays away and what they mask stays masked", async () => {
  const stored: string[] = [];
  const counted: unknown[] = [];
  const rules: EntryRules = {
    rules: [
      { action: { kind: "drop" }, rowsOf: (block) => (row) => block.messageText(row).startsWith("drop") },
      { action: { kind: "mask", fields: [], patterns: ["card"] }, rowsOf: () => () => true },
    ],
    random: Math.random,
    applied: (outcomes) => counted.push(...outcomes),
  };
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
