import { expect, test } from "bun:test";
import { pauseAfter, WorkLoop } from "../../src/concurrency/work-loop.ts";
import { DependencyError } from "../../src/errors.ts";
import { createLogger } from "../../src/log.ts";
import { eventually } from "../harness/eventually.ts";

const NEVER_MS = 3_600_000;

function loopOver(work: (signal: AbortSignal) => Promise<boolean>, pollMs: number) {
  const lines: string[] = [];
  const log = createLogger("error", { write: (line) => lines.push(line) });
  return { loop: new WorkLoop({ work, pollMs, failure: "the work failed", log }), lines };
}

test("a loop works at its start, at once when woken, again while there is more, and not after its stop", async () => {
  let left = 3;
  let rounds = 0;
  const { loop } = loopOver(async () => {
    rounds += 1;
    left -= 1;
    return left > 0;
  }, NEVER_MS);
  loop.start();
  await eventually("all is done", () => left === 0);
  expect(rounds).toBe(3);
  left = 1;
  loop.wake();
  await eventually("what it was woken for is done", () => left === 0);
  await loop.stop(5_000);
  loop.wake();
  expect(rounds).toBe(4);
});

test("a loop woken while it works looks once more", async () => {
  const first = Promise.withResolvers<void>();
  let rounds = 0;
  const { loop } = loopOver(async () => {
    rounds += 1;
    if (rounds === 1) await first.promise;
    return false;
  }, NEVER_MS);
  loop.start();
  await eventually("it works", () => rounds === 1);
  loop.wake();
  first.resolve();
  await eventually("it looks again", () => rounds === 2);
  await loop.stop(5_000);
});

test("a loop whose work fails goes on, with pauses that grow", async () => {
  const at: number[] = [];
  const { loop, lines } = loopOver(async () => {
    at.push(performance.now());
    if (at.length < 4) throw new Error("away");
    return false;
  }, 40);
  loop.start();
  await eventually("it works again", () => at.length >= 5);
  await loop.stop(5_000);
  const pauses = at.slice(1, 4).map((time, i) => time - (at[i] ?? 0));
  expect(pauses[1]).toBeGreaterThan(2 * 40);
  expect(pauses[2]).toBeGreaterThan(4 * 40);
  expect(lines).toHaveLength(3);
});

test("a loop waits a second at most for Postgres to be back, however long that was away, and half a minute for anything else", () => {
  for (const isWatched of [false, true])
    for (const failures of [1, 5, 60, 3_600]) {
      const after = { pollMs: 500, isWatched, failures };
      expect(pauseAfter({ ...after, isAway: true })).toBeLessThanOrEqual(1_000);
      expect(pauseAfter({ ...after, isAway: false })).toBe(Math.min(500 * 2 ** failures, 30_000));
      expect(pauseAfter({ ...after, pollMs: 600_000, isAway: true })).toBe(600_000);
    }
});

test("a loop asks for Postgres again and again while that is away, with fewer and fewer lines in the log", async () => {
  let rounds = 0;
  const { loop, lines } = loopOver(async () => {
    rounds += 1;
    if (rounds <= 20) throw new DependencyError("postgres", "away", { retryable: true });
    return false;
  }, NEVER_MS);
  loop.start();
  await eventually("it works again", () => {
    loop.wake();
    return rounds > 20;
  });
  await loop.stop(5_000);
  expect(lines.map((line) => JSON.parse(line).failures)).toEqual([1, 2, 4, 8, 16]);
});

test("stopping tells the work to end and does not wait for ever for one that does not listen", async () => {
  const begun = Promise.withResolvers<AbortSignal>();
  const { loop } = loopOver((signal) => {
    begun.resolve(signal);
    return Promise.withResolvers<boolean>().promise;
  }, NEVER_MS);
  loop.start();
  const signal = await begun.promise;
  await loop.stop(20);
  expect(signal.aborted).toBe(true);
});

test("a loop with a watch looks when it is told, not again by itself, and while its work fails when its pause is over", async () => {
  let [rounds, isBroken] = [0, false];
  let told: (() => void) | null = null;
  let everyMs = 0;
  let isOver = false;
  const loop = new WorkLoop({
    work: async () => {
      rounds += 1;
      if (isBroken) throw new Error("broken");
      return false;
    },
    pollMs: 7_000,
    watch: (watched) => {
      told = watched.wake;
      everyMs = watched.everyMs;
      return { [Symbol.dispose]: () => (isOver = true) };
    },
    failure: "the work failed",
    log: createLogger("silent"),
  });
  const tell = (): void => told?.();
  expect(pauseAfter({ pollMs: 7_000, isWatched: true, failures: 0, isAway: false })).toBe(300_000);
  loop.start();
  await eventually("it works at its start", () => rounds === 1);
  expect(everyMs).toBe(7_000);
  tell();
  await eventually("it was told", () => rounds === 2);
  isBroken = true;
  tell();
  await eventually("it fails", () => rounds === 3);
  for (let turn = 0; turn < 5; turn += 1) {
    tell();
    await Bun.sleep(1);
  }
  expect(rounds).toBe(3);
  isBroken = false;
  loop.wake();
  await eventually("somebody wakes it", () => rounds === 4);
  await loop.stop(5_000);
  expect(isOver).toBe(true);
});
