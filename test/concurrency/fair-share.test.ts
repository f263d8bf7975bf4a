import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { FairShare, type ShareKey } from "../../src/concurrency/fair-share.ts";

/** Takes one after the other for all paths in turn until none gets more; how much each has. */
function takeAll(share: FairShare, paths: readonly (readonly ShareKey[])[]): number[] {
  const held = paths.map(() => 0);
  for (let tookAny = true; tookAny; ) {
    tookAny = false;
    for (const [index, path] of paths.entries()) {
      if (share.take(path) !== "taken") continue;
      held[index] = (held[index] ?? 0) + 1;
      tookAny = true;
    }
  }
  return held;
}

describe("a fair share", () => {
  test("is half of all for a holder alone, and a third for one in another", () => {
    expect(takeAll(new FairShare(1024), [["a"]])).toEqual([512]);
    expect(takeAll(new FairShare(1024), [["a", 1]])).toEqual([341]);
  });

  test.each([1, 2, 10, 100])("leaves room for one more when %d holders take all they can", (count) => {
    const share = new FairShare(1024);
    const held = takeAll(
      share,
      Array.from({ length: count }, (_, index) => [`organisation ${index}`, index]),
    );
    expect(Math.max(...held) - Math.min(...held)).toBeLessThanOrEqual(1);
    expect(share.take(["newcomer", -1])).toBe("taken");
  });

  test("leaves room in a holder for one more below it, and outside it for others", () => {
    const share = new FairShare(1024);
    takeAll(
      share,
      [1, 2, 3, 4, 5].map((person) => ["a", person]),
    );
    expect(share.used).toBeLessThanOrEqual(512);
    expect(share.take(["a", 6])).toBe("taken");
    expect(takeAll(share, [["b", 7]])[0]).toBeGreaterThan(100);
  });

  test("says whether the holder has too much or all have", () => {
    const share = new FairShare(8);
    expect(takeAll(share, [["a"]])).toEqual([4]);
    expect(share.take(["a"])).toBe("share_used_up");
    expect(share.take(["b"], 5)).toBe("all_used_up");
    expect(share.take(["b"], 3)).toBe("all_used_up");
    expect(share.take(["b"], 2)).toBe("taken");
    expect(share.take(["b"])).toBe("share_used_up");
  });

  test("is empty again when everything was given back, and was never more than all", () => {
    const step = fc.record({ outer: fc.nat(3), inner: fc.nat(3), amount: fc.nat(40) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const share = new FairShare(100);
        const taken = steps.filter(({ outer, inner, amount }) => {
          const took = share.take([outer, `${inner}`], amount) === "taken";
          expect(share.used).toBeLessThanOrEqual(100);
          return took;
        });
        for (const { outer, inner, amount } of taken) share.giveBack([outer, `${inner}`], amount);
        expect(share.used).toBe(0);
        // What was refused was never taken.
        expect(share.taken).toBe(taken.reduce((sum, { amount }) => sum + amount, 0));
        expect(share.take(["anybody", "at all"], 33)).toBe("taken");
      }),
      { numRuns: 50 },
    );
  });
});
