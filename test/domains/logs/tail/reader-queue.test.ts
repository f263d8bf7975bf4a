import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { FairShare } from "../../../../src/concurrency/fair-share.ts";
import { MemoryShare } from "../../../../src/concurrency/memory-share.ts";
import { QUEUE_MAX_CHARS, QUEUE_MAX_ENTRIES } from "../../../../src/domains/logs/tail/limits.ts";
import { type QueueItem, ReaderQueue } from "../../../../src/domains/logs/tail/reader-queue.ts";

const entry = (number: number, chars: number) => ({ id: BigInt(number) << 22n, json: "x".repeat(chars) });
/** For a caller who is alone. */
const memoryOf = (bytes: number): MemoryShare => new MemoryShare(new FairShare(3 * bytes), [1, 1]);
const drain = (queue: ReaderQueue): QueueItem[] => {
  const items: QueueItem[] = [];
  for (let item = queue.shift(); item !== undefined; item = queue.shift()) items.push(item);
  return items;
};

describe("a queue", () => {
  test("gives every entry or counts it in its place, for any order of pushes and shifts, within its bounds", () => {
    const action = fc.oneof(
      fc.record({ push: fc.integer({ min: 1, max: 4000 }), chars: fc.constantFrom(1, 100, 2000) }),
      fc.record({ shift: fc.integer({ min: 1, max: 6000 }) }),
    );
    fc.assert(
      fc.property(fc.array(action, { maxLength: 30 }), (actions) => {
        const budget = memoryOf(100_000_000);
        const queue = new ReaderQueue(budget);
        let pushed = 0;
        let next = 0;
        let waitingChars = 0;
        let waiting = 0;
        const take = (item: QueueItem): void => {
          if (item.kind === "entry") {
            expect(item.entry.id >> 22n).toBe(BigInt(next++));
            waitingChars -= item.entry.json.length;
            waiting--;
          } else if (item.kind === "dropped") {
            next += item.dropped.count;
            expect(item.dropped.lastIds.get(0)).toBe(BigInt(next - 1) << 22n);
          }
        };
        for (const step of actions) {
          if ("push" in step) {
            for (let i = 0; i < step.push; i++) {
              if (!queue.push(entry(pushed++, step.chars))) continue;
              waitingChars += step.chars;
              waiting++;
            }
            expect(waitingChars).toBeLessThanOrEqual(QUEUE_MAX_CHARS);
            expect(waiting).toBeLessThanOrEqual(QUEUE_MAX_ENTRIES);
          } else {
            for (let i = 0; i < step.shift; i++) {
              const item = queue.shift();
              if (item !== undefined) take(item);
            }
          }
        }
        for (const item of drain(queue)) take(item);
        expect(next).toBe(pushed);
        expect(queue.isEmpty).toBe(true);
        expect(budget.tryTake(100_000_000)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  test("takes no more than all queues may hold together, and gives it back", () => {
    const budget = memoryOf(1000);
    const [one, two] = [new ReaderQueue(budget), new ReaderQueue(budget)];
    expect(one.push(entry(1, 600))).toBe(true);
    expect(two.push(entry(1, 600))).toBe(false);
    one.clear();
    expect(two.push(entry(2, 600))).toBe(true);
    expect(drain(two).map(({ kind }) => kind)).toEqual(["dropped", "entry"]);
    expect(budget.tryTake(1000)).toBe(true);
  });

  test("takes over what another holds, counts included", () => {
    const budget = memoryOf(1000);
    const [one, two] = [new ReaderQueue(budget), new ReaderQueue(budget)];
    two.push(entry(1, 600));
    two.push(entry(2, 600));
    one.absorb(two);
    one.pushBlock("block");
    expect(drain(one).map(({ kind }) => kind)).toEqual(["entry", "dropped", "block"]);
  });
});

test("a queue that takes over another one counts what that had dropped", () => {
  const [queue, other] = [new ReaderQueue(memoryOf(1000)), new ReaderQueue(memoryOf(1000))];
  other.push({ id: 1n, json: "{}" });
  other.drop(3, 4n);
  queue.absorb(other);
  expect([queue.shift()?.kind, queue.shift()]).toMatchObject([
    "entry",
    { kind: "dropped", dropped: { count: 3 } },
  ]);
});
