import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { CheckOutcome, CheckSpec, CheckStatus } from "../../../src/probes/check.ts";
import { type Assignment, Schedule, type SlotResult } from "../../../src/probes/schedule/schedule.ts";
import { missedSlots } from "../../../src/probes/schedule/slots.ts";
import { specOf } from "../checking.ts";

const START_MS = 1_800_000_000_000;

function outcomeOf(status: CheckStatus): CheckOutcome {
  return {
    status,
    error: null,
    durationMs: 1,
    phases: { dnsMs: 0, connectMs: 0, tlsMs: 0, firstByteMs: 0 },
    statusCode: null,
    certificateNotAfter: null,
    failedStep: null,
  };
}

const SPEC = specOf({ type: "http", url: "http://shop.example/", timeoutMs: 1_000 });

/** A schedule in a world whose time passes when the test says so, and whose checks take as long as it says. */
class World {
  nowMs = 0;
  running = 0;
  mostRunning = 0;
  readonly startedOf = new Map<string, number>();
  readonly results: SlotResult[] = [];
  readonly schedule: Schedule;
  readonly #timers = new Map<number, { atMs: number; act: () => void }>();
  #ids = 0;

  constructor(maxInFlight: number, answer: (spec: CheckSpec) => { tookMs: number; status: CheckStatus }) {
    this.schedule = new Schedule({
      maxInFlight,
      time: { slotMs: START_MS, monotonicMs: 0, rate: 1, leadMs: 0 },
      monotonicNow: () => this.nowMs,
      setTimer: (act, delayMs) => this.at(delayMs, act),
      onResult: (result) => this.results.push(result),
      run: (spec) => {
        const { tookMs, status } = answer(spec);
        this.running += 1;
        this.mostRunning = Math.max(this.mostRunning, this.running);
        const isTwice = (this.startedOf.get(spec.url) ?? 0) > 0;
        if (isTwice) throw new Error(`${spec.url} is checked twice at a time`);
        this.startedOf.set(spec.url, 1);
        return new Promise((resolve) => {
          this.at(tookMs, () => {
            this.running -= 1;
            this.startedOf.set(spec.url, 0);
            resolve(outcomeOf(status));
          });
        });
      },
    });
  }

  at(delayMs: number, act: () => void): () => void {
    const id = this.#ids++;
    this.#timers.set(id, { atMs: this.nowMs + delayMs, act });
    return () => this.#timers.delete(id);
  }

