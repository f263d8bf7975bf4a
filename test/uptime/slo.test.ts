import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { objectiveState, objectiveWindow, type Period, uptimeOf } from "../../src/uptime/slo.ts";
import { mergedSpans, type Span } from "../../src/uptime/spans.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Small enough to look at each millisecond. */
const LENGTH_MS = 60;
const moments = fc.integer({ min: -10, max: LENGTH_MS + 10 });
const spans = fc.array(
  fc.tuple(moments, moments).map(([fromMs, toMs]): Span => ({ fromMs, toMs })),
  { maxLength: 6 },
);
const statuses = fc.constantFrom("up", "degraded", "down", "paused", "unknown");
/** One behind the other without overlaps, with gaps, the last perhaps without an end. */
const periods = fc
  .tuple(
    fc.uniqueArray(moments, { minLength: 2, maxLength: 12 }),
    fc.array(statuses, { minLength: 12, maxLength: 12 }),
    fc.boolean(),
  )
  .map(([times, names, isOpen]): Period[] => {
    const sorted = times.toSorted((a, b) => a - b);
    return sorted.slice(0, -1).map((fromMs, i) => ({
      status: names[i] ?? "up",
      fromMs,
      toMs: isOpen && i === sorted.length - 2 ? null : (sorted[i + 1] ?? fromMs),
    }));
  });

const contains = ({ fromMs, toMs }: Span, ms: number): boolean => fromMs <= ms && ms < toMs;

describe("uptime", () => {
  test("is what a count of every millisecond says, of half-open times outside of maintenance", () => {
    fc.assert(
      fc.property(periods, spans, moments, moments, (known, maintenance, a, b) => {
        const window = { fromMs: Math.min(a, b), toMs: Math.max(a, b) };
        const counted = { knownMs: 0, degradedMs: 0, downMs: 0 };
        for (let ms = window.fromMs; ms < window.toMs; ms += 1) {
          if (maintenance.some((span) => contains(span, ms))) continue;
          const period = known.find(({ fromMs, toMs }) =>
            contains({ fromMs, toMs: toMs ?? Number.POSITIVE_INFINITY }, ms),
          );
          if (period === undefined || period.status === "paused" || period.status === "unknown") continue;
          counted.knownMs += 1;
          if (period.status === "degraded") counted.degradedMs += 1;
          if (period.status === "down") counted.downMs += 1;
        }
        const { percent, ...measured } = uptimeOf(known, maintenance, window);
        expect(measured).toEqual(counted);
        if (counted.knownMs === 0) expect(percent).toBeNull();
        else {
          const exact = (100 * (counted.knownMs - counted.downMs)) / counted.knownMs;
          expect(percent).toBeLessThanOrEqual(exact + 1e-9);
          expect(percent).toBeGreaterThan(exact - 0.0002);
          expect(percent === 100).toBe(counted.downMs === 0);
        }
      }),
    );
  });

  test("is never rounded up to 100, and has every digit that a year needs", () => {
    const window = { fromMs: 0, toMs: 365 * DAY_MS };
    const down: Period = { status: "down", fromMs: 0, toMs: 1 };
    const up: Period = { status: "up", fromMs: 1, toMs: null };
    expect(uptimeOf([down, up], [], window).percent).toBe(99.9999);
    expect(uptimeOf([up], [], window).percent).toBe(100);
  });

  test("lets times of a clock that was set back be nothing, rather than less than nothing", () => {
    const backwards: Period = { status: "down", fromMs: 10, toMs: 5 };
    expect(uptimeOf([backwards], [], { fromMs: 0, toMs: 20 })).toEqual({
      knownMs: 0,
      degradedMs: 0,
      downMs: 0,
      percent: null,
    });
  });
});

describe("spans", () => {
  test("are merged into the same time without overlaps, in order", () => {
    fc.assert(
      fc.property(spans, (given) => {
        const merged = mergedSpans(given);
        for (let ms = -12; ms < LENGTH_MS + 12; ms += 1)
          expect(merged.some((span) => contains(span, ms))).toBe(given.some((span) => contains(span, ms)));
        for (const [i, span] of merged.entries()) {
          expect(span.toMs).toBeGreaterThan(span.fromMs);
          expect(span.fromMs).toBeGreaterThan(merged[i - 1]?.toMs ?? Number.NEGATIVE_INFINITY);
        }
      }),
    );
  });
});

describe("an objective", () => {
  const OBJECTIVE = { uptimeTargetBp: 9990, uptimeWindowDays: 30 };

  test("leaves its part of the full window, whatever the age of the monitor", () => {
    const allowedDownMs = 43.2 * 60_000;
    expect(objectiveState(OBJECTIVE, 0)).toEqual({
      downMs: 0,
      allowedDownMs,
      budgetLeftMs: allowedDownMs,
      isBreached: false,
    });
    expect(objectiveState(OBJECTIVE, allowedDownMs).isBreached).toBe(false);
    expect(objectiveState(OBJECTIVE, allowedDownMs + 1)).toMatchObject({ isBreached: true, budgetLeftMs: 0 });
    expect(objectiveWindow(OBJECTIVE, 31 * DAY_MS)).toEqual({ fromMs: DAY_MS, toMs: 31 * DAY_MS });
  });

  test("of 100 % is breached by a millisecond, of 0.01 % by nothing but almost all", () => {
    expect(objectiveState({ uptimeTargetBp: 10_000, uptimeWindowDays: 1 }, 0).isBreached).toBe(false);
    expect(objectiveState({ uptimeTargetBp: 10_000, uptimeWindowDays: 1 }, 1).isBreached).toBe(true);
    expect(objectiveState({ uptimeTargetBp: 1, uptimeWindowDays: 1 }, DAY_MS - 8640).isBreached).toBe(false);
    expect(objectiveState({ uptimeTargetBp: 1, uptimeWindowDays: 1 }, DAY_MS).isBreached).toBe(true);
  });

  test("is breached for good once it is, as more is down", () => {
    const objectives = fc.record({
      uptimeTargetBp: fc.integer({ min: 1, max: 10_000 }),
      uptimeWindowDays: fc.integer({ min: 1, max: 365 }),
    });
    fc.assert(
      fc.property(objectives, fc.nat(40 * DAY_MS), fc.nat(DAY_MS), (objective, downMs, moreMs) => {
        const [before, after] = [
          objectiveState(objective, downMs),
          objectiveState(objective, downMs + moreMs),
        ];
        if (before.isBreached) expect(after.isBreached).toBe(true);
        expect(after.budgetLeftMs).toBeLessThanOrEqual(before.budgetLeftMs);
        expect(before.budgetLeftMs === 0 || !before.isBreached).toBe(true);
      }),
    );
  });
});
