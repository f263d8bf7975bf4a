import type { TransactionSql } from "postgres";
import type { Role } from "../access/principal.ts";
import type { Member } from "./types.ts";

/** The queries about members; the organisation comes first in each. */

interface MemberRow {
  user_id: string;
  email: string;
  role: Role;
  created_at: Date;
}

/** The longest a member first. */
export async function listMembers(tx: TransactionSql, organizationId: number): Promise<Member[]> {
  const rows = await tx<MemberRow[]>`
    SELECT m.user_id, u.email, m.role, m.created_at
    FROM memberships m JOIN users u ON u.id = m.user_id
    WHERE m.organization_id = ${organizationId}
    ORDER BY m.created_at, m.user_id`;
  return rows.map(memberOf);
}

/** What somebody is at this moment, whatever their credential said a second ago; null when the membership has ended. */
export async function findRole(
  tx: TransactionSql,
  organizationId: number,
  userId: number,
): Promise<Role | null> {
  const [row] = await tx<{ role: Role }[]>`
    SELECT role FROM memberships WHERE organization_id = ${organizationId} AND user_id = ${userId}`;
  return row?.role ?? null;
}

/** The member, who gets no new credentials until the transaction ends; null when there is none of that id. */
export async function lockMember(
  tx: TransactionSql,
  organizationId: number,
  userId: number,
): Promise<Member | null> {
  const [row] = await tx<MemberRow[]>`
    SELECT m.user_id, u.email, m.role, m.created_at
    FROM memberships m JOIN users u ON u.id = m.user_id
    WHERE m.organization_id = ${organizationId} AND m.user_id = ${userId}
    FOR UPDATE OF m`;
  return row === undefined ? null : memberOf(row);
}

/** Which of some people belong to the organisation; they stay members until the transaction ends. */
export async function lockMembers(
  tx: TransactionSql,
  organizationId: number,
  userIds: readonly number[],
): Promise<Set<number>> {
  const rows = await tx<{ user_id: string }[]>`
    SELECT user_id FROM memberships
    WHERE organization_id = ${organizationId} AND user_id = ANY(${[...userIds]}::bigint[]) FOR KEY SHARE`;
  return new Set(rows.map(({ user_id }) => Number(user_id)));
}

export async function countMembers(tx: TransactionSql, organizationId: number, role?: Role): Promise<number> {
  const [row] = await tx<{ members: string }[]>`
    SELECT count(*) AS members FROM memberships
    WHERE organization_id = ${organizationId} AND (${role ?? null}::text IS NULL OR role = ${role ?? null})`;
  return Number(row?.members ?? 0);
}

export async function isMember(tx: TransactionSql, organizationId: number, email: string): Promise<boolean> {
  const rows = await tx`
    SELECT 1 FROM memberships m JOIN users u ON u.id = m.user_id
    WHERE m.organization_id = ${organizationId} AND u.email = ${email}`;
  return rows.length > 0;
}

/** False when the person is a member already. */
export async function insertMember(
  tx: TransactionSql,
  organizationId: number,
  input: { userId: number; role: Role; joinedAtMs: number },
): Promise<boolean> {
  const inserted = await tx`
    INSERT INTO memberships (organization_id, user_id, role, created_at)
    VALUES (${organizationId}, ${input.userId}, ${input.role}, ${new Date(input.joinedAtMs)})
    ON CONFLICT DO NOTHING
    RETURNING 1`;
  return inserted.length > 0;
}

export async function updateRole(
  tx: TransactionSql,
  organizationId: number,
  userId: number,
  role: Role,
): Promise<void> {
  await tx`
    UPDATE memberships SET role = ${role} WHERE organization_id = ${organizationId} AND user_id = ${userId}`;
}

/** Their sessions, tokens and invites go with it. */
export async function deleteMember(
  tx: TransactionSql,
  organizationId: number,
  userId: number,
): Promise<void> {
  await tx`DELETE FROM memberships WHERE organization_id = ${organizationId} AND user_id = ${userId}`;
}

/** The hashes of everything that opens the organisation in the name of a member. */
export async function listCredentialHashes(
  tx: TransactionSql,
  organizationId: number,
  userId: number,
): Promise<Uint8Array[]> {
  const rows = await tx<{ token_hash: Uint8Array }[]>`
    SELECT token_hash FROM sessions WHERE organization_id = ${organizationId} AND user_id = ${userId}
    UNION ALL
    SELECT token_hash FROM personal_access_tokens
    WHERE organization_id = ${organizationId} AND user_id = ${userId} AND revoked_at IS NULL`;
  return rows.map((row) => row.token_hash);
}

function memberOf(row: MemberRow): Member {
  return {
    userId: Number(row.user_id),
    email: row.email,
    role: row.role,
    joinedAt: row.created_at.toISOString(),
  };
}
