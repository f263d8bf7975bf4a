import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { onCallAt, type Rotation, shiftsBetween } from "../../src/on-call/shifts.ts";

const HORIZON = 60;

const window = fc.tuple(fc.integer({ min: -5, max: HORIZON }), fc.integer({ min: 1, max: 20 }));
const rotation = fc
  .record({
    userId: fc.integer({ min: 1, max: 5 }),
    window,
    override: fc.option(fc.record({ userId: fc.integer({ min: 1, max: 5 }), window }), { nil: null }),
  })
  .map(
    ({ userId, window: [startsAt, length], override }): Omit<Rotation, "id"> => ({
      userId,
      startsAt,
      endsAt: startsAt + length,
      override:
        override === null
          ? null
          : {
              userId: override.userId,
              startsAt: override.window[0],
              endsAt: override.window[0] + override.window[1],
            },
    }),
  );
const schedule = fc
  .array(rotation, { maxLength: 12 })
  .map((rotations): Rotation[] => rotations.map((turn, id) => ({ id, ...turn })));
const gone = fc.integer({ min: 1, max: 6 });

/** Who is on call at a moment, said in another way: every claim is ranked, and the highest rank wins. */
function naive(rotations: readonly Rotation[], at: number, absent: number): number | null {
  const claims = rotations
    .filter((turn) => turn.startsAt <= at && at < turn.endsAt)
    .flatMap((turn) => {
      const { override } = turn;
      const stands = override !== null && override.startsAt <= at && at < override.endsAt;
      const rank = turn.startsAt * 1000 + turn.id;
      return [
        { rank, userId: turn.userId },
        ...(stands ? [{ rank: rank + 0.5, userId: override.userId }] : []),
      ];
    })
    .filter(({ userId }) => userId !== absent);
  return claims.toSorted((left, right) => right.rank - left.rank)[0]?.userId ?? null;
}

describe("who is on call", () => {
  test("is whose turn began last, whoever stands in before them, and nobody who has left", () => {
    fc.assert(
      fc.property(schedule, gone, (rotations, absent) => {
        for (let at = -6; at <= HORIZON + 20; at += 1)
          expect(onCallAt(rotations, at, (userId) => userId !== absent)).toBe(naive(rotations, at, absent));
      }),
    );
  });

  test("does not depend on the order in which turns are read", () => {
    fc.assert(
      fc.property(schedule, fc.integer({ min: 0, max: HORIZON }), (rotations, at) => {
        const reached = onCallAt(rotations, at, () => true);
        expect(onCallAt(rotations.toReversed(), at, () => true)).toBe(reached);
      }),
    );
  });
});

describe("the shifts of a range", () => {
  test("leave no moment out, meet without a gap, change at every bound, and agree with who is on call", () => {
    fc.assert(
      fc.property(
        schedule,
        gone,
        fc.integer({ min: -3, max: 30 }),
        fc.integer({ min: 1, max: 40 }),
        (rotations, absent, from, length) => {
          const to = from + length;
          const isReachable = (userId: number): boolean => userId !== absent;
          const shifts = shiftsBetween(rotations, { from, to }, isReachable);
          expect(shifts[0]?.from).toBe(from);
          expect(shifts.at(-1)?.to).toBe(to);
          for (const [index, shift] of shifts.entries()) {
            const next = shifts[index + 1];
            expect(shift.to).toBeGreaterThan(shift.from);
            if (next !== undefined) {
              expect(next.from).toBe(shift.to);
              expect(next.userId).not.toBe(shift.userId);
            }
            for (let at = shift.from; at < shift.to; at += 1)
              expect(onCallAt(rotations, at, isReachable)).toBe(shift.userId);
          }
        },
      ),
    );
  });
});
