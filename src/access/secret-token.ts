import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

const SECRET_BYTES = 32;
const PREFIX_CHARS = 12;
const SESSION_TOKEN = /^[A-Za-z0-9_-]{43}$/;
const PERSONAL_ACCESS_TOKEN = /^obs_[A-Za-z0-9_-]{43}$/;

/** 256 bits of randomness as 43 base64url characters: the value of a session cookie. */
export function mintSessionToken(): string {
  return randomBytes(SECRET_BYTES).toString("base64url");
}

/** 256 bits of randomness as 43 base64url characters: what a mailed link carries. */
export function mintLinkToken(): string {
  return randomBytes(SECRET_BYTES).toString("base64url");
}

/** A personal access token: `obs_` and 256 bits of randomness as 43 base64url characters. */
export function mintPersonalAccessToken(): string {
  return `obs_${randomBytes(SECRET_BYTES).toString("base64url")}`;
}

/** The part of a token that is shown in lists; it leaves 208 of the 256 bits unknown. */
export function tokenPrefix(token: string): string {
  return token.slice(0, PREFIX_CHARS);
}

export function isSessionToken(text: string): boolean {
  return SESSION_TOKEN.test(text);
}

export function isPersonalAccessToken(text: string): boolean {
  return PERSONAL_ACCESS_TOKEN.test(text);
}

/**
 * The stored form of a token: its SHA-256, 32 bytes. A fast hash suffices because the input is 256 random bits,
 * which nobody can enumerate; passwords never come here.
 */
export function hashToken(token: string): Buffer {
  return createHash("sha256").update(token, "utf8").digest();
}

/** The stored form in base64, for tables in memory; made at every request, so by the fastest way there is. */
export function tokenHashKey(token: string): string {
  return Bun.SHA256.hash(token, "base64");
}

/** Compares two stored forms in constant time. */
export function sameTokenHash(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}
