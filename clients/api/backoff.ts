import { RETRY_MAX_MS, RETRY_MIN_MS } from "./limits.ts";

/**
 * The wait before attempt number `attempt` + 1: doubling from RETRY_MIN_MS to RETRY_MAX_MS, the upper half of it random, so
 * that clients thrown off together do not come back together. `random` is in [0, 1).
 */
export function backoffMs(attempt: number, random: number): number {
  const ceiling = Math.min(RETRY_MAX_MS, RETRY_MIN_MS * 2 ** Math.min(attempt, 30));
  return Math.round(ceiling * (0.5 + 0.5 * random));
}

/**
 * How long the server asks to wait, in milliseconds: `Retry-After` as seconds or as an HTTP date (RFC 9110 10.2.3), else, when
 * the answer is 429, the moment in `X-RateLimit-Reset` (epoch seconds). 0 when it does not say.
 */
export function askedWaitMs(status: number, headers: Headers, nowMs: number): number {
  const retryAfter = headers.get("retry-after")?.trim();
  if (retryAfter !== undefined && retryAfter !== "") {
    if (/^\d+$/.test(retryAfter)) return Number(retryAfter) * 1000;
    const at = Date.parse(retryAfter);
    if (!Number.isNaN(at)) return Math.max(0, at - nowMs);
  }
  const reset = headers.get("x-ratelimit-reset")?.trim();
  if (status === 429 && reset !== undefined && /^\d+$/.test(reset))
    return Math.max(0, Number(reset) * 1000 - nowMs);
  return 0;
}

const RETRYABLE_STATUSES = new Set([408, 425, 429, 500, 502, 503, 504]);

/** True when the same request may succeed later. */
export function isRetryableStatus(status: number): boolean {
  return RETRYABLE_STATUSES.has(status);
}

const RETRYABLE_CODES = new Set([
  // The execution a killed server left behind is taken over when its lease ends.
  "IDEMPOTENCY_IN_PROGRESS",
  "REQUEST_TIMEOUT",
  "RATE_LIMITED",
  "INTERNAL",
  "UNAVAILABLE",
  "QUERY_TIMEOUT",
]);

/** The same by the code, which a failure in the middle of a stream has instead of a status. */
export function isRetryableCode(code: string | undefined): boolean {
  return code !== undefined && RETRYABLE_CODES.has(code);
}
