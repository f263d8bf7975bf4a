import { isIPv6 } from "node:net";
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
    { key: `address:${addressGroup(clientAddress)}`, policy: ADDRESS, onSuccess: "refund" },
  ];
}

/** Whose failures a registration counts against; finding the email taken is the failure. */
export function registrationSubjects(clientAddress: string): ThrottleSubject[] {
  return [{ key: `registration:${addressGroup(clientAddress)}`, policy: ADDRESS, onSuccess: "refund" }];
}

/** An IPv4 address, or the /64 network of an IPv6 address, all of which one subscriber holds. */
export function addressGroup(address: string): string {
  if (!isIPv6(address)) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped?.[1] !== undefined) return mapped[1];
  return ipv6Groups(address).slice(0, 4).join(":");
}

/** The eight groups of an IPv6 address in plain hexadecimal; a zone and a dotted tail do not reach the first four. */
function ipv6Groups(address: string): string[] {
  const [head = "", tail] = (address.split("%")[0] ?? "").split("::");
  const left = head.length > 0 ? head.split(":") : [];
  const right = tail === undefined || tail.length === 0 ? [] : tail.split(":");
  const dotted = right.at(-1)?.includes(".") ? 1 : 0;
  const missing = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length - dotted);
  const groups = [...left, ...Array.from({ length: missing }, () => "0"), ...right];
  return groups.map((group) => group.replace(/^0+(?=.)/, "").toLowerCase());
}

/** Keeps keys short and addresses of people out of stores and logs. */
function shortHash(text: string): string {
  return hashToken(text).toString("base64url").slice(0, KEY_HASH_CHARS);
}
