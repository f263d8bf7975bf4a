import type { Sql } from "postgres";
import { hashToken } from "../../access/secret-token.ts";
import { ApiError } from "../../errors.ts";
import type { RequestContext } from "../../http/route.ts";
import type { EnqueueMail } from "../../notify/mail/outbox.ts";
import { accountChangedMail } from "../../notify/mail/templates.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { findHomeOrganization, setPasswordHash } from "../account-store.ts";
import type { Authenticator } from "../authenticator.ts";
import { NOTICE_LIFE_MS } from "../limits.ts";
import { throttledAttempt } from "../login-attempt.ts";
import type { LoginThrottle } from "../login-throttle.ts";
import { forgiveFailures } from "../mfa/mfa-store.ts";
import type { PasswordHasher } from "../password-hasher.ts";
import { requireUncommonPassword } from "../password-policy.ts";
import { deleteSessionsOf } from "../session-store.ts";
import { linkUseSubjects } from "../throttle-subjects.ts";
import type { ResetPasswordBody } from "../types.ts";
import { findLinkOwner, type LinkOwner, markEmailVerified, useLinkUp } from "./link-store.ts";

export interface PasswordResetDependencies {
  readonly sql: Sql;
  readonly passwords: PasswordHasher;
  readonly throttle: LoginThrottle;
  readonly authenticator: Pick<Authenticator, "forget">;
  readonly enqueueMail: EnqueueMail;
  readonly publicUrl: string;
  readonly now: () => number;
}

type Caller = Pick<RequestContext, "clientAddress" | "log" | "changeAnonymously">;

const PURPOSE = "reset-password";

/**
 * Gives the person a link was mailed to a new password and ends all their sessions; it signs nobody in, so a second
 * factor is still asked for. The link has also shown that they read mail at their address. Throws LINK_INVALID, and
 * VALIDATION_FAILED for a common password, which leaves the link usable.
 */
export async function resetPassword(
  deps: PasswordResetDependencies,
  caller: Caller,
  { token, newPassword }: ResetPasswordBody,
): Promise<void> {
  const tokenHash = hashToken(token);
  const subjects = linkUseSubjects(caller.clientAddress);
  const ended = await throttledAttempt(deps.throttle, subjects, caller.log, async () => {
    const link = { purpose: PURPOSE, tokenHash, nowMs: deps.now() } as const;
    const owner = await askPostgres(() => findLinkOwner(deps.sql, link));
    // Before the hash: made-up tokens must cost next to nothing.
    if (owner === null) return null;
    requireUncommonPassword(newPassword, "/newPassword", owner.email);
    const passwordHash = await deps.passwords.hash(newPassword);
    return replacePassword(deps, caller, owner, { tokenHash, passwordHash });
  });
  if (ended === null)
    throw new ApiError("LINK_INVALID", "The link is unknown, expired or used; ask for a new one.");
  for (const sessionHash of ended) deps.authenticator.forget(sessionHash);
}

/** The hashes of the sessions that ended; null when the link was used meanwhile. */
async function replacePassword(
  { enqueueMail, publicUrl }: PasswordResetDependencies,
  caller: Caller,
  { userId, email }: LinkOwner,
  { tokenHash, passwordHash }: { tokenHash: Uint8Array; passwordHash: string },
): Promise<Uint8Array[] | null> {
  return caller.changeAnonymously(async ({ tx, nowMs, by }) => {
    if (!(await useLinkUp(tx, { purpose: PURPOSE, tokenHash, userId }))) return null;
    await setPasswordHash(tx, userId, passwordHash);
    await forgiveFailures(tx, userId);
    const newlyVerified = await markEmailVerified(tx, userId, nowMs);
    const ended = await deleteSessionsOf(tx, userId, null);
    const notice = accountChangedMail(email, "Your password was changed", publicUrl);
    await enqueueMail(tx, notice, nowMs + NOTICE_LIFE_MS);
    const organizationId = await findHomeOrganization(tx, userId);
    if (organizationId === null) return ended;
    const facts = { sessionsEnded: ended.length, emailVerified: newlyVerified };
    const change = by(organizationId, { kind: "person", userId, email });
    change.record({ resource: `user:${userId}`, facts });
    return ended;
  });
}
