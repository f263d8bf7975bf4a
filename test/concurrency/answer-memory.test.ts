import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { AnswerMemory, type MemoryShare } from "../../src/concurrency/answer-memory.ts";

const BOUNDS = { ofCaller: 100, ofOrganization: 150, ofAll: 200 };

describe("the memory of answers", () => {
  test("is refused to whom it is full for, with the code that says so", () => {
    const memory = new AnswerMemory(BOUNDS);
    const share = (caller: string, organizationId: number | null): MemoryShare =>
      memory.open({ caller, organizationId });
    const codeOf = (of: MemoryShare, bytes: number): string => {
      try {
        of.take(bytes);
        return "taken";
      } catch (error) {
        return error instanceof Error && "code" in error ? String(error.code) : "";
      }
    };
    expect(codeOf(share("user:1", 7), 101)).toBe("RATE_LIMITED");
    expect(codeOf(share("user:1", 7), 100)).toBe("taken");
    expect(codeOf(share("user:1", 7), 1)).toBe("RATE_LIMITED");
    expect(codeOf(share("user:2", 7), 60)).toBe("RATE_LIMITED");
    expect(codeOf(share("user:2", 7), 50)).toBe("taken");
    expect(codeOf(share("192.0.2.1", null), 60)).toBe("UNAVAILABLE");
    expect(codeOf(share("192.0.2.1", null), 50)).toBe("taken");
    expect(memory.bytes).toBe(200);
  });

  test("keeps what is reserved, whatever others take", () => {
    const memory = new AnswerMemory(BOUNDS);
    const share = memory.open({ caller: "user:1", organizationId: 7 });
    share.reserve(60);
    expect(memory.open({ caller: "user:1", organizationId: 7 }).tryTake(50)).toBe(false);
    for (let page = 0; page < 3; page++) {
      share.take(60);
      expect(memory.bytes).toBe(60);
      share.giveBack(60);
    }
    share.close();
    expect(memory.bytes).toBe(0);
  });

  test("counts exactly what is held, within its bounds, and forgets owners without answers", () => {
    const step = fc.record({
      share: fc.nat(5),
      act: fc.constantFrom("take", "giveBack", "reserve", "close"),
      bytes: fc.nat(120),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const memory = new AnswerMemory(BOUNDS);
        const shares = [0, 1, 2, 3, 4, 5].map((i) =>
          memory.open({ caller: `user:${i % 3}`, organizationId: i % 2 === 0 ? 7 : null }),
        );
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
          expect(memory.bytes).toBe(shares.reduce((sum, { bytes: held }) => sum + held, 0));
          expect(memory.bytes).toBeLessThanOrEqual(BOUNDS.ofAll);
        }
        for (const share of shares) share.close();
        expect([memory.bytes, memory.owners]).toEqual([0, 0]);
      }),
    );
  });
});
