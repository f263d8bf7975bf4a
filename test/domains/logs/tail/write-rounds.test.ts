import { expect, test } from "bun:test";
import {
  WRITE_INTERVAL_MAX_MS,
  WRITE_INTERVAL_MIN_MS,
  WRITES_PER_SECOND,
} from "../../../../src/domains/logs/tail/limits.ts";
import { WriteRounds } from "../../../../src/domains/logs/tail/write-rounds.ts";

/** Lets so many readers join and waits for the round. */
async function round(rounds: WriteRounds, readers: number): Promise<void> {
  await Promise.all(
    Array.from({ length: readers }, () => new Promise<void>((resolve) => rounds.join(resolve))),
  );
}

test("rounds are the rarer the more readers have something to read, within bounds", async () => {
  const rounds = new WriteRounds(() => performance.now());
  await round(rounds, 1);
  expect(rounds.intervalMs).toBe(WRITE_INTERVAL_MIN_MS);
  await round(rounds, 100);
  expect(rounds.intervalMs).toBe((100 * 1000) / WRITES_PER_SECOND);
  await round(rounds, 1000);
  expect(rounds.intervalMs).toBe(WRITE_INTERVAL_MAX_MS);
  await round(rounds, 2);
  expect(rounds.intervalMs).toBe(WRITE_INTERVAL_MIN_MS);
});

test("a reader that leaves is not called", async () => {
  const rounds = new WriteRounds(() => performance.now());
  let isCalled = false;
  const leave = rounds.join(() => {
    isCalled = true;
  });
  leave();
  await round(rounds, 1);
  expect(isCalled).toBe(false);
});
