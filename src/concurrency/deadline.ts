/**
 * Waits for `promise`, at most `timeoutMs`; says whether it was fulfilled in time. Rejects when it does, and leaves
 * no timer behind that would hold up the end of the process.
 */
export async function fulfilledWithin(promise: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  const late = Promise.withResolvers<false>();
  const timer = setTimeout(() => late.resolve(false), timeoutMs);
  try {
    return await Promise.race([promise.then(() => true), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
