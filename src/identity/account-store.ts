import type { ISql, Sql, TransactionSql } from "postgres";
import type { Role } from "../access/principal.ts";
import type { Account, Organization, User } from "../membership/types.ts";

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

export interface NewPerson {
  email: string;
  passwordHash: string | null;
  createdAtMs: number;
}

export interface NewAccount extends NewPerson {
  organizationName: string;
}

/** A person as a login finds them; the hash is null for one without a password. */
interface LoginPerson {
  userId: number;
  email: string;
  passwordHash: string | null;
  emailIsVerified: boolean;
}

interface Membership {
  account: Account;
  role: Role;
  emailVerified: boolean;
  mfaEnabled: boolean;
}

export async function emailIsTaken(sql: Sql, email: string): Promise<boolean> {
  const rows = await sql`SELECT 1 FROM users WHERE email = ${email}`;
  return rows.length > 0;
}

/** Creates a person who belongs to no organisation yet; null when the email has an account. */
export async function insertPerson(tx: TransactionSql, input: NewPerson): Promise<User | null> {
  const createdAt = new Date(input.createdAtMs);
  const [row] = await tx<{ id: string }[]>`
    INSERT INTO users (email, password_hash, created_at)
    VALUES (${input.email}, ${input.passwordHash}, ${createdAt})
    ON CONFLICT (email) DO NOTHING
    RETURNING id`;
  if (row === undefined) return null;
  return { id: Number(row.id), email: input.email, createdAt: createdAt.toISOString() };
}

/** Creates a person, an organisation and the person's ownership of it; null when the email has an account. */
export async function insertAccount(tx: TransactionSql, input: NewAccount): Promise<Account | null> {
  const createdAt = new Date(input.createdAtMs);
  const user = await insertPerson(tx, input);
  if (user === null) return null;
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

/** The person of an email; null when there is none. */
export async function findLoginPerson(sql: ISql, email: string): Promise<LoginPerson | null> {
  const [row] = await sql<
    { id: string; email: string; password_hash: string | null; email_verified_at: Date | null }[]
  >`SELECT id, email, password_hash, email_verified_at FROM users WHERE email = ${email}`;
  if (row === undefined) return null;
  return {
    userId: Number(row.id),
    email: row.email,
    passwordHash: row.password_hash,
    emailIsVerified: row.email_verified_at !== null,
  };
}

/** Locks a person whose password has been judged by its hash; false when they have another password by now. */
export async function holdPassword(
  tx: TransactionSql,
  userId: number,
  passwordHash: string,
): Promise<boolean> {
  const held = await tx`
    SELECT 1 FROM users WHERE id = ${userId} AND password_hash = ${passwordHash} FOR NO KEY UPDATE`;
  return held.length > 0;
}

/** Gives a person another password. */
export async function setPasswordHash(
  tx: TransactionSql,
  userId: number,
  passwordHash: string,
): Promise<void> {
  await tx`UPDATE users SET password_hash = ${passwordHash} WHERE id = ${userId}`;
}

/** The organisation a person joined first, in whose audit log stands what they do to their account; null without one. */
export async function findHomeOrganization(tx: TransactionSql, userId: number): Promise<number | null> {
  const [row] = await tx<{ organization_id: number }[]>`
    SELECT organization_id FROM memberships WHERE user_id = ${userId}
    ORDER BY created_at, organization_id LIMIT 1`;
  return row?.organization_id ?? null;
}

/** A person as a member of an organisation; null when the membership has ended. */
export async function findMembership(
  sql: Sql,
  organizationId: number,
  userId: number,
): Promise<Membership | null> {
  const [row] = await sql<(AccountRow & { role: Role; email_verified: boolean; mfa_enabled: boolean })[]>`
    SELECT u.id AS user_id, u.email, u.created_at AS user_created_at, m.role,
           u.email_verified_at IS NOT NULL AS email_verified,
           EXISTS (SELECT 1 FROM totp_factors f WHERE f.user_id = u.id AND f.enabled_at IS NOT NULL) AS mfa_enabled,
           o.id AS organization_id, o.name AS organization_name, o.created_at AS organization_created_at
    FROM memberships m
    JOIN users u ON u.id = m.user_id
    JOIN organizations o ON o.id = m.organization_id
    WHERE m.organization_id = ${organizationId} AND m.user_id = ${userId}`;
  if (row === undefined) return null;
  return {
    account: accountOf(row),
    role: row.role,
    emailVerified: row.email_verified,
    mfaEnabled: row.mfa_enabled,
  };
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
