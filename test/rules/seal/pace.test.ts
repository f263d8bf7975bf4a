/** Taking entries goes before sealing them, but for so little as keeps rules from waiting. */
import { expect, test } from "bun:test";
import { REST_MAX_MS } from "../../../src/rules/seal/limits.ts";
import { restAfter } from "../../../src/rules/seal/pace.ts";

test("sealing that keeps up with a small share of the time does not rest, however far it is behind", () => {
  for (const behindMs of [0, 4_000, 100_000])
    expect(restAfter({ tookMs: 100, coveredMs: 1_000, behindMs })).toBe(0);
});

test("sealing that would take much of the time rests, the less the more it is behind, and never long", () => {
  const rests = [0, 14_999, 15_000, 45_000].map((behindMs) =>
    restAfter({ tookMs: 100, coveredMs: 300, behindMs }),
  );
  expect(rests).toEqual([1_900, 1_900, 400, 100]);
  expect(restAfter({ tookMs: 60_000, coveredMs: 60_000, behindMs: 0 })).toBe(REST_MAX_MS);
});

test("a round that sealed nothing of its own rests", () => {
  expect(restAfter({ tookMs: 10, coveredMs: 0, behindMs: 0 })).toBe(190);
});
