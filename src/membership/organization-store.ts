import type { Sql, TransactionSql } from "postgres";
import type { Role } from "../access/principal.ts";
import type { Account, Organization, OwnOrganization } from "./types.ts";

/** The queries about organisations as a person sees them, who may belong to several. */

interface OrganizationRow {
  id: number;
  name: string;
  created_at: Date;
}

/**
 * The organisations of a person, the one joined first at the beginning. Beyond that of the credential they are told to
 * sessions that speak for the person only: neither to tokens, of which `sessionId` is null, nor to sessions that an
 * organisation's own provider vouched for.
 */
export async function listOrganizationsOf(
  sql: Sql,
  { userId, organizationId, sessionId }: { userId: number; organizationId: number; sessionId: number | null },
): Promise<OwnOrganization[]> {
  const rows = await sql<(OrganizationRow & { role: Role; joined_at: Date })[]>`
    SELECT o.id, o.name, o.created_at, m.role, m.created_at AS joined_at
    FROM memberships m JOIN organizations o ON o.id = m.organization_id
    WHERE m.user_id = ${userId} AND (
      o.id = ${organizationId} OR EXISTS (SELECT 1 FROM sessions WHERE id = ${sessionId} AND NOT by_sso)
    )
    ORDER BY m.created_at, o.id`;
  return rows.map((row) => ({
    ...organizationOf(row),
    role: row.role,
    joinedAt: row.joined_at.toISOString(),
    isCurrent: row.id === organizationId,
  }));
}

/** The organisation, which the caller must be entitled to see. */
export async function findOrganization(
  tx: TransactionSql,
  organizationId: number,
): Promise<Organization | null> {
  const [row] = await tx<OrganizationRow[]>`
    SELECT id, name, created_at FROM organizations WHERE id = ${organizationId}`;
  return row === undefined ? null : organizationOf(row);
}

/** A person as a member of an organisation, which they stay until the transaction ends; null when they are none. */
export async function lockAccount(
  tx: TransactionSql,
  organizationId: number,
  userId: number,
): Promise<{ account: Account; role: Role } | null> {
  const [row] = await tx<(OrganizationRow & { email: string; user_created_at: Date; role: Role })[]>`
    SELECT o.id, o.name, o.created_at, u.email, u.created_at AS user_created_at, m.role
    FROM memberships m
    JOIN organizations o ON o.id = m.organization_id
    JOIN users u ON u.id = m.user_id
    WHERE m.organization_id = ${organizationId} AND m.user_id = ${userId}
    FOR KEY SHARE OF m`;
  if (row === undefined) return null;
  const user = { id: userId, email: row.email, createdAt: row.user_created_at.toISOString() };
  return { account: { user, organization: organizationOf(row) }, role: row.role };
}

/** Locks a person, and answers their email if they belong to no organisation; null for everybody else. */
export async function lockHomelessPerson(tx: TransactionSql, userId: number): Promise<string | null> {
  const [person] = await tx<{ email: string }[]>`
    SELECT email FROM users WHERE id = ${userId} FOR NO KEY UPDATE`;
  const memberships = await tx`SELECT 1 FROM memberships WHERE user_id = ${userId} LIMIT 1`;
  return person === undefined || memberships.length > 0 ? null : person.email;
}

/** Makes an organisation; its id. */
export async function insertOrganization(
  tx: TransactionSql,
  input: { name: string; createdAtMs: number },
): Promise<number> {
  const [row] = await tx<{ id: number }[]>`
    INSERT INTO organizations (name, created_at) VALUES (${input.name}, ${new Date(input.createdAtMs)})
    RETURNING id`;
  if (row === undefined) throw new Error("an insert returned no row");
  return row.id;
}

function organizationOf({ id, name, created_at }: OrganizationRow): Organization {
  return { id, name, createdAt: created_at.toISOString() };
}
