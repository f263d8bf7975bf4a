import { FAILURE_DELAY_BASE_MS } from "./limits.ts";

/** How fast the delay of a subject grows and where it stops. */
export interface DelayPolicy {
  readonly freeFailures: number;
  readonly delayMaxMs: number;
}

/** Somebody whose failures are counted: an account, whether it exists or not, or an address. */
export interface ThrottleSubject {
  /** Bounded in length and free of secrets, for example `address:192.0.2.1`. */
  readonly key: string;
  readonly policy: DelayPolicy;
  /** What a success does: `forget` wipes the failures, `refund` only takes the attempt back. */
  readonly onSuccess: "forget" | "refund";
}

/**
 * Counts failed attempts and delays further ones. An attempt is counted as failed when it begins, so that any
 * number of simultaneous guesses gets no further than as many one after the other. Once the free failures are
 * used up, each further failure blocks its subject for one second, then two, four and so on up to the policy's
 * maximum; there is no permanent lock, and failures are forgotten after an hour without one. An attempt refused
 * because of a delay is not counted. Implementations throw DependencyError when their store fails.
 *
 * Ours, because an attempt is judged and counted for all its subjects at once or for none: rate-limiter-flexible consumes
 * and blocks one key a call, so that simultaneous guesses would get past a delay that is about to be set.
 */
export interface LoginThrottle {
  /** Begins an attempt: 0 when it may go on, else the milliseconds until the last of the subjects is free again. */
  begin(subjects: readonly ThrottleSubject[]): Promise<number>;
  /** The attempt succeeded. */
  succeed(subjects: readonly ThrottleSubject[]): Promise<void>;
  /** The attempt neither failed nor succeeded, because the server could not judge it. */
  withdraw(subjects: readonly ThrottleSubject[]): Promise<void>;
}

/** How long a subject is blocked after its `failures`-th failure, in milliseconds. */
export function delayAfterFailureMs(failures: number, policy: DelayPolicy): number {
  const excess = failures - policy.freeFailures;
  return excess <= 0 ? 0 : Math.min(FAILURE_DELAY_BASE_MS * 2 ** (excess - 1), policy.delayMaxMs);
}
