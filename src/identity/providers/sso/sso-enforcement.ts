import type { ISql } from "postgres";
import { ApiError } from "../../../errors.ts";
import type { Account, Organization } from "../../../membership/types.ts";

interface EntranceRow {
  user_id: string;
  email: string;
  user_created_at: Date;
  organization_id: number;
  organization_name: string;
  organization_created_at: Date;
  is_closed: boolean;
}

/**
 * The organisation into which a person who has proved who they are without SSO is let: the one they joined first of
 * those that do not insist on SSO. Owners are let in everywhere, so that a broken provider locks nobody out for good.
 * Null for a person who belongs nowhere; throws SSO_REQUIRED when none is left.
 */
export async function findEntrance(sql: ISql, userId: number): Promise<Account | null> {
  const rows = await sql<EntranceRow[]>`
    SELECT u.id AS user_id, u.email, u.created_at AS user_created_at,
           o.id AS organization_id, o.name AS organization_name, o.created_at AS organization_created_at,
           coalesce(c.enforced AND m.role <> 'owner', false) AS is_closed
    FROM users u
    JOIN memberships m ON m.user_id = u.id
    JOIN organizations o ON o.id = m.organization_id
    LEFT JOIN sso_connections c ON c.organization_id = o.id
    WHERE u.id = ${userId}
    ORDER BY is_closed, m.created_at, m.organization_id
    LIMIT 1`;
  const [row] = rows;
  if (row === undefined) return null;
  if (row.is_closed) throw ssoRequired();
  const organization: Organization = {
    id: row.organization_id,
    name: row.organization_name,
    createdAt: row.organization_created_at.toISOString(),
  };
  const user = { id: Number(row.user_id), email: row.email, createdAt: row.user_created_at.toISOString() };
  return { user, organization };
}

function ssoRequired(): ApiError {
  return new ApiError(
    "SSO_REQUIRED",
    "Your organisation lets its members sign in through its own identity provider only.",
  );
}
