/** A bound on what never comes, not on what is slow: below that of a test, so that the failure says what it was. */
const TIMEOUT_MS = 90_000;

/** Polls until `condition` gives something truthy, and answers it; fails with `what` after `timeoutMs`. */
export async function eventually<T>(
  what: string,
  condition: () => T | Promise<T>,
  timeoutMs = TIMEOUT_MS,
): Promise<Exclude<T, false | null | undefined>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await condition();
    if (isFound(value)) return value;
    if (performance.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await Bun.sleep(10);
  }
}

function isFound<T>(value: T): value is Exclude<T, false | null | undefined> {
  return value !== false && value !== null && value !== undefined;
}
