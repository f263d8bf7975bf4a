import type { Sql } from "postgres";
import { type Principal, ROLES, type Role, roleSatisfies } from "../../access/principal.ts";
import { personOf } from "../../changes/actor.ts";
import type { Change } from "../../changes/change.ts";
import { ApiError } from "../../errors.ts";
import type { Authenticator } from "../../identity/authenticator.ts";
import { requireRoleNow } from "../../membership/acting-role.ts";
import { deleteInvitesOf } from "../../membership/invite-store.ts";
import {
  countMembers,
  deleteMember,
  listCredentialHashes,
  listMembers,
  lockMember,
  updateRole,
} from "../../membership/member-store.ts";
import type { Member } from "../../membership/types.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization, lockOrganization } from "../../storage/organization-transaction.ts";
import { memberRemoved } from "./events.ts";

/** What remembers who a credential belongs to. */
type CredentialMemory = Pick<Authenticator, "forget">;

export function listOrganizationMembers(sql: Sql, { organizationId }: Principal): Promise<Member[]> {
  return askPostgres(() => inOrganization(sql, organizationId, (tx) => listMembers(tx, organizationId)));
}

/**
 * Gives a member another role. Who may invite less than before loses the invites that go beyond. Throws NOT_FOUND, and
 * CONFLICT for the sole owner.
 */
export async function changeRole(
  change: Change,
  credentials: CredentialMemory,
  userId: number,
  role: Role,
): Promise<Member> {
  const { tx, organizationId } = change;
  await lockOrganization(tx, organizationId);
  await requireRoleNow(change, "owner");
  const before = await requireMember(change, userId);
  if (role !== "owner") await refuseSoleOwner(change, before, "demoted");
  await updateRole(tx, organizationId, userId, role);
  const after = { ...before, role };
  change.record({ resource: resourceOf(userId), before, after });
  for (const invite of await deleteInvitesOf(tx, organizationId, userId, rolesNotInvitedBy(role)))
    change.record({ resource: `invite:${invite.id}`, before: invite }, "DELETE_INVITE");
  await forgetCredentials(change, credentials, userId);
  return after;
}

/**
 * Ends a membership and with it every session and token of the person in this organisation. Everybody may leave;
 * removing others takes an admin, and removing owners an owner. Throws FORBIDDEN, NOT_FOUND, and CONFLICT for the sole
 * owner. What follows for the person beyond the organisation, such as a new one to sign in to, is not this change's to
 * see: it emits `member.removed`.
 */
export async function removeMember(
  change: Change,
  credentials: CredentialMemory,
  userId: number,
): Promise<void> {
  const { tx, organizationId, actor } = change;
  await lockOrganization(tx, organizationId);
  const actingRole = await requireRoleNow(change, "viewer");
  const before = await requireMember(change, userId);
  if (userId !== personOf(actor).userId) refuseRemoval(actingRole, before.role);
  await refuseSoleOwner(change, before, "removed");
  await forgetCredentials(change, credentials, userId);
  await deleteMember(tx, organizationId, userId);
  change.record({ resource: resourceOf(userId), before });
  change.emit(memberRemoved, resourceOf(userId), { userId });
}

async function requireMember({ tx, organizationId }: Change, userId: number): Promise<Member> {
  const member = await lockMember(tx, organizationId, userId);
  if (member === null) throw new ApiError("NOT_FOUND", "No such member.");
  return member;
}

/** The memberships are locked, so nobody else can cease to be an owner meanwhile. */
async function refuseSoleOwner(
  { tx, organizationId }: Change,
  { role }: Member,
  fate: "demoted" | "removed",
): Promise<void> {
  if (role !== "owner" || (await countMembers(tx, organizationId, "owner")) > 1) return;
  throw new ApiError(
    "CONFLICT",
    `The sole owner cannot be ${fate}; make somebody else an owner before that.`,
  );
}

/**
 * The member is locked, so no credential is made that this misses. Not an event: only this process is told, and others
 * look within a second.
 */
async function forgetCredentials(
  { tx, organizationId, afterCommit }: Change,
  credentials: CredentialMemory,
  userId: number,
): Promise<void> {
  const hashes = await listCredentialHashes(tx, organizationId, userId);
  afterCommit(() => {
    for (const hash of hashes) credentials.forget(hash);
  });
}

function refuseRemoval(actingRole: Role, role: Role): void {
  if (!roleSatisfies(actingRole, "admin"))
    throw new ApiError("FORBIDDEN", "The role admin is required to remove others.");
  if (role === "owner" && actingRole !== "owner")
    throw new ApiError("FORBIDDEN", "Only an owner removes an owner.");
}

/** The roles that a person of this role invites nobody to. */
function rolesNotInvitedBy(role: Role): Role[] {
  return ROLES.filter((invited) => !roleSatisfies(role, "admin") || !roleSatisfies(role, invited));
}

function resourceOf(userId: number): string {
  return `member:${userId}`;
}
