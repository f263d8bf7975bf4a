import type { Sql, TransactionSql } from "postgres";
import type { Role } from "../http/principal.ts";
import type { Account, Organization, User } from "./types.ts";

/**
 * The queries about people and their organisations. Those that look a person up by email know no organisation
 * beforehand; what they find says which one the person enters.
 */

interface AccountRow {
  user_id: string;
  email: string;
  user_created_at: Date;
  organization_id: number;
  organization_name: string;
  organization_created_at: Date;
}

export interface NewAccount {
  email: string;
  passwordHash: string;
  organizationName: string;
  createdAtMs: number;
}

/** An account as a login finds it; the hash is null for a person without a password. */
export interface LoginAccount {
  account: Account;
  passwordHash: string | null;
}

export interface Membership {
  account: Account;
  role: Role;
}

export async function emailIsTaken(sql: Sql, email: string): Promise<boolean> {
  const rows = await sql`SELECT 1 FROM users WHERE email = ${email}`;
  return rows.length > 0;
}

/** Creates a person, an organisation and the person's ownership of it; null when the email has an account. */
export async function insertAccount(tx: TransactionSql, input: NewAccount): Promise<Account | null> {
  const createdAt = new Date(input.createdAtMs);
  const [user] = await tx<{ id: string }[]>`
    INSERT INTO users (email, password_hash, created_at)
    VALUES (${input.email}, ${input.passwordHash}, ${createdAt})
    ON CONFLICT (email) DO NOTHING
    RETURNING id`;
  if (user === undefined) return null;
  const [row] = await tx<AccountRow[]>`
    WITH organization AS (
      INSERT INTO organizations (name, created_at) VALUES (${input.organizationName}, ${createdAt})
      RETURNING id, name, created_at
    ), membership AS (
      INSERT INTO memberships (organization_id, user_id, role, created_at)
      SELECT id, ${user.id}, 'owner', ${createdAt} FROM organization
    )
    SELECT u.id AS user_id, u.email, u.created_at AS user_created_at,
           o.id AS organization_id, o.name AS organization_name, o.created_at AS organization_created_at
    FROM users u, organization o
    WHERE u.id = ${user.id}`;
  return row === undefined ? null : accountOf(row);
}

/** The account of an email with the organisation its owner joined first; null when there is none to enter. */
export async function findLoginAccount(sql: Sql, email: string): Promise<LoginAccount | null> {
  const [row] = await sql<(AccountRow & { password_hash: string | null })[]>`
    SELECT u.id AS user_id, u.email, u.created_at AS user_created_at, u.password_hash,
           o.id AS organization_id, o.name AS organization_name, o.created_at AS organization_created_at
    FROM users u
    JOIN memberships m ON m.user_id = u.id
    JOIN organizations o ON o.id = m.organization_id
    WHERE u.email = ${email}
    ORDER BY m.created_at, m.organization_id
    LIMIT 1`;
  return row === undefined ? null : { account: accountOf(row), passwordHash: row.password_hash };
}

/** A person as a member of an organisation; null when the membership has ended. */
export async function findMembership(
  sql: Sql,
  organizationId: number,
  userId: number,
): Promise<Membership | null> {
  const [row] = await sql<(AccountRow & { role: Role })[]>`
    SELECT u.id AS user_id, u.email, u.created_at AS user_created_at, m.role,
           o.id AS organization_id, o.name AS organization_name, o.created_at AS organization_created_at
    FROM memberships m
    JOIN users u ON u.id = m.user_id
    JOIN organizations o ON o.id = m.organization_id
    WHERE m.organization_id = ${organizationId} AND m.user_id = ${userId}`;
  return row === undefined ? null : { account: accountOf(row), role: row.role };
}

function accountOf(row: AccountRow): Account {
  const user: User = {
    id: Number(row.user_id),
    email: row.email,
    createdAt: row.user_created_at.toISOString(),
  };
  const organization: Organization = {
    id: row.organization_id,
    name: row.organization_name,
    createdAt: row.organization_created_at.toISOString(),
  };
  return { user, organization };
}
