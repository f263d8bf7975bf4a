import { ROLES, type Role } from "../../../access/principal.ts";

/** How an organisation's provider decides over roles. */
export interface RoleMapping {
  readonly groupRoles: Readonly<Record<string, Role>>;
  readonly defaultRole: Role;
}

/** The role of somebody in these groups: the highest that one of them gives, else the default. */
export function mappedRole({ groupRoles, defaultRole }: RoleMapping, groups: readonly string[] | null): Role {
  const given = (groups ?? [])
    .filter((group) => Object.hasOwn(groupRoles, group))
    .map((group) => groupRoles[group]);
  return ROLES.findLast((role) => given.includes(role)) ?? defaultRole;
}

/** Whether the provider decides over the roles of those who are members already. */
export function mapsRoles({ groupRoles }: RoleMapping): boolean {
  return Object.keys(groupRoles).length > 0;
}
