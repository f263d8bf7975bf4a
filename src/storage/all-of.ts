/**
 * Waits for all of what was begun in a transaction, also when some of it fails: a statement that comes after the end would be
 * outside of it.
 */
export async function allOf<T>(begun: readonly PromiseLike<T>[]): Promise<T[]> {
  const outcomes = await Promise.allSettled(begun);
  return outcomes.map((outcome) => {
    if (outcome.status === "rejected") throw outcome.reason;
    return outcome.value;
  });
}
