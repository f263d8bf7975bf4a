import { randomBytes } from "node:crypto";
import type { Sql } from "postgres";
import { normaliseEmail } from "../../access/email-address.ts";
import { type Principal, roleSatisfies } from "../../access/principal.ts";
import { hashToken } from "../../access/secret-token.ts";
import { personOf } from "../../changes/actor.ts";
import type { Change } from "../../changes/change.ts";
import { ApiError, validationFailed } from "../../errors.ts";
import { requireRoleNow } from "../../membership/acting-role.ts";
import {
  countInvites,
  countInvitesMade,
  deleteExpiredInvites,
  deleteInvite,
  deleteInviteFor,
  insertInvite,
  listInvites,
} from "../../membership/invite-store.ts";
import {
  INVITE_LIFE_MS,
  INVITES_MAX,
  INVITES_PER_DAY_MAX,
  INVITES_RETRY_AFTER_SECONDS,
} from "../../membership/limits.ts";
import { isMember } from "../../membership/member-store.ts";
import { findOrganization } from "../../membership/organization-store.ts";
import type { Invite } from "../../membership/types.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization, lockOrganization } from "../../storage/organization-transaction.ts";
import type { MailInvite } from "./invite-mail.ts";
import type { CreateInviteBody, MintedInvite } from "./types.ts";

const TOKEN_BYTES = 32;
const DAY_MS = 24 * 60 * 60 * 1000;

export function listOpenInvites(sql: Sql, { organizationId }: Principal, nowMs: number): Promise<Invite[]> {
  return askPostgres(() =>
    inOrganization(sql, organizationId, (tx) => listInvites(tx, organizationId, nowMs)),
  );
}

/**
 * Invites an address, to at most the caller's own role; an open invite of the same address is replaced. Throws
 * VALIDATION_FAILED for what is no address, FORBIDDEN for a role above the caller's, and CONFLICT for a member and for
 * one open invite too many, and RATE_LIMITED for one too many in a day.
 */
export async function createInvite(
  change: Change,
  mailInvite: MailInvite,
  { email: typed, role }: CreateInviteBody,
): Promise<MintedInvite> {
  const { tx, organizationId, nowMs } = change;
  const inviter = personOf(change.actor);
  const email = normaliseEmail(typed);
  if (email === null)
    throw validationFailed([{ path: "/email", code: "invalid_string", message: "must be an email address" }]);
  await lockOrganization(tx, organizationId);
  const ownRole = await requireRoleNow(change, "admin");
  if (!roleSatisfies(ownRole, role))
    throw new ApiError("FORBIDDEN", "Nobody invites to a role above their own.");
  if (await isMember(tx, organizationId, email)) throw new ApiError("CONFLICT", "This person is a member.");
  await deleteExpiredInvites(tx, organizationId, nowMs);
  const replaced = await deleteInviteFor(tx, organizationId, email);
  if (replaced !== null)
    change.record({ resource: resourceOf(replaced.id), before: replaced }, "DELETE_INVITE");
  await requireRoomForInvite(change);

  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  const invite = await insertInvite(tx, organizationId, {
    email,
    role,
    tokenHash: hashToken(token),
    invitedBy: inviter.userId,
    createdAtMs: nowMs,
    expiresAtMs: nowMs + INVITE_LIFE_MS,
  });
  const organization = await findOrganization(tx, organizationId);
  if (organization === null) throw new Error("the caller's organisation is out of reach");
  await mailInvite(tx, { invite, token, organization, invitedBy: inviter.email });
  change.record({ resource: resourceOf(invite.id), after: invite });
  return { ...invite, token };
}

async function requireRoomForInvite({ tx, organizationId, nowMs }: Change): Promise<void> {
  if ((await countInvites(tx, organizationId, nowMs)) >= INVITES_MAX)
    throw new ApiError("CONFLICT", `There are ${INVITES_MAX} open invites already; delete one first.`);
  if ((await countInvitesMade(tx, organizationId, nowMs - DAY_MS)) >= INVITES_PER_DAY_MAX)
    throw new ApiError("RATE_LIMITED", `There have been ${INVITES_PER_DAY_MAX} invites in a day.`, {
      retryAfterSeconds: INVITES_RETRY_AFTER_SECONDS,
    });
}

/** Takes an invite back. Throws NOT_FOUND for an id that the organisation has not. */
export async function removeInvite(change: Change, id: number): Promise<void> {
  const before = await deleteInvite(change.tx, change.organizationId, id);
  if (before === null) throw new ApiError("NOT_FOUND", "No such invite.");
  change.record({ resource: resourceOf(id), before });
}

function resourceOf(id: number): string {
  return `invite:${id}`;
}
