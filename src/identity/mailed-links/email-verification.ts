import type { Sql } from "postgres";
import { hashToken } from "../../access/secret-token.ts";
import { ApiError } from "../../errors.ts";
import type { RequestContext } from "../../http/route.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { findHomeOrganization } from "../account-store.ts";
import { throttledAttempt } from "../login-attempt.ts";
import type { LoginThrottle } from "../login-throttle.ts";
import { linkUseSubjects } from "../throttle-subjects.ts";
import { findLinkOwner, type LinkOwner, markEmailVerified } from "./link-store.ts";

export interface EmailVerificationDependencies {
  readonly sql: Sql;
  readonly throttle: LoginThrottle;
  readonly now: () => number;
}

type Caller = Pick<RequestContext, "clientAddress" | "log" | "changeAnonymously">;

/**
 * Notes that the person a link was mailed to reads mail at their address. The link works until it expires, because
 * mail programs open links before people do. Throws LINK_INVALID.
 */
export async function verifyEmail(
  { sql, throttle, now }: EmailVerificationDependencies,
  caller: Caller,
  token: string,
): Promise<void> {
  const subjects = linkUseSubjects(caller.clientAddress);
  const link = { purpose: "verify-email", tokenHash: hashToken(token), nowMs: now() } as const;
  const owner = await throttledAttempt(throttle, subjects, caller.log, async () => {
    const found = await askPostgres(() => findLinkOwner(sql, link));
    if (found !== null && !found.emailIsVerified) await markAndRecord(caller, found);
    return found;
  });
  if (owner === null)
    throw new ApiError("LINK_INVALID", "The link is unknown or expired; ask for a new one.");
}

async function markAndRecord(caller: Caller, { userId, email }: LinkOwner): Promise<void> {
  await caller.changeAnonymously(async ({ tx, nowMs, by }) => {
    if (!(await markEmailVerified(tx, userId, nowMs))) return;
    const organizationId = await findHomeOrganization(tx, userId);
    if (organizationId === null) return;
    by(organizationId, { kind: "person", userId, email }).record({
      resource: `user:${userId}`,
      before: { emailVerified: false },
      after: { emailVerified: true },
    });
  });
}
