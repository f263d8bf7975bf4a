import { type Role, roleSatisfies } from "../access/principal.ts";
import { personOf } from "../changes/actor.ts";
import type { Change } from "../changes/change.ts";
import { ApiError } from "../errors.ts";
import { findRole } from "./member-store.ts";

/**
 * The caller's role as it is now. A credential is trusted for a moment after its owner was demoted or removed; who
 * changes the roles and rights of others is asked anew, with the memberships locked. Throws UNAUTHENTICATED and
 * FORBIDDEN; a rule or a job has no role and must not get here.
 */
export async function requireRoleNow({ tx, organizationId, actor }: Change, required: Role): Promise<Role> {
  const role = await findRole(tx, organizationId, personOf(actor).userId);
  if (role === null) throw new ApiError("UNAUTHENTICATED", "The membership has ended.");
  if (!roleSatisfies(role, required)) throw new ApiError("FORBIDDEN", `The role ${required} is required.`);
  return role;
}
