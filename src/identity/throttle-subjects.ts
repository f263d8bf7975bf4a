import { addressKey } from "../http/client-address.ts";
import {
  ACCOUNT_DELAY_MAX_MS,
  ACCOUNT_FREE_FAILURES,
  ADDRESS_DELAY_MAX_MS,
  ADDRESS_FREE_FAILURES,
} from "./limits.ts";
import type { DelayPolicy, ThrottleSubject } from "./login-throttle.ts";
import { hashToken } from "./secret-token.ts";

const ACCOUNT: DelayPolicy = { freeFailures: ACCOUNT_FREE_FAILURES, delayMaxMs: ACCOUNT_DELAY_MAX_MS };
const ADDRESS: DelayPolicy = { freeFailures: ADDRESS_FREE_FAILURES, delayMaxMs: ADDRESS_DELAY_MAX_MS };
const KEY_HASH_CHARS = 22;

/**
 * Whose failures a login counts against. A success clears the account, but for its address it only takes the
 * attempt back: otherwise an attacker would clear the address by logging into an account of their own.
 */
export function loginSubjects(email: string, clientAddress: string): ThrottleSubject[] {
  return [
    { key: `account:${shortHash(email)}`, policy: ACCOUNT, onSuccess: "forget" },
    { key: `login:${addressKey(clientAddress)}`, policy: ADDRESS, onSuccess: "refund" },
  ];
}

/** Whose failures a registration counts against; finding the email taken is the failure. */
export function registrationSubjects(clientAddress: string): ThrottleSubject[] {
  return [{ key: `registration:${addressKey(clientAddress)}`, policy: ADDRESS, onSuccess: "refund" }];
}

/** Keeps keys short and addresses of people out of stores and logs. */
function shortHash(text: string): string {
  return hashToken(text).toString("base64url").slice(0, KEY_HASH_CHARS);
}
