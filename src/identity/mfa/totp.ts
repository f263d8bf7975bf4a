import { Secret, TOTP } from "otpauth";
import { TOTP_DIGITS, TOTP_PERIOD_SECONDS, TOTP_SECRET_BYTES, TOTP_WINDOW_STEPS } from "../limits.ts";

/** How authenticator apps call this server. */
const ISSUER = "obs";
/** SHA-1 is what RFC 6238 says and the only one that every authenticator app computes. */
const ALGORITHM = "SHA1";

/** A new shared secret, in base32. */
export function mintTotpSecret(): string {
  return new Secret({ size: TOTP_SECRET_BYTES }).base32;
}

/** What a QR code for an authenticator app says. */
export function otpauthUri(secret: string, email: string): string {
  return authenticator(secret, email).toString();
}

/** The time step whose code this is, within the window around `nowMs`; null for a wrong code. */
export function matchingStep(secret: string, code: string, nowMs: number): number | null {
  const totp = authenticator(secret, "");
  const delta = totp.validate({ token: code, timestamp: nowMs, window: TOTP_WINDOW_STEPS });
  return delta === null ? null : totp.counter({ timestamp: nowMs }) + delta;
}

function authenticator(secret: string, label: string): TOTP {
  return new TOTP({
    issuer: ISSUER,
    label,
    secret: Secret.fromBase32(secret),
    algorithm: ALGORITHM,
    digits: TOTP_DIGITS,
    period: TOTP_PERIOD_SECONDS,
  });
}
