import type { Principal } from "../../access/principal.ts";
import { addressKey } from "../client-address.ts";
import type { RateLimitClass } from "../route.ts";
import type { RateDecision, RateLimiter } from "./rate-limiter.ts";

/** Calls per minute. */
export interface RateLimits {
  readonly perMinute: number;
  readonly ingestPerMinute: number;
  readonly anonymousPerMinute: number;
}

/** Takes one call from the bucket of a caller and class. */
export type RateGate = (
  rateClass: RateLimitClass,
  principal: Principal | null,
  clientAddress: string,
) => RateDecision | Promise<RateDecision>;

/**
 * Chooses buckets: a credential has one per class, whoever shows none shares those of the address. Receivers that
 * authenticate by the path and probes come without a credential, so they get the size of their work, not of strangers.
 */
export function rateGate(limiter: RateLimiter, limits: RateLimits): RateGate {
  return (rateClass, principal, clientAddress) => {
    const caller = principal === null ? addressKey(clientAddress) : principal.credentialKey;
    switch (rateClass) {
      case "ingest":
        return limiter.take(`ingest:${caller}`, limits.ingestPerMinute);
      case "probe":
        return limiter.take(`probe:${caller}`, limits.perMinute);
      case "default":
        return limiter.take(
          `default:${caller}`,
          principal === null ? limits.anonymousPerMinute : limits.perMinute,
        );
    }
  };
}
