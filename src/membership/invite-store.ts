import type { TransactionSql } from "postgres";
import type { Role } from "../access/principal.ts";
import type { Invite } from "./types.ts";

/** The queries about invites. A token names the organisation; in all others it comes first. */

interface InviteRow {
  id: string;
  email: string;
  role: Role;
  invited_by: string;
  created_at: Date;
  expires_at: Date;
}

interface NewInvite {
  readonly email: string;
  readonly role: Role;
  readonly tokenHash: Uint8Array;
  readonly invitedBy: number;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

/** Those that can still be accepted, oldest first. */
export async function listInvites(
  tx: TransactionSql,
  organizationId: number,
  nowMs: number,
): Promise<Invite[]> {
  const rows = await tx<InviteRow[]>`
    SELECT id, email, role, invited_by, created_at, expires_at FROM invites
    WHERE organization_id = ${organizationId} AND expires_at > ${new Date(nowMs)}
    ORDER BY id`;
  return rows.map(inviteOf);
}

export async function countInvites(
  tx: TransactionSql,
  organizationId: number,
  nowMs: number,
): Promise<number> {
  const [row] = await tx<{ invites: string }[]>`
    SELECT count(*) AS invites FROM invites
    WHERE organization_id = ${organizationId} AND expires_at > ${new Date(nowMs)}`;
  return Number(row?.invites ?? 0);
}

/** Invites made since a time, whatever became of them: the audit log knows. */
export async function countInvitesMade(
  tx: TransactionSql,
  organizationId: number,
  sinceMs: number,
): Promise<number> {
  const [row] = await tx<{ invites: string }[]>`
    SELECT count(*) AS invites FROM audit_log
    WHERE organization_id = ${organizationId} AND action = 'CREATE_INVITE' AND created_at > ${new Date(sinceMs)}`;
  return Number(row?.invites ?? 0);
}

export async function deleteExpiredInvites(
  tx: TransactionSql,
  organizationId: number,
  nowMs: number,
): Promise<void> {
  await tx`DELETE FROM invites WHERE organization_id = ${organizationId} AND expires_at <= ${new Date(nowMs)}`;
}

export async function insertInvite(
  tx: TransactionSql,
  organizationId: number,
  input: NewInvite,
): Promise<Invite> {
  const [row] = await tx<InviteRow[]>`
    INSERT INTO invites (organization_id, email, role, token_hash, invited_by, created_at, expires_at)
    VALUES (${organizationId}, ${input.email}, ${input.role}, ${input.tokenHash}, ${input.invitedBy},
            ${new Date(input.createdAtMs)}, ${new Date(input.expiresAtMs)})
    RETURNING id, email, role, invited_by, created_at, expires_at`;
  if (row === undefined) throw new Error("an insert returned no row");
  return inviteOf(row);
}

/** Takes an invite away and answers what it was; null when the organisation has none of that id. */
export async function deleteInvite(
  tx: TransactionSql,
  organizationId: number,
  id: number,
): Promise<Invite | null> {
  const [row] = await tx<InviteRow[]>`
    DELETE FROM invites WHERE organization_id = ${organizationId} AND id = ${id}
    RETURNING id, email, role, invited_by, created_at, expires_at`;
  return row === undefined ? null : inviteOf(row);
}

/** Takes the invite of an address away and answers what it was. */
export async function deleteInviteFor(
  tx: TransactionSql,
  organizationId: number,
  email: string,
): Promise<Invite | null> {
  const [row] = await tx<InviteRow[]>`
    DELETE FROM invites WHERE organization_id = ${organizationId} AND email = ${email}
    RETURNING id, email, role, invited_by, created_at, expires_at`;
  return row === undefined ? null : inviteOf(row);
}

/** Takes the invites away that a person made for roles they do not keep, and answers what they were. */
export async function deleteInvitesOf(
  tx: TransactionSql,
  organizationId: number,
  userId: number,
  roles: readonly Role[],
): Promise<Invite[]> {
  const rows = await tx<InviteRow[]>`
    DELETE FROM invites
    WHERE organization_id = ${organizationId} AND invited_by = ${userId} AND role = ANY(${[...roles]}::text[])
    RETURNING id, email, role, invited_by, created_at, expires_at`;
  return rows.map(inviteOf);
}

/** The organisation that a token invites to, whether the invite is still good or not. */
export async function findInvitingOrganization(
  tx: TransactionSql,
  tokenHash: Uint8Array,
): Promise<number | null> {
  const [row] = await tx<{ organization_id: number }[]>`
    SELECT organization_id FROM invites WHERE token_hash = ${tokenHash}`;
  return row?.organization_id ?? null;
}

/** Uses an invite up, if it is good for this address now; of two who try one gets it. */
export async function takeInvite(
  tx: TransactionSql,
  organizationId: number,
  use: { tokenHash: Uint8Array; email: string; nowMs: number },
): Promise<Invite | null> {
  const [row] = await tx<InviteRow[]>`
    DELETE FROM invites
    WHERE organization_id = ${organizationId} AND token_hash = ${use.tokenHash} AND email = ${use.email}
      AND expires_at > ${new Date(use.nowMs)}
    RETURNING id, email, role, invited_by, created_at, expires_at`;
  return row === undefined ? null : inviteOf(row);
}

function inviteOf(row: InviteRow): Invite {
  return {
    id: Number(row.id),
    email: row.email,
    role: row.role,
    invitedBy: Number(row.invited_by),
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
  };
}
