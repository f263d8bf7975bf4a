import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { askedWaitMs, backoffMs, isRetryableStatus } from "../../../clients/api/backoff.ts";
import { RETRY_MAX_MS, RETRY_MIN_MS } from "../../../clients/api/limits.ts";

test("waits grow from half the least to the most, and never leave these bounds", () => {
  fc.assert(
    fc.property(
      fc.nat(),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (attempt, random) => {
        const waitMs = backoffMs(attempt, random);
        expect(waitMs).toBeGreaterThanOrEqual(RETRY_MIN_MS / 2);
        expect(waitMs).toBeLessThanOrEqual(RETRY_MAX_MS);
        expect(backoffMs(attempt + 1, random)).toBeGreaterThanOrEqual(waitMs);
      },
    ),
    { numRuns: 500 },
  );
  expect(backoffMs(1_000_000, 0)).toBe(RETRY_MAX_MS / 2);
});

describe("the wait a server asks for", () => {
  const nowMs = Date.UTC(2026, 0, 1);
  const waitOf = (status: number, headers: Record<string, string>): number =>
    askedWaitMs(status, new Headers(headers), nowMs);

  test("is Retry-After in seconds or as a date", () => {
    expect(waitOf(503, { "retry-after": "7" })).toBe(7000);
    expect(waitOf(503, { "retry-after": new Date(nowMs + 5000).toUTCString() })).toBe(5000);
    expect(waitOf(503, { "retry-after": new Date(nowMs - 5000).toUTCString() })).toBe(0);
  });

  test("is the rate limit's reset only where that was hit and Retry-After says nothing", () => {
    const reset = { "x-ratelimit-reset": String(nowMs / 1000 + 3) };
    expect(waitOf(429, reset)).toBe(3000);
    expect(waitOf(503, reset)).toBe(0);
    expect(waitOf(429, { ...reset, "retry-after": "1" })).toBe(1000);
    expect(waitOf(429, { "x-ratelimit-reset": String(nowMs / 1000 - 3) })).toBe(0);
  });

  test("is none when the headers say nothing that can be understood", () => {
    expect(waitOf(503, {})).toBe(0);
    expect(waitOf(429, { "retry-after": "soon", "x-ratelimit-reset": "-" })).toBe(0);
  });
});

test("what the client did wrong is not tried again", () => {
  for (const status of [400, 401, 403, 404, 409, 413, 415, 422])
    expect(isRetryableStatus(status)).toBe(false);
  for (const status of [408, 429, 500, 502, 503, 504]) expect(isRetryableStatus(status)).toBe(true);
});
