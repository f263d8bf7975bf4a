import type { TransactionSql } from "postgres";
import { ROLES, type Role, roleSatisfies } from "../../../access/principal.ts";
import { deleteInvitesOf } from "../../../membership/invite-store.ts";
import { countMembers, lockMember, updateRole } from "../../../membership/member-store.ts";
import type { Happening } from "../provider-session.ts";
import { mappedRole, mapsRoles, type RoleMapping } from "./role-mapping.ts";

/**
 * Gives a member the role that their groups give, up or down, where groups give any. The sole owner stays one, for
 * somebody must be. The organisation is locked, so nobody else ceases to be an owner meanwhile.
 */
export async function followMapping(
  tx: TransactionSql,
  { organizationId, ...mapping }: RoleMapping & { readonly organizationId: number },
  { userId, groups }: { readonly userId: number; readonly groups: readonly string[] | null },
  happenings: Happening[],
): Promise<void> {
  if (!mapsRoles(mapping)) return;
  const before = await lockMember(tx, organizationId, userId);
  const role = mappedRole(mapping, groups);
  if (before === null || before.role === role) return;
  if (before.role === "owner" && (await countMembers(tx, organizationId, "owner")) === 1) return;
  await updateRole(tx, organizationId, userId, role);
  const entry = { resource: `member:${userId}`, before, after: { ...before, role }, facts: { by: "sso" } };
  happenings.push({ action: "UPDATE_MEMBER", entry });
  for (const invite of await deleteInvitesOf(tx, organizationId, userId, rolesBeyond(role)))
    happenings.push({ action: "DELETE_INVITE", entry: { resource: `invite:${invite.id}`, before: invite } });
}

/** The roles that a person of this role invites nobody to. */
function rolesBeyond(role: Role): Role[] {
  return ROLES.filter((invited) => !roleSatisfies(role, "admin") || !roleSatisfies(role, invited));
}
