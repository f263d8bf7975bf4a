import { expect, test } from "bun:test";
import { backoffMs } from "../../../src/jobs/claims/backoff.ts";

test("the pause doubles with each failure up to the longest, however many there are", () => {
  const pauses = [1, 2, 3, 4, 2_000].map((attempt) => backoffMs({ baseMs: 5, maxMs: 30 }, attempt));
  expect(pauses).toEqual([5, 10, 20, 30, 30]);
});
