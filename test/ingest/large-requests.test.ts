/** Large requests with the real write-ahead log: each is stored whole or not at all, each of its events once. */
import { afterEach, describe, expect, test } from "bun:test";
import { cpSync, readdirSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { CommittedBlock } from "../../ingest/committed-block.ts";
import { EntryRules } from "../../ingest/entry-rules.ts";
import { IngestKeyReusedError } from "../../ingest/errors.ts";
import type { Ingest, IngestOptions } from "../../ingest/ingest.ts";
import { openWal } from "../../ingest/wal/wal.ts";
import { eventually } from "../harness/eventually.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";
import { type LargeEntry, largeRequest, MemoryStore, openLarge, smallRequest } from "./large-bodies.ts";

const FLUSH_MS = 180_000;
const directories: ReturnType<typeof temporaryDirectory>[] = [];

afterEach(() => {
  for (const directory of directories.splice(0)) directory[Symbol.dispose]();
});

function newDirectory(): string {
  const directory = temporaryDirectory();
  directories.push(directory);
  return directory.path;
}

const events = (from: number, to: number): LargeEntry[] =>
  Array.from({ length: to - from }, (_, i) => ({ message: `m${from + i}`, event_id: `e${from + i}` }));
const messages = (from: number, to: number): string[] => events(from, to).map(({ message }) => message);

/** What is durable, block by block, as it is told. */
async function openCounting(options: Partial<IngestOptions> = {}) {
  const stored: string[] = [];
  const blocks: number[] = [];
  const ingest = await openLarge(newDirectory(), {
    committed: {
      committed: ({ block }) => {
        const entries = new CommittedBlock(block);
        blocks.push(entries.rows);
        for (let row = 0; row < entries.rows; row++) stored.push(entries.messageText(row));
      },
    },
    ...options,
  });
  return { ingest, stored, blocks };
}

describe("events of a large request", () => {
  test("are stored once, wherever they come again: in another slice, in another request, in both", async () => {
    const { ingest, stored, blocks } = await openCounting();
    const first = await ingest.ingest(largeRequest([...events(0, 300), ...events(50, 200)]));
    expect(first).toEqual({ accepted: 450, duplicates: 150, replayed: false });
    expect(blocks.length).toBeGreaterThan(1);
    expect(await ingest.ingest(largeRequest(events(200, 490)))).toMatchObject({ duplicates: 100 });
    expect(await ingest.ingest(largeRequest(events(0, 490)))).toMatchObject({ duplicates: 490 });
    expect(await ingest.ingest(smallRequest(events(0, 3)))).toMatchObject({ duplicates: 3 });
    expect(stored).toEqual(messages(0, 490));
    await ingest.close(FLUSH_MS);
  });

  test("that come in small and large requests at the same time are stored once", async () => {
    const { ingest, stored } = await openCounting();
    const large = [
      largeRequest(events(0, 400)),
      largeRequest(events(100, 500)),
      largeRequest(events(0, 400)),
    ];
    const sending = large.map((request) => ingest.ingest(request));
    const counted: Promise<{ duplicates: number; accepted: number }>[] = [...sending];
    let turns = 0;
    const more = (): void => {
      counted.push(ingest.ingest(smallRequest(events(turns % 500, (turns % 500) + 1))));
      turns += 7;
    };
    // As long as the large ones are under way, in whatever they do.
    let isOver = false;
    void Promise.allSettled(sending).then(() => {
      isOver = true;
    });
    while (!isOver) {
      more();
      await new Promise((turn) => setImmediate(turn));
    }
    const results = await Promise.all(counted);
    const kept = results.reduce((sum, { accepted, duplicates }) => sum + accepted - duplicates, 0);
    expect(stored.toSorted()).toEqual(messages(0, 500).toSorted());
    expect(kept).toBe(500);
    await ingest.close(FLUSH_MS);
  });

  test("are known again after a restart", async () => {
    const directory = newDirectory();
    const first = await openLarge(directory);
    await first.ingest(largeRequest(events(0, 450)));
    await first.close(FLUSH_MS);
    const { ingest, stored } = await openCounting({ directory });
    expect(await ingest.ingest(largeRequest(events(0, 460)))).toMatchObject({ duplicates: 450 });
    expect(stored).toEqual(messages(450, 460));
    await ingest.close(FLUSH_MS);
  });
});

describe("a large request with a key", () => {
  const plain = (count: number, prefix = "m"): LargeEntry[] =>
    Array.from({ length: count }, (_, i) => ({ message: `${prefix}${i}` }));

  test("is stored once however often it comes at once and later, and another under its key is refused", async () => {
    const { ingest, stored } = await openCounting();
    const results = await Promise.all([1, 2, 3].map(() => ingest.ingest(largeRequest(plain(450), "a"))));
    expect(results.map(({ replayed }) => replayed).toSorted()).toEqual([false, true, true]);
    expect(await ingest.ingest(largeRequest(plain(450), "a"))).toMatchObject({
      accepted: 450,
      replayed: true,
    });
    const other = ingest.ingest(largeRequest(plain(450, "other"), "a"));
    expect(await other.catch((error: unknown) => error)).toBeInstanceOf(IngestKeyReusedError);
    expect(stored).toEqual(plain(450).map(({ message }) => message));
    await ingest.close(FLUSH_MS);
  });
});

test("rules drop and mask the entries of every slice, and are counted once", async () => {
  const counted: { rule: number; dropped: number; masked: number }[] = [];
  const rules = new EntryRules({
    rules: [
      {
        action: { kind: "drop" },
        rowsOf: (block) => ({ candidates: null, isFor: (row) => /[05]$/.test(block.messageText(row)) }),
      },
      {
        action: { kind: "mask", fields: [], patterns: ["card"] },
        rowsOf: () => ({ candidates: null, isFor: () => true }),
      },
    ],
    random: Math.random,
    applied: (outcomes) => counted.push(...outcomes),
  });
  const { ingest, stored } = await openCounting({ rulesOf: () => rules });
  const entries = events(0, 450).map((event) => ({
    ...event,
    message: `4111 1111 1111 1111 ${event.message}`,
  }));
  const sent = { accepted: 450, replayed: false };
  expect(await ingest.ingest(largeRequest(entries))).toEqual({ ...sent, duplicates: 0 });
  expect(await ingest.ingest(largeRequest(entries))).toEqual({ ...sent, duplicates: 360 });
  expect(stored).toHaveLength(360);
  expect(stored.filter((message) => message.includes("1111"))).toEqual([]);
  const sum = (rule: number, what: "dropped" | "masked"): number =>
    counted.filter((each) => each.rule === rule).reduce((total, each) => total + each[what], 0);
  expect([sum(0, "dropped"), sum(1, "masked")]).toEqual([180, 720]);
  await ingest.close(FLUSH_MS);
});

/** Every entry that leaves the log of a directory, and the log that goes on with it. */
async function drained(directory: string, next: (ingest: Ingest) => Promise<void>): Promise<string[]> {
  const store = new MemoryStore();
  const ingest = await openLarge(directory, { store });
  await next(ingest);
  await ingest.close(FLUSH_MS);
  return store.messages;
}

describe("a process that dies", () => {
  test("between any two slices of a request leaves nothing of it, and the request is stored once when it comes again", async () => {
    const directory = newDirectory();
    let inserts = 0;
    const ingest = await openLarge(directory, {
      store: {
        // Nothing behind the first insert is declared, so that only the log itself says what is durable.
        insert: (_blocks, _token, signal) => {
          inserts++;
          return new Promise((_, reject) => signal.addEventListener("abort", reject));
        },
        find: () => Promise.resolve(new Map()),
      },
    });
    await ingest.ingest(smallRequest(events(900, 901)));
    await eventually("the first insert has begun", () => Promise.resolve(inserts === 1));
    const request = () => largeRequest(events(0, 490), "name");
    await ingest.ingest(request());
    const whole = newDirectory();
    cpSync(directory, whole, { recursive: true });
    await ingest.close(0);

    const boundaries = await recordStarts(whole);
    expect(boundaries.length).toBeGreaterThan(3);
    const [, ...ofRequest] = boundaries;
    for (const [slice, start] of ofRequest.entries()) {
      const cut = newDirectory();
      cpSync(whole, cut, { recursive: true });
      const [segment = ""] = readdirSync(cut).filter((name) => name.endsWith(".wal"));
      // At the end of the slice before, and within this one.
      truncateSync(join(cut, segment), slice % 2 === 0 ? start : start + 100);
      const found = await drained(cut, async (again) => {
        expect(await again.ingest(request())).toEqual({ accepted: 490, duplicates: 0, replayed: false });
        expect(await again.ingest(request())).toMatchObject({ replayed: true });
      });
      expect(found.toSorted()).toEqual([...messages(0, 490), "m900"].toSorted());
    }
    const found = await drained(whole, async (again) => {
      expect(await again.ingest(request())).toMatchObject({ replayed: true });
    });
    expect(found.toSorted()).toEqual([...messages(0, 490), "m900"].toSorted());
  });

  test("by kill -9 at any moment leaves each request whole or not at all, and those it acknowledged whole", async () => {
    const COUNT = 450;
    const program = join(import.meta.dir, "large-requests-process.ts");
    const directory = newDirectory();
    const acknowledged = new Set<number>();
    let next = 0;
    for (let round = 0; round < 4; round++) {
      const child = Bun.spawn([process.execPath, program, directory, String(next), String(COUNT)], {
        stdout: "pipe",
      });
      let acknowledgements = 0;
      let rest = "";
      for await (const chunk of child.stdout) {
        const lines = (rest + new TextDecoder().decode(chunk)).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) {
          const [what, number = 0] = line.split(" ");
          next = Math.max(next, Number(number) + 1);
          if (what !== "acknowledged") continue;
          acknowledged.add(Number(number));
          // Others are in whatever they are in.
          if (++acknowledgements === 2 + round) child.kill("SIGKILL");
        }
      }
      await child.exited;
    }
    const found = new Map<string, Set<string>>();
    const all = await drained(directory, () => Promise.resolve());
    for (const message of all) {
      const [request = ""] = message.split("/");
      found.set(request, (found.get(request) ?? new Set()).add(message));
    }
    expect(all.length).toBe([...found.values()].reduce((sum, { size }) => sum + size, 0));
    expect([...found.values()].filter(({ size }) => size !== COUNT)).toEqual([]);
    expect([...acknowledged].filter((request) => !found.has(String(request)))).toEqual([]);
  });
});

/** Where the records of a copy of a log begin. */
async function recordStarts(directory: string): Promise<number[]> {
  const copy = newDirectory();
  cpSync(directory, copy, { recursive: true });
  const wal = await openWal({
    directory: copy,
    maxBytes: 2 ** 28,
    segmentBytes: 2 ** 26,
    keyRetentionMs: 0,
    clock: Date.now,
    onFatal: () => undefined,
  });
  const { records } = await wal.read(0, { maxBytes: 2 ** 26, maxRecords: 1000 });
  await wal.close();
  return records.map(({ start }) => start);
}
