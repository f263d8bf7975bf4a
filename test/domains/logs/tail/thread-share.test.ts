import { expect, test } from "bun:test";
import { ThreadShare } from "../../../../src/domains/logs/tail/thread-share.ts";

test("work that waits when it is told to takes its share of the time and no more", () => {
  let nowMs = 0;
  let workedMs = 0;
  const share = new ThreadShare({ share: 0.2, burstMs: 50, monotonicMs: () => nowMs });
  while (nowMs < 10_000) {
    nowMs += share.waitMs;
    nowMs += 7;
    workedMs += 7;
    share.spend(7);
  }
  expect(workedMs).toBeWithin(0.19 * nowMs, 0.21 * nowMs + 50);
});

test("a pause earns a burst, and a long one no more than that", () => {
  let nowMs = 0;
  const share = new ThreadShare({ share: 0.1, burstMs: 50, monotonicMs: () => nowMs });
  nowMs = 1_000_000;
  share.spend(50);
  expect(share.waitMs).toBe(0);
  share.spend(10);
  expect(share.waitMs).toBeCloseTo(100);
});
