import type { Sql } from "postgres";
import { personOf } from "../changes/actor.ts";
import type { Change } from "../changes/change.ts";
import { ApiError } from "../errors.ts";
import type { AuthenticatedContext } from "../http/route.ts";
import type { EnqueueMail } from "../notify/mail/outbox.ts";
import { accountChangedMail } from "../notify/mail/templates.ts";
import { askPostgres } from "../storage/ask-postgres.ts";
import { findLoginPerson, holdPassword, setPasswordHash } from "./account-store.ts";
import type { Authenticator } from "./authenticator.ts";
import { NOTICE_LIFE_MS } from "./limits.ts";
import { deleteLinks } from "./mailed-links/link-store.ts";
import { forgiveFailures } from "./mfa/mfa-store.ts";
import { requireUncommonPassword } from "./password-policy.ts";
import { type PasswordProofDependencies, provePassword } from "./password-proof.ts";
import { deleteSessionsOf } from "./session-store.ts";
import type { ChangePasswordBody } from "./types.ts";

export interface PasswordChangeDependencies extends PasswordProofDependencies {
  readonly sql: Sql;
  readonly authenticator: Pick<Authenticator, "forget">;
  readonly enqueueMail: EnqueueMail;
  readonly publicUrl: string;
}

/** The old and the new hash. */
interface PasswordReplacement {
  readonly from: string;
  readonly to: string;
}

/**
 * Judges the present password and hashes the new one, outside of any transaction. Throws INVALID_CREDENTIALS, also for
 * a person without a password, who gets one by a mailed link; VALIDATION_FAILED for a common one; RATE_LIMITED.
 */
export async function preparePasswordChange(
  deps: PasswordChangeDependencies,
  { principal, clientAddress, log }: AuthenticatedContext,
  { currentPassword, newPassword }: ChangePasswordBody,
): Promise<PasswordReplacement> {
  const { email } = principal;
  requireUncommonPassword(newPassword, "/newPassword", email);
  const given = { email, password: currentPassword, clientAddress };
  const person = await provePassword(deps, log, given, () =>
    askPostgres(() => findLoginPerson(deps.sql, email)),
  );
  if (person === null) throw new ApiError("INVALID_CREDENTIALS", "The current password is wrong.");
  return { from: person.passwordHash, to: await deps.passwords.hash(newPassword) };
}

/**
 * Gives the caller the new password and ends their sessions but `ownSession`, in every organisation, and the links that would
 * change it again. The change must reach further than the organisation. Throws CONFLICT when another one came first.
 */
export async function changePassword(
  change: Change,
  { authenticator, enqueueMail, publicUrl }: PasswordChangeDependencies,
  ownSession: Uint8Array | null,
  { from, to }: PasswordReplacement,
): Promise<void> {
  const { tx, actor, nowMs } = change;
  const { userId, email } = personOf(actor);
  if (!(await holdPassword(tx, userId, from)))
    throw new ApiError("CONFLICT", "The password was changed meanwhile.");
  await setPasswordHash(tx, userId, to);
  await forgiveFailures(tx, userId);
  await deleteLinks(tx, "reset-password", userId);
  const ended = await deleteSessionsOf(tx, userId, ownSession);
  const notice = accountChangedMail(email, "Your password was changed", publicUrl);
  await enqueueMail(tx, notice, nowMs + NOTICE_LIFE_MS);
  change.record({ resource: `user:${userId}`, facts: { sessionsEnded: ended.length } });
  change.afterCommit(() => {
    for (const tokenHash of ended) authenticator.forget(tokenHash);
  });
}
