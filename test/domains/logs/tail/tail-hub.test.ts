/** How committed batches reach the readers of a server, and what happens when matching falls behind. */
import { describe, expect, test } from "bun:test";
import { BACKLOG_MAX_BYTES, MATCHING_SLICE_MS } from "../../../../src/domains/logs/tail/limits.ts";
import { readTailFilter } from "../../../../src/domains/logs/tail/read-filter.ts";
import type { MatchedEntries } from "../../../../src/domains/logs/tail/tail-filter.ts";
import { TailHub, type TailReader } from "../../../../src/domains/logs/tail/tail-hub.ts";
import type { TailParameters } from "../../../../src/domains/logs/tail/types.ts";
import { createLogger } from "../../../../src/log.ts";
import { createMetrics } from "../../../../src/server/metrics.ts";
import { eventually } from "../../../harness/eventually.ts";
import { committedBatch, committedRequests } from "./committed-batch.ts";

const ORGANIZATION = 7;

class Listener implements TailReader {
  readonly messages: string[] = [];
  lost = 0;
  asked = 0;
  onDelivery = (): void => undefined;

  deliver({ count, first }: MatchedEntries): void {
    this.messages.push(...first(count).map(({ json }) => String(JSON.parse(json).message)));
    this.onDelivery();
  }

  lose(count: number): void {
    this.lost += count;
  }

  askStore(): void {
    this.asked++;
  }
}

function openHub(monotonicMs: () => number = () => performance.now()): TailHub {
  return new TailHub({ log: createLogger("silent"), metrics: createMetrics().tail, monotonicMs });
}

function listen(hub: TailHub, parameters: TailParameters = {}, organizationId = ORGANIZATION): Listener {
  const listener = new Listener();
  hub.add(organizationId, readTailFilter(parameters, {}, Date.now()), listener);
  return listener;
}

const isIdle = (hub: TailHub): Promise<true> => eventually("the hub is idle", () => hub.isIdle);

describe("a batch", () => {
  test("reaches every reader whose filter lets it through, after the call that tells of it", async () => {
    const hub = openHub();
    const all = listen(hub);
    const some = listen(hub, { q: "two" });
    const byQuery = listen(hub, { query: 'message contains "THREE" or level == "warn"' });
    hub.committed(
      committedBatch(ORGANIZATION, [
        { message: "one", level: "warn" },
        { message: "two" },
        { message: "three" },
      ]),
    );
    expect(all.messages).toEqual([]);
    await isIdle(hub);
    expect(all.messages).toEqual(["one", "two", "three"]);
    expect(some.messages).toEqual(["two"]);
    expect(byQuery.messages).toEqual(["one", "three"]);
  });

  test("of several organizations reaches the readers of each with its own entries alone", async () => {
    const hub = openHub();
    const mine = [listen(hub), listen(hub, { q: "disk" })];
    const theirs = [listen(hub, {}, ORGANIZATION + 1), listen(hub, { q: "disk" }, ORGANIZATION + 1)];
    hub.committed(
      committedRequests([
        { organizationId: ORGANIZATION + 1, entries: [{ message: "their disk" }, { message: "theirs" }] },
        { organizationId: ORGANIZATION, entries: [{ message: "my disk" }] },
        { organizationId: ORGANIZATION + 2, entries: [{ message: "the disk of nobody who listens" }] },
        { organizationId: ORGANIZATION, entries: [{ message: "mine" }] },
      ]),
    );
    await isIdle(hub);
    expect(mine.map(({ messages }) => messages)).toEqual([["my disk", "mine"], ["my disk"]]);
    expect(theirs.map(({ messages }) => messages)).toEqual([["their disk", "theirs"], ["their disk"]]);
  });

  test("is copied: what the pipeline writes over it is not shown", async () => {
    const hub = openHub();
    const listener = listen(hub);
    for (let i = 0; i < 20; i++) {
      const batch = committedBatch(ORGANIZATION, [{ message: `${i}` }]);
      hub.committed(batch);
      batch.block.fill(0);
      if (i % 3 === 0) await isIdle(hub);
    }
    await isIdle(hub);
    expect(listener.messages).toEqual(Array.from({ length: 20 }, (_, i) => `${i}`));
  });

  test("that was committed before a reader came is not shown to it, though it waits to be matched", async () => {
    const hub = openHub();
    const early = listen(hub);
    hub.committed(committedBatch(ORGANIZATION, [{ message: "before" }]));
    const late = listen(hub);
    hub.committed(committedBatch(ORGANIZATION, [{ message: "after" }]));
    await isIdle(hub);
    expect(early.messages).toEqual(["before", "after"]);
    expect(late.messages).toEqual(["after"]);
  });
});

describe("matching that falls behind", () => {
  test("gives up what waits, counts it for the readers of its organization, and goes on at the present", async () => {
    const hub = openHub();
    const listener = listen(hub, { q: "1" });
    const other = listen(hub, {}, ORGANIZATION + 1);
    const padding = "x".repeat(8000);
    let sent = 0;
    // Without a turn of the event loop in between nothing can be matched.
    for (let bytes = 0; bytes <= BACKLOG_MAX_BYTES; sent += 400) {
      const entries = Array.from({ length: 400 }, (_, i) => ({ message: `${sent + i} ${padding}` }));
      const batch = committedRequests([
        { organizationId: ORGANIZATION, entries },
        { organizationId: ORGANIZATION + 1, entries: [{ message: `other ${sent}` }] },
      ]);
      bytes += batch.block.length;
      hub.committed(batch);
    }
    expect(listener.lost).toBe(sent - 400);
    hub.committed(committedBatch(ORGANIZATION, [{ message: "present 1" }]));
    await isIdle(hub);
    expect(listener.messages.at(-1)).toBe("present 1");
    // A batch of 400 had one entry of the other organization.
    expect(other).toMatchObject({ messages: [`other ${sent - 400}`], lost: sent / 400 - 1 });
  });

  test("leaves the thread to others after each slice, also in the middle of a batch", async () => {
    let nowMs = 0;
    const hub = openHub(() => nowMs);
    const listeners = Array.from({ length: 10 }, (_, i) => listen(hub, { q: `-${i}no` }));
    const order: string[] = [];
    for (const [i, listener] of listeners.entries())
      listener.onDelivery = () => {
        order.push(`matched ${i}`);
        nowMs += MATCHING_SLICE_MS;
      };
    hub.committed(committedBatch(ORGANIZATION, [{ message: "shown to all" }]));
    // Whatever waits for the next turn of the event loop, however quickly that comes.
    let isOver = false;
    const others = (): void => {
      order.push("other work");
      if (!isOver) setImmediate(others);
    };
    setImmediate(others);
    await isIdle(hub);
    isOver = true;
    expect(order.filter((step) => step !== "other work")).toEqual(listeners.map((_, i) => `matched ${i}`));
    const between = order.slice(order.indexOf("matched 0"), order.indexOf("matched 9"));
    expect(between.filter((step) => step === "other work").length).toBeGreaterThanOrEqual(9);
  });
});
