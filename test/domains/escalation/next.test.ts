import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { begin, type PolicySnapshot, simulate, takeStep } from "../../../src/domains/escalation/next.ts";

const policy = fc.record({
  steps: fc.array(
    fc
      .tuple(fc.integer({ min: 0, max: 600 }), fc.integer({ min: 1, max: 4 }))
      .map(([delaySec, userId]) => ({ type: "user" as const, delaySec, userId })),
    { minLength: 1, maxLength: 5 },
  ),
  repeat: fc.integer({ min: 0, max: 3 }),
});
const absent = fc.subarray([1, 2, 3, 4]);
const OPENED = 1_772_366_400_000;

function reaching(gone: readonly number[]) {
  return (step: PolicySnapshot["steps"][number]): number | null =>
    step.type === "user" && !gone.includes(step.userId) ? step.userId : null;
}

describe("an escalation", () => {
  test("takes every step of every round once and in order, and then ends", () => {
    fc.assert(
      fc.property(policy, absent, (terms, gone) => {
        const taken = simulate(terms, OPENED, reaching(gone));
        const expected = Array.from({ length: terms.repeat + 1 }, (_, cycle) =>
          terms.steps.map((_step, step) => ({ step, cycle })),
        ).flat();
        expect(taken.map(({ step, cycle }) => ({ step, cycle }))).toEqual(expected);
      }),
    );
  });

  test("waits the delay of a step after the one before, and not at all after one that reached nobody in the first round", () => {
    fc.assert(
      fc.property(policy, absent, (terms, gone) => {
        let before = { at: OPENED, userId: 0 as number | null, cycle: 0 };
        for (const taken of simulate(terms, OPENED, reaching(gone))) {
          const skips = before.userId === null && taken.cycle === 0;
          const delayMs = skips ? 0 : (terms.steps[taken.step]?.delaySec ?? 0) * 1000;
          expect(taken.at).toBe(before.at + delayMs);
          before = taken;
        }
      }),
    );
  });

  test("gives whoever it pages the time of a round to answer, though a step before them reaches nobody", () => {
    const steps = [0, 60].map((delaySec, at) => ({ type: "user" as const, delaySec, userId: at + 1 }));
    const paged = simulate({ steps, repeat: 3 }, 0, reaching([1])).filter(({ userId }) => userId === 2);
    expect(paged.map(({ at }) => at)).toEqual([0, 60_000, 120_000, 180_000]);
  });

  test("that is held back goes on where it stood, and what follows counts from then", () => {
    const steps = [0, 60, 60].map((delaySec, at) => ({ type: "user" as const, delaySec, userId: at + 1 }));
    // From the first minute until the end of the tenth, in two windows that meet.
    const heldUntil = (at: number): number | null =>
      at < 30_000 || at >= 600_000 ? null : at < 300_000 ? 300_000 : 600_000;
    const taken = simulate({ steps, repeat: 0 }, 0, reaching([]), heldUntil);
    expect(taken.map(({ at }) => at)).toEqual([0, 600_000, 660_000]);
  });

  test("counts from when a step was really taken, however late that was", () => {
    fc.assert(
      fc.property(policy, fc.array(fc.integer({ min: 0, max: 3_600_000 })), (terms, delays) => {
        let escalation = begin(terms, OPENED);
        for (const late of delays) {
          if (escalation.nextAt === null) break;
          const now = escalation.nextAt + late;
          const next = takeStep(terms, escalation, now, reaching([]));
          if (next.escalation.nextAt !== null) {
            const delaySec = terms.steps[next.escalation.step]?.delaySec ?? 0;
            expect(next.escalation.nextAt).toBe(now + delaySec * 1000);
          }
          escalation = next.escalation;
        }
      }),
    );
  });
});
