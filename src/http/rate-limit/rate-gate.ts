import type { Principal } from "../../access/principal.ts";
import { tokenHashKey } from "../../access/secret-token.ts";
import { addressKey } from "../client-address.ts";
import type { RateLimitClass } from "../route.ts";
import { HEARTBEATS_PER_MINUTE, PUBLIC_PER_MINUTE } from "./limits.ts";
import type { RateDecision, RateLimiter } from "./rate-limiter.ts";

/** Calls per minute. */
export interface RateLimits {
  readonly perMinute: number;
  readonly ingestPerMinute: number;
  readonly anonymousPerMinute: number;
}

/** Who calls, and what for. */
interface RatedCall {
  readonly rateClass: RateLimitClass;
  readonly principal: Principal | null;
  readonly clientAddress: string;
  /** The whole URL. */
  readonly url: string;
}

/** Takes one call from the bucket of a caller and class. */
export type RateGate = (call: RatedCall) => RateDecision | Promise<RateDecision>;

/**
 * Chooses buckets: a credential has one per class, whoever shows none shares those of the address. Receivers that
 * authenticate by the path and probes come without a credential, so they get the size of their work, not of strangers.
 */
export function rateGate(limiter: RateLimiter, limits: RateLimits): RateGate {
  return ({ rateClass, principal, clientAddress, url }) => {
    const caller = principal === null ? addressKey(clientAddress) : principal.credentialKey;
    const takeDefault = () =>
      limiter.take(`default:${caller}`, principal === null ? limits.anonymousPerMinute : limits.perMinute);
    switch (rateClass) {
      case "ingest":
        return limiter.take(`ingest:${caller}`, limits.ingestPerMinute);
      case "probe":
        return limiter.take(`probe:${caller}`, limits.perMinute);
      case "public":
        return limiter.take(`public:${caller}`, PUBLIC_PER_MINUTE);
      case "heartbeat": {
        const token = heartbeatKey(url);
        return token === null ? takeDefault() : limiter.take(`heartbeat:${token}`, HEARTBEATS_PER_MINUTE);
      }
      case "default":
        return takeDefault();
    }
  };
}

/**
 * Names the token of a heartbeat without holding it: buckets may lie in a store that others read. Null for what is no token
 * or is written in other ways than it was given out.
 */
function heartbeatKey(url: string): string | null {
  const [, token] = /\/heartbeats\/([A-Za-z0-9_-]{43})(?:[/?#]|$)/.exec(url) ?? [];
  return token === undefined ? null : tokenHashKey(token);
}
