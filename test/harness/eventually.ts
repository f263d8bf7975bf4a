/** A bound on what never comes, not on what is slow: below that of a test, so that the failure says what it was. */
const TIMEOUT_MS = 180_000;

const PAUSE_MIN_MS = 10;
const PAUSE_MAX_MS = 250;

/** Polls until `condition` gives something truthy, and answers it; fails with `what` after `timeoutMs`. */
export async function eventually<T>(
  what: string,
  condition: () => T | Promise<T>,
  timeoutMs = TIMEOUT_MS,
): Promise<Exclude<T, false | null | undefined>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const beganMs = performance.now();
    const value = await condition();
    if (isFound(value)) return value;
    if (performance.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    // Whoever does what is waited for needs the processor that looking takes: at most a third of the time goes there.
    const pauseMs = 2 * (performance.now() - beganMs);
    await Bun.sleep(Math.min(PAUSE_MAX_MS, Math.max(PAUSE_MIN_MS, pauseMs)));
  }
}

function isFound<T>(value: T): value is Exclude<T, false | null | undefined> {
  return value !== false && value !== null && value !== undefined;
}
