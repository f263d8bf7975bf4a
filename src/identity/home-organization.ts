import type { Change } from "../changes/change.ts";
import { insertMember } from "../membership/member-store.ts";
import { insertOrganization, lockHomelessPerson } from "../membership/organization-store.ts";
import { defaultOrganizationName } from "./account-service.ts";

/**
 * Gives a person who belongs to no organisation any more one of their own, as at registration: everybody has one to sign
 * in to. The change must reach further than the organisation they were removed from.
 */
export async function giveHomeOrganization({ tx, nowMs }: Change, userId: number): Promise<void> {
  const email = await lockHomelessPerson(tx, userId);
  if (email === null) return;
  const organizationId = await insertOrganization(tx, {
    name: defaultOrganizationName(email),
    createdAtMs: nowMs,
  });
  await insertMember(tx, organizationId, { userId, role: "owner", joinedAtMs: nowMs });
}
