/** The pause after a failure; it doubles with every further one up to the longest. */
interface Backoff {
  readonly baseMs: number;
  readonly maxMs: number;
}

/** How long to wait after the `attempt`-th failure. */
export function backoffMs({ baseMs, maxMs }: Backoff, attempt: number): number {
  return Math.min(baseMs * 2 ** (attempt - 1), maxMs);
}
