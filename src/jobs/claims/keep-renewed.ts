/**
 * Renews a lease until it is disposed of. A renewal that fails is made up for by the next one; without any the lease is
 * lost, which its holder sees when it completes.
 */
export function keepRenewed(renew: () => Promise<unknown>, everyMs: number): Disposable {
  const timer = setInterval(() => void renew().catch(() => undefined), everyMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
