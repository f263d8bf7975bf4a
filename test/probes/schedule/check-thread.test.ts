import { expect, test } from "bun:test";
import fc from "fast-check";
import type { CheckSpec } from "../../../src/probes/check.ts";
import { CheckThread } from "../../../src/probes/schedule/check-thread.ts";
import type { SlotResult } from "../../../src/probes/schedule/schedule.ts";
import { SenderClock } from "../../../src/probes/schedule/sender-clock.ts";
import { monotonicMs } from "../../../src/probes/schedule/slot-clock.ts";
import { specOf } from "../checking.ts";

const PROGRAM = new URL("../../domains/monitors/scheduling/plain-checks.ts", import.meta.url);
/** Any time of slots will do; it is that of no other clock. */
const SLOT_MS = 1_000_000_000;

test("a check is told by the clock that its thread was given, though the thread is younger than who gave it", async () => {
  const server = Bun.serve({ port: 0, fetch: () => new Response() });
  const given = monotonicMs();
  const found = Promise.withResolvers<readonly SlotResult[]>();
  const thread = new CheckThread({
    program: PROGRAM,
    settings: {},
    canaries: [],
    time: () => ({ slotMs: SLOT_MS, monotonicMs: given, rate: 1, leadMs: 0 }),
    onResults: found.resolve,
    onFault: found.reject,
    onRestart: () => undefined,
    onDeath: found.reject,
  });
  const check: CheckSpec = specOf({ type: "http", url: server.url.href, timeoutMs: 60_000 });
  thread.start();
  thread.assign([{ monitorId: 1, intervalMs: 30_000, retryMs: null, dueMs: 0, check }]);
  thread.goOn(given + 600_000);
  const [result] = await found.promise;
  const passedMs = monotonicMs() - given;
  await thread.stop();
  await server.stop(true);
  if (result === undefined) throw new Error("nothing was found");
  expect(result.startedAtMs).toBeGreaterThanOrEqual(SLOT_MS);
  expect(result.startedAtMs).toBeLessThanOrEqual(SLOT_MS + passedMs);
});

test("the clock of a sender never goes back and is never ahead, and is behind by the fastest message at most", () => {
  const waits = fc.array(fc.record({ passedMs: fc.nat(5_000), underWayMs: fc.nat(5_000) }), { minLength: 1 });
  fc.assert(
    fc.property(waits, fc.integer({ min: -1_000_000, max: 1_000_000 }), (messages, originMs) => {
      let trueMs = 0;
      const [first] = messages;
      const clock = new SenderClock(-(first?.underWayMs ?? 0), () => trueMs - originMs);
      let fastestMs = first?.underWayMs ?? 0;
      let before = clock.now();
      for (const { passedMs, underWayMs } of messages) {
        trueMs += passedMs;
        clock.hear(trueMs - underWayMs);
        fastestMs = Math.min(fastestMs, underWayMs);
        expect(clock.now()).toBeGreaterThanOrEqual(before);
        expect(clock.now()).toBe(trueMs - fastestMs);
        before = clock.now();
      }
    }),
  );
});
