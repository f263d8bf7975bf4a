import { randomInt } from "node:crypto";
import { RECOVERY_CODES } from "../limits.ts";

/** Lower-case letters and digits without those that are mistaken for each other: 0 and o, 1, i and l, and u for v. */
const ALPHABET = "23456789abcdefghjkmnpqrstvwxyz";
const CODE_CHARS = 10;
const HALF = CODE_CHARS / 2;
const CODE = new RegExp(`^([${ALPHABET}])([${ALPHABET}]{${CODE_CHARS - 1}})$`);

/**
 * A recovery code in its two parts. The slot tells which of a person's codes it is and is no secret, so that checking a
 * code costs one slow hash instead of ten; the rest has 44 random bits, which argon2id protects.
 */
export interface RecoveryCode {
  readonly slot: string;
  readonly rest: string;
}

/** A person's codes, each with a slot of its own. */
export function mintRecoveryCodes(): RecoveryCode[] {
  const slots = [...ALPHABET];
  return Array.from({ length: RECOVERY_CODES }, () => {
    const [slot = ""] = slots.splice(randomInt(slots.length), 1);
    const rest = Array.from({ length: CODE_CHARS - 1 }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
    return { slot, rest };
  });
}

/** As people write it: five and five characters with a dash. */
export function writeRecoveryCode({ slot, rest }: RecoveryCode): string {
  const code = slot + rest;
  return `${code.slice(0, HALF)}-${code.slice(HALF)}`;
}

/** The code a person typed, with or without the dash and in any case; null for what cannot be one. */
export function readRecoveryCode(typed: string): RecoveryCode | null {
  const [, slot, rest] = CODE.exec(typed.toLowerCase().replace(/[\s-]/g, "")) ?? [];
  return slot === undefined || rest === undefined ? null : { slot, rest };
}
