import type { Sql, TransactionSql } from "postgres";
import type { SecretBox } from "../../access/secret-box.ts";
import type { JsonObject } from "../../audit/canonical-json.ts";
import { ApiError } from "../../errors.ts";
import type { Logger } from "../../log.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { SECOND_FACTOR_FAILURES_PER_DAY_MAX } from "../limits.ts";
import { throttledAttempt } from "../login-attempt.ts";
import type { LoginThrottle } from "../login-throttle.ts";
import type { PasswordHasher } from "../password-hasher.ts";
import { secondFactorSubjects } from "../throttle-subjects.ts";
import {
  acceptStep,
  countFailure,
  findFactor,
  findRecoveryCodeHash,
  forgiveFailures,
  type HashedRecoveryCode,
  type TotpFactor,
  useRecoveryCode,
} from "./mfa-store.ts";
import { readRecoveryCode } from "./recovery-codes.ts";
import { matchingStep } from "./totp.ts";

const SECRET_PURPOSE = "totp";
const DAY_MS = 24 * 60 * 60 * 1000;
const DIGITS_ONLY = /^\d{6}$/;

export interface SecondFactorDependencies {
  readonly sql: Sql;
  readonly box: SecretBox;
  readonly passwords: PasswordHasher;
  readonly throttle: LoginThrottle;
  readonly now: () => number;
}

/** A code that was right when it was looked at. It counts once `acceptProof` has used it up. */
export type SecondFactorProof =
  | { readonly kind: "totp"; readonly step: number }
  | ({ readonly kind: "recovery-code" } & HashedRecoveryCode);

/**
 * Judges the code that a person who has proved their password gave, under the throttle of the person; null when the
 * account asks for none. Throws MFA_REQUIRED when there is no code, INVALID_CREDENTIALS for a wrong or replayed one.
 */
export async function proveSecondFactor(
  deps: SecondFactorDependencies,
  log: Logger,
  userId: number,
  code: string | undefined,
): Promise<SecondFactorProof | null> {
  const factor = await askPostgres(() => findFactor(deps.sql, userId));
  if (factor === null || !factor.isEnabled) return null;
  if (code === undefined)
    throw new ApiError("MFA_REQUIRED", "The account asks for a one-time code; send it in totp.");
  const proof = await throttledAttempt(deps.throttle, secondFactorSubjects(userId), log, () =>
    judgeCode(deps, userId, factor, code),
  );
  if (proof === null) throw wrongCode();
  return proof;
}

/**
 * Uses a code up, in the transaction of what it allows; what the audit log is to know. Throws INVALID_CREDENTIALS when
 * it was used meanwhile, here or on another instance.
 */
export async function acceptProof(
  tx: TransactionSql,
  userId: number,
  proof: SecondFactorProof | null,
): Promise<JsonObject> {
  if (proof === null) return {};
  await forgiveFailures(tx, userId);
  if (proof.kind === "totp") {
    if (!(await acceptStep(tx, userId, proof.step))) throw wrongCode();
    return { secondFactor: "totp" };
  }
  const recoveryCodesLeft = await useRecoveryCode(tx, userId, proof);
  if (recoveryCodesLeft === null) throw wrongCode();
  return { secondFactor: "recovery-code", recoveryCodesLeft };
}

/** Whether the person is asked for a code when they log in. */
export async function hasSecondFactor(tx: TransactionSql, userId: number): Promise<boolean> {
  return (await findFactor(tx, userId))?.isEnabled ?? false;
}

export function sealTotpSecret(box: SecretBox, userId: number, secret: string): Buffer {
  return box.seal(secret, `${SECRET_PURPOSE}:${userId}`);
}

/** The step of the code in the factor's own time; null for a wrong code and for one that is not newer than the last. */
export function freshStep(
  { box, now }: Pick<SecondFactorDependencies, "box" | "now">,
  userId: number,
  factor: TotpFactor,
  code: string,
): number | null {
  const digits = code.replaceAll(/\s/g, "");
  if (!DIGITS_ONLY.test(digits)) return null;
  const step = matchingStep(box.open(factor.secret, `${SECRET_PURPOSE}:${userId}`), digits, now());
  return step !== null && step > factor.lastStep ? step : null;
}

async function judgeCode(
  deps: SecondFactorDependencies,
  userId: number,
  factor: TotpFactor,
  code: string,
): Promise<SecondFactorProof | null> {
  await requireAttemptLeft(deps, userId);
  const step = freshStep(deps, userId, factor, code);
  if (step !== null) return { kind: "totp", step };
  const recovery = readRecoveryCode(code);
  if (recovery === null) return null;
  const { slot, rest } = recovery;
  const codeHash = await askPostgres(() => findRecoveryCodeHash(deps.sql, userId, slot));
  const matches = await deps.passwords.verify(rest, codeHash);
  return matches && codeHash !== null ? { kind: "recovery-code", slot, codeHash } : null;
}

/** Throws RATE_LIMITED when the person has failed too often today. */
async function requireAttemptLeft(
  { sql, now }: Pick<SecondFactorDependencies, "sql" | "now">,
  userId: number,
): Promise<void> {
  const nowMs = now();
  const day = new Date(nowMs).toISOString().slice(0, 10);
  const max = SECOND_FACTOR_FAILURES_PER_DAY_MAX;
  if (await askPostgres(() => countFailure(sql, userId, { day, max }))) return;
  const midnightMs = Date.parse(`${day}T00:00:00Z`) + DAY_MS;
  throw new ApiError("RATE_LIMITED", "Too many wrong one-time codes today.", {
    retryAfterSeconds: Math.ceil((midnightMs - nowMs) / 1000),
  });
}

function wrongCode(): ApiError {
  return new ApiError("INVALID_CREDENTIALS", "The one-time code is wrong or was used already.");
}
