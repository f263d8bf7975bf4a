import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { FairShare } from "../../src/concurrency/fair-share.ts";
import { MemoryShare } from "../../src/concurrency/memory-share.ts";

const ALL_BYTES = 300;

describe("what answers hold", () => {
  test("is refused to whom it is full for, with the code that says so", () => {
    const all = new FairShare(ALL_BYTES);
    const codeOf = (organization: number, person: number, bytes: number): string => {
      try {
        new MemoryShare(all, [organization, person]).take(bytes);
        return "taken";
      } catch (error) {
        return error instanceof Error && "code" in error ? String(error.code) : "";
      }
    };
    expect(codeOf(7, 1, 100)).toBe("taken");
    expect(codeOf(7, 1, 1)).toBe("RATE_LIMITED");
    expect(codeOf(7, 2, 34)).toBe("RATE_LIMITED");
    expect(codeOf(7, 2, 33)).toBe("taken");
    expect(codeOf(8, 3, 100)).toBe("UNAVAILABLE");
    expect(codeOf(8, 3, 50)).toBe("taken");
    expect(all.used).toBe(183);
  });

  test("is kept where it is reserved, whatever others take", () => {
    const all = new FairShare(ALL_BYTES);
    const share = new MemoryShare(all, [7, 1]);
    share.reserve(60);
    expect(new MemoryShare(all, [7, 1]).tryTake(50)).toBe(false);
    const others = [8, 9, 10, 11].map((organization) => new MemoryShare(all, [organization, 1]));
    for (const other of others) while (other.tryTake(1));
    for (let page = 0; page < 3; page++) {
      share.take(60);
      expect(share.bytes).toBe(60);
      share.giveBack(60);
    }
    share.close();
    for (const other of others) other.close();
    expect(all.used).toBe(0);
  });

  test("is counted exactly, within the bound", () => {
    const step = fc.record({
      share: fc.nat(5),
      act: fc.constantFrom("take", "giveBack", "reserve", "close"),
      bytes: fc.nat(120),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const all = new FairShare(ALL_BYTES);
        const shares = [0, 1, 2, 3, 4, 5].map((i) => new MemoryShare(all, [i % 2, i % 3]));
        for (const { share: i, act, bytes } of steps) {
          const share = shares[i];
          if (share === undefined) continue;
          if (act === "take") share.tryTake(bytes);
          else if (act === "giveBack") share.giveBack(bytes);
          else if (act === "close") share.close();
          else
            try {
              share.reserve(bytes);
            } catch {
              // Refused: nothing has changed, as the sum below says.
            }
          expect(all.used).toBe(shares.reduce((sum, { bytes: held }) => sum + held, 0));
          expect(all.used).toBeLessThanOrEqual(ALL_BYTES);
        }
        for (const share of shares) share.close();
        expect(all.used).toBe(0);
      }),
    );
  });
});
