import type { Logger } from "../log.ts";
import { throttledAttempt } from "./login-attempt.ts";
import type { LoginThrottle } from "./login-throttle.ts";
import type { PasswordHasher } from "./password-hasher.ts";
import { loginSubjects } from "./throttle-subjects.ts";

export interface PasswordProofDependencies {
  readonly passwords: PasswordHasher;
  readonly throttle: LoginThrottle;
}

/** A password given for the account of an email. */
interface GivenPassword {
  readonly email: string;
  readonly password: string;
  readonly clientAddress: string;
}

/** A person with the hash of their password; null where there is none. */
interface PasswordHolder {
  readonly passwordHash: string | null;
}

/**
 * Looks a person up and compares the password, after the same work whether they exist or not; null when it is wrong.
 * Wherever passwords are compared, failures count against the same account. Throws RATE_LIMITED.
 */
export function provePassword<P extends PasswordHolder>(
  { passwords, throttle }: PasswordProofDependencies,
  log: Logger,
  { email, password, clientAddress }: GivenPassword,
  find: () => Promise<P | null>,
): Promise<(P & { passwordHash: string }) | null> {
  return throttledAttempt(throttle, loginSubjects(email, clientAddress), log, async () => {
    const found = await find();
    const passwordHash = found?.passwordHash ?? null;
    const matches = await passwords.verify(password, passwordHash);
    return matches && found !== null && passwordHash !== null ? { ...found, passwordHash } : null;
  });
}
