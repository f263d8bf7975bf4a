import type { TransactionSql } from "postgres";
import { hashToken } from "../access/secret-token.ts";
import type { AnonymousChange } from "../changes/change.ts";
import { ApiError } from "../errors.ts";
import { lockOrganization } from "../storage/organization-transaction.ts";
import { findInvitingOrganization, takeInvite } from "./invite-store.ts";
import { MEMBERS_MAX } from "./limits.ts";
import { countMembers, insertMember } from "./member-store.ts";
import { findOrganization } from "./organization-store.ts";
import type { Belonging, Organization, User } from "./types.ts";

/**
 * Makes a person a member by the token of an invite, which is used up. Throws INVITE_INVALID for a token that is unknown, expired, taken back, used, or meant for another
 * address, and CONFLICT for a person who is a member already and for one member too many.
 */
export async function joinByInvite(
  { tx, nowMs, by }: AnonymousChange,
  { user, token }: { user: User; token: string },
): Promise<Belonging> {
  const tokenHash = hashToken(token);
  const organizationId = await findInvitingOrganization(tx, tokenHash);
  if (organizationId === null) throw invalidInvite();
  // Before the invite itself, in the order in which invites are made.
  await lockOrganization(tx, organizationId);
  const invite = await takeInvite(tx, organizationId, { tokenHash, email: user.email, nowMs });
  if (invite === null) throw invalidInvite();
  if ((await countMembers(tx, organizationId)) >= MEMBERS_MAX)
    throw new ApiError("CONFLICT", `The organisation has ${MEMBERS_MAX} members already.`);
  const { role } = invite;
  if (!(await insertMember(tx, organizationId, { userId: user.id, role, joinedAtMs: nowMs })))
    throw new ApiError("CONFLICT", "You are a member of this organisation already.");
  const organization = await requireOrganization(tx, organizationId);
  by(organizationId, { kind: "person", userId: user.id, email: user.email }).record({
    resource: `member:${user.id}`,
    after: { userId: user.id, email: user.email, role },
    facts: { inviteId: invite.id, invitedBy: invite.invitedBy },
  });
  return { organization, role };
}

async function requireOrganization(tx: TransactionSql, organizationId: number): Promise<Organization> {
  const organization = await findOrganization(tx, organizationId);
  if (organization === null) throw new Error("an invite leads to no organisation");
  return organization;
}

function invalidInvite(): ApiError {
  return new ApiError(
    "INVITE_INVALID",
    "The invite is unknown, expired, taken back, used, or meant for another email address.",
  );
}
