import { ApiError } from "../errors.ts";
import type { Logger } from "../log.ts";
import type { LoginThrottle, ThrottleSubject } from "./login-throttle.ts";

/**
 * Runs one attempt at proving something under the throttle. `judge` resolves to null when the proof was wrong,
 * which is then also the result. Throws RATE_LIMITED, before `judge` runs, while one of the subjects is blocked.
 */
export async function throttledAttempt<T>(
  throttle: LoginThrottle,
  subjects: readonly ThrottleSubject[],
  log: Logger,
  judge: () => Promise<T | null>,
): Promise<T | null> {
  const waitMs = await throttle.begin(subjects);
  if (waitMs > 0) {
    throw new ApiError("RATE_LIMITED", "Too many failed attempts; wait before the next one.", {
      retryAfterSeconds: Math.ceil(waitMs / 1000),
    });
  }
  let proven: T | null;
  try {
    proven = await judge();
  } catch (error) {
    // The caller hears the first failure; a second one while taking the attempt back only costs a delay.
    await throttle.withdraw(subjects).catch((reason: unknown) => {
      log.error({ err: reason }, "a login attempt could not be taken back from the throttle");
    });
    throw error;
  }
  if (proven !== null) await throttle.succeed(subjects);
  return proven;
}
