import { personOf } from "../../changes/actor.ts";
import type { Change } from "../../changes/change.ts";
import { ApiError, validationFailed } from "../../errors.ts";
import type { AuthenticatedContext } from "../../http/route.ts";
import type { EnqueueMail } from "../../notify/mail/outbox.ts";
import { accountChangedMail } from "../../notify/mail/templates.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { findLoginPerson, holdPassword } from "../account-store.ts";
import type { Authenticator } from "../authenticator.ts";
import { NOTICE_LIFE_MS } from "../limits.ts";
import { throttledAttempt } from "../login-attempt.ts";
import { provePassword } from "../password-proof.ts";
import { deleteSessionsOf } from "../session-store.ts";
import { enrolmentSubjects, secondFactorSubjects } from "../throttle-subjects.ts";
import type { MfaDisableBody, MfaEnrolment } from "../types.ts";
import { beginFactor, enableFactor, findFactor, lockPerson, removeFactor } from "./mfa-store.ts";
import { mintRecoveryCodes, type RecoveryCode, writeRecoveryCode } from "./recovery-codes.ts";
import {
  acceptProof,
  freshStep,
  proveSecondFactor,
  type SecondFactorDependencies,
  type SecondFactorProof,
  sealTotpSecret,
} from "./second-factor.ts";
import { mintTotpSecret, otpauthUri } from "./totp.ts";

export interface MfaDependencies extends SecondFactorDependencies {
  readonly authenticator: Pick<Authenticator, "forget">;
  readonly enqueueMail: EnqueueMail;
  readonly publicUrl: string;
}

type Caller = Pick<AuthenticatedContext, "principal" | "clientAddress" | "log">;

/** A factor that was minted and is not stored yet. */
interface MintedFactor {
  readonly secret: string;
  readonly codes: readonly (RecoveryCode & { readonly codeHash: string })[];
}

/** Mints a secret and hashes its recovery codes, outside of any transaction. Throws CONFLICT and RATE_LIMITED. */
export async function mintFactor(
  { sql, passwords, throttle }: MfaDependencies,
  { principal: { userId }, log }: Caller,
): Promise<MintedFactor> {
  const factor = await askPostgres(() => findFactor(sql, userId));
  if (factor?.isEnabled === true) throw alreadyEnabled();
  const minted: { factor: MintedFactor | null } = { factor: null };
  await throttledAttempt(throttle, enrolmentSubjects(userId), log, async () => {
    const codes = mintRecoveryCodes();
    const hashes = await Promise.all(codes.map(({ rest }) => passwords.hash(rest)));
    minted.factor = {
      secret: mintTotpSecret(),
      codes: codes.map((code, i) => ({ ...code, codeHash: hashes[i] ?? "" })),
    };
    return null;
  });
  if (minted.factor === null) throw new Error("an attempt that was made minted nothing");
  return minted.factor;
}

/** Stores a minted factor, which is asked for once a code of it was seen; what the person is shown this once. */
export async function enrol(
  change: Change,
  { box }: Pick<MfaDependencies, "box">,
  { secret, codes }: MintedFactor,
): Promise<MfaEnrolment> {
  const { tx, nowMs } = change;
  const { userId, email } = personOf(change.actor);
  await lockPerson(tx, userId);
  const factor = { secret: sealTotpSecret(box, userId, secret), createdAtMs: nowMs, codes };
  if (!(await beginFactor(tx, userId, factor))) throw alreadyEnabled();
  change.record({ resource: `user:${userId}` });
  return { secret, otpauthUri: otpauthUri(secret, email), recoveryCodes: codes.map(writeRecoveryCode) };
}

/** A code that shows that the person's device has the secret. */
interface FirstCode {
  readonly secret: Uint8Array;
  readonly step: number;
}

/** Throws CONFLICT when no enrolment is open, INVALID_CREDENTIALS for a wrong code, RATE_LIMITED. */
export async function proveFirstCode(
  deps: MfaDependencies,
  { principal: { userId }, log }: Caller,
  code: string,
): Promise<FirstCode> {
  const factor = await askPostgres(() => findFactor(deps.sql, userId));
  if (factor === null)
    throw new ApiError("CONFLICT", "No enrolment is open; begin one with /auth/mfa/enroll.");
  if (factor.isEnabled) throw alreadyEnabled();
  const step = await throttledAttempt(deps.throttle, secondFactorSubjects(userId), log, async () =>
    freshStep(deps, userId, factor, code),
  );
  if (step === null) throw new ApiError("INVALID_CREDENTIALS", "The one-time code is wrong.");
  return { secret: factor.secret, step };
}