  async pass(untilMs: number): Promise<void> {
    for (;;) {
      const [next] = [...this.#timers].sort(([, a], [, b]) => a.atMs - b.atMs);
      if (next === undefined || next[1].atMs > untilMs) break;
      this.#timers.delete(next[0]);
      this.nowMs = Math.max(this.nowMs, next[1].atMs);
      next[1].act();
      // What follows a check that ended.
      for (let turn = 0; turn < 5; turn++) await Promise.resolve();
    }
    this.nowMs = untilMs;
  }

  goOn(): void {
    this.schedule.goOn(
      { slotMs: START_MS + this.nowMs, monotonicMs: this.nowMs, rate: 1, leadMs: 0 },
      10 ** 9,
    );
  }
}

function assignmentOf(monitorId: number, intervalMs: number, rest: Partial<Assignment> = {}): Assignment {
  const check = { ...SPEC, url: `http://shop.example/${monitorId}` };
  return { monitorId, intervalMs, retryMs: null, dueMs: 0, check, ...rest };
}

describe("the schedule", () => {
  test("starts every slot once or leaves it to be recorded as missed, never two checks of a monitor, never more than allowed", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 4 }),
        fc.infiniteStream(fc.integer({ min: 0, max: 2_500 })),
        async (monitors, maxInFlight, durations) => {
          const world = new World(maxInFlight, () => ({ tookMs: durations.next().value ?? 0, status: "up" }));
          for (let id = 1; id <= monitors; id++) world.schedule.assign(assignmentOf(id, 1_000));
          world.goOn();
          await world.pass(20_000);
          expect(world.mostRunning).toBeLessThanOrEqual(maxInFlight);
          for (let monitorId = 1; monitorId <= monitors; monitorId++) {
            const own = world.results.filter((result) => result.monitorId === monitorId);
            for (const [index, result] of own.entries()) {
              const next = own[index + 1];
              expect(result.nextMs).toBeGreaterThan(result.slotMs);
              expect(result.lateMs).toBeGreaterThanOrEqual(0);
              if (index > 0) expect(result.lateMs).toBeLessThan(1_000);
              if (next === undefined) continue;
              expect(next.slotMs).toBeGreaterThanOrEqual(result.nextMs);
              const missed = missedSlots({ monitorId, intervalMs: 1_000 }, result.nextMs, next.slotMs);
              expect(result.nextMs + missed * 1_000).toBe(next.slotMs);
            }
          }
        },
      ),
      { numRuns: 50 },
    );
  });

  test("counts slots from the clock, not from the end of a check", async () => {
    const world = new World(10, () => ({ tookMs: 700, status: "up" }));
    world.schedule.assign(assignmentOf(1, 1_000, { dueMs: START_MS + 1 }));
    world.goOn();
    await world.pass(10_500);
    const slots = world.results.slice(1).map(({ slotMs }) => slotMs);
    expect(slots.length).toBeGreaterThanOrEqual(8);
    expect(new Set(slots.map((slot) => slot % 1_000)).size).toBe(1);
    expect(world.results.slice(1).every(({ lateMs }) => lateMs === 0)).toBe(true);
  });

  test("follows every failed check by the retry interval, and goes back to its slots when one succeeds", async () => {
    let failures = 3;
    const world = new World(10, () => ({ tookMs: 10, status: failures-- > 0 ? "down" : "up" }));
    world.schedule.assign(assignmentOf(1, 60_000, { retryMs: 5_000 }));
    world.goOn();
    await world.pass(20_000);
    const [first, ...later] = world.results.map(({ slotMs }) => slotMs);
    expect(later.map((slot) => slot - (first ?? 0))).toEqual([5_000, 10_000, 15_000]);
    expect(world.results.at(-1)?.nextMs).toBeGreaterThan(START_MS + 20_000 - 5_000);
  });

  test("begins nothing before it may and nothing after it may no more, and then what is due", async () => {
    const world = new World(10, () => ({ tookMs: 1, status: "up" }));
    world.schedule.assign(assignmentOf(1, 1_000));
    await world.pass(3_000);
    expect(world.results).toEqual([]);
    world.schedule.goOn({ slotMs: START_MS + 3_000, monotonicMs: 3_000, rate: 1, leadMs: 0 }, 5_000);
    await world.pass(9_000);
    const before = world.results.length;
    expect(before).toBeGreaterThanOrEqual(2);
    expect(Math.max(...world.results.map(({ slotMs }) => slotMs))).toBeLessThanOrEqual(START_MS + 5_000);
    world.goOn();
    await world.pass(9_100);
    // Several were due meanwhile: the latest is begun, which is less than an interval old.
    expect(world.results.length).toBe(before + 1);
    expect(world.results.at(-1)?.lateMs).toBeLessThan(1_000);
  });

  test("lets go of a monitor in the middle of its check, and takes it again as if it had never been there", async () => {
    const world = new World(10, () => ({ tookMs: 500, status: "up" }));
    world.schedule.assign(assignmentOf(1, 1_000));
    world.goOn();
    await world.pass(100);
    world.schedule.drop(1);
    world.schedule.assign(assignmentOf(1, 1_000));
    world.goOn();
    await world.pass(400);
    world.schedule.drop(1);
    await world.pass(3_000);
    expect(world.results).toEqual([]);
    world.schedule.assign(assignmentOf(1, 1_000));
    world.goOn();
    await world.pass(4_000);
    expect(world.results.length).toBeGreaterThanOrEqual(1);
  });

  test("moves a monitor to other slots when its interval changes, and lets a new one begin at once", async () => {
    const world = new World(10, () => ({ tookMs: 1, status: "up" }));
    world.schedule.assign(assignmentOf(1, 3_600_000));
    world.goOn();
    await world.pass(100);
    expect(world.results.map(({ slotMs }) => slotMs)).toEqual([START_MS]);
    world.schedule.assign(assignmentOf(1, 1_000));
    await world.pass(3_100);
    expect(world.results.length).toBeGreaterThanOrEqual(3);
  });
});
