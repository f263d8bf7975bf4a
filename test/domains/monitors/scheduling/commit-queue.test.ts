/** Rounds on their way into a database that does not always take them. */
import { expect, test } from "bun:test";
import { CommitQueue } from "../../../../src/domains/monitors/scheduling/commit-queue.ts";
import type { Round } from "../../../../src/domains/monitors/scheduling/rounds.ts";
import { DependencyError } from "../../../../src/errors.ts";
import { createLogger } from "../../../../src/log.ts";
import { eventually } from "../../../harness/eventually.ts";

const rounds = (from: number, to: number): Round[] =>
  Array.from({ length: to - from }, (_, i) => ({
    ...{ monitorId: from + i, shard: 0, slotMs: 1_000, nextMs: 2_000, checks: [] },
  }));

/** A queue into a database that does as it is told, and what it has of rounds, in order. */
function open(commit: (rounds: readonly Round[]) => Promise<void>) {
  const written: number[] = [];
  const queue = new CommitQueue({
    commit: async (some) => {
      await commit(some);
      written.push(...some.map(({ monitorId }) => monitorId));
      return { recorded: [], gone: [], usedUp: [] };
    },
    onCommitted: () => undefined,
    log: createLogger("silent"),
  });
  return { queue, written };
}

test("rounds that the database did not take are written when it does, in their order, with those that came meanwhile", async () => {
  let attempts = 0;
  const { queue, written } = open(async () => {
    attempts += 1;
    if (attempts <= 2) throw new DependencyError("postgres", "away", { retryable: true });
  });
  queue.push(rounds(0, 300));
  await eventually("it was tried", () => Promise.resolve(attempts > 0));
  queue.push(rounds(300, 310));
  await eventually("nothing waits", () => Promise.resolve(queue.size === 0));
  expect(written).toEqual(rounds(0, 310).map(({ monitorId }) => monitorId));
  await queue.stop(1_000);
});

test("a round that cannot be written is left out, and no other one with it", async () => {
  const { queue, written } = open(async (some) => {
    if (some.some(({ monitorId }) => monitorId === 5)) throw new Error("of no form");
  });
  queue.push(rounds(0, 20));
  await eventually("nothing waits", () => Promise.resolve(queue.size === 0));
  expect(written.toSorted((a, b) => a - b)).toEqual(
    rounds(0, 20).flatMap(({ monitorId }) => (monitorId === 5 ? [] : [monitorId])),
  );
  await queue.stop(1_000);
});