/** Enables the factor and ends the person's other sessions, which were begun without it. */
export async function enable(
  change: Change,
  deps: MfaDependencies,
  ownSession: Uint8Array | null,
  { secret, step }: FirstCode,
): Promise<void> {
  const { tx, nowMs } = change;
  const { userId } = personOf(change.actor);
  await lockPerson(tx, userId);
  if (!(await enableFactor(tx, userId, { secret, step, nowMs }))) throw alreadyEnabled();
  await tellAndEndOthers(change, deps, ownSession, "A second factor was turned on");
  change.record({
    resource: `user:${userId}`,
    before: { mfaEnabled: false },
    after: { mfaEnabled: true },
  });
}

/** What somebody who turns the factor off has shown: a password by its hash, a code, or both. */
interface DisablingProof {
  readonly passwordHash: string | null;
  readonly code: SecondFactorProof | null;
}

/**
 * Judges what was given: at least one of password and code, and whatever is given must be right. A factor that was
 * begun and not enabled protects nothing, so that nothing is asked for it. Throws CONFLICT when there is none,
 * VALIDATION_FAILED when nothing is given, INVALID_CREDENTIALS, RATE_LIMITED.
 */
export async function proveDisabling(
  deps: MfaDependencies,
  { principal, clientAddress, log }: Caller,
  { password, code }: MfaDisableBody,
): Promise<DisablingProof> {
  const { userId, email } = principal;
  const factor = await askPostgres(() => findFactor(deps.sql, userId));
  if (factor === null) throw notEnabled();
  if (!factor.isEnabled) return { passwordHash: null, code: null };
  if (password === undefined && code === undefined)
    throw validationFailed([
      { path: "", code: "custom", message: "give the password, a one-time code or a recovery code" },
    ]);
  const given = { email, password: password ?? "", clientAddress };
  const person =
    password === undefined
      ? null
      : await provePassword(deps, log, given, () => askPostgres(() => findLoginPerson(deps.sql, email)));
  if (password !== undefined && person === null)
    throw new ApiError("INVALID_CREDENTIALS", "The password is wrong.");
  return {
    passwordHash: person?.passwordHash ?? null,
    code: code === undefined ? null : await proveSecondFactor(deps, log, userId, code),
  };
}

/** Turns the factor off, drops its recovery codes and ends the person's other sessions. */
export async function disable(
  change: Change,
  deps: MfaDependencies,
  ownSession: Uint8Array | null,
  { passwordHash, code }: DisablingProof,
): Promise<void> {
  const { tx } = change;
  const { userId } = personOf(change.actor);
  await lockPerson(tx, userId);
  if (passwordHash !== null && !(await holdPassword(tx, userId, passwordHash)))
    throw new ApiError("CONFLICT", "The password was changed meanwhile.");
  const facts = await acceptProof(tx, userId, code);
  const removed = await removeFactor(tx, userId);
  if (removed === null) throw notEnabled();
  // Enabled since it was looked at: then it has to be proved.
  if (removed.wasEnabled && passwordHash === null && code === null)
    throw new ApiError("CONFLICT", "Try again.");
  if (removed.wasEnabled)
    await tellAndEndOthers(change, deps, ownSession, "The second factor was turned off");
  const before = { mfaEnabled: removed.wasEnabled };
  change.record({ resource: `user:${userId}`, before, after: { mfaEnabled: false }, facts });
}

async function tellAndEndOthers(
  { tx, actor, nowMs, afterCommit }: Change,
  { authenticator, enqueueMail, publicUrl }: MfaDependencies,
  ownSession: Uint8Array | null,
  what: string,
): Promise<void> {
  const { userId, email } = personOf(actor);
  const ended = await deleteSessionsOf(tx, userId, ownSession);
  await enqueueMail(tx, accountChangedMail(email, what, publicUrl), nowMs + NOTICE_LIFE_MS);
  afterCommit(() => {
    for (const tokenHash of ended) authenticator.forget(tokenHash);
  });
}

function alreadyEnabled(): ApiError {
  return new ApiError("CONFLICT", "A second factor is enabled already; turn it off first.");
}

function notEnabled(): ApiError {
  return new ApiError("CONFLICT", "No second factor is enabled.");
}
