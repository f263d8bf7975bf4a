import { hashToken } from "../access/secret-token.ts";
import { addressKey } from "../http/client-address.ts";
import {
  ACCOUNT_DELAY_MAX_MS,
  ACCOUNT_FREE_FAILURES,
  ADDRESS_DELAY_MAX_MS,
  ADDRESS_FREE_FAILURES,
  LINK_DELAY_MAX_MS,
  LINK_FREE_REQUESTS,
  SECOND_FACTOR_DELAY_MAX_MS,
  SECOND_FACTOR_FREE_FAILURES,
} from "./limits.ts";
import type { DelayPolicy, ThrottleSubject } from "./login-throttle.ts";
import type { LinkPurpose } from "./mailed-links/link-store.ts";

const ACCOUNT: DelayPolicy = { freeFailures: ACCOUNT_FREE_FAILURES, delayMaxMs: ACCOUNT_DELAY_MAX_MS };
const ADDRESS: DelayPolicy = { freeFailures: ADDRESS_FREE_FAILURES, delayMaxMs: ADDRESS_DELAY_MAX_MS };
const LINK: DelayPolicy = { freeFailures: LINK_FREE_REQUESTS, delayMaxMs: LINK_DELAY_MAX_MS };
const SECOND_FACTOR: DelayPolicy = {
  freeFailures: SECOND_FACTOR_FREE_FAILURES,
  delayMaxMs: SECOND_FACTOR_DELAY_MAX_MS,
};
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

/** Whose requests a request for a mailed link counts against; each one counts, for each one is a mail to somebody. */
export function linkRequestSubjects(
  purpose: LinkPurpose,
  email: string,
  clientAddress: string,
): ThrottleSubject[] {
  return [
    { key: `${purpose}:${shortHash(email)}`, policy: LINK, onSuccess: "refund" },
    { key: `link-request:${addressKey(clientAddress)}`, policy: ADDRESS, onSuccess: "refund" },
  ];
}

/** Whose failures the use of a mailed link counts against. */
export function linkUseSubjects(clientAddress: string): ThrottleSubject[] {
  return [{ key: `link:${addressKey(clientAddress)}`, policy: ADDRESS, onSuccess: "refund" }];
}

/** Whose failures a one-time or recovery code counts against. */
export function secondFactorSubjects(userId: number): ThrottleSubject[] {
  return [{ key: `second-factor:${userId}`, policy: SECOND_FACTOR, onSuccess: "forget" }];
}

/** Enrolments count like failures, all of them: each costs ten hashes. */
export function enrolmentSubjects(userId: number): ThrottleSubject[] {
  return [{ key: `enrolment:${userId}`, policy: ACCOUNT, onSuccess: "refund" }];
}

/** Keeps keys short and addresses of people out of stores and logs. */
function shortHash(text: string): string {
  return hashToken(text).toString("base64url").slice(0, KEY_HASH_CHARS);
}
