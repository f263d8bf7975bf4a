import type { TransactionSql } from "postgres";
import type { Role } from "../access/principal.ts";
import { ApiError } from "../errors.ts";

/**
 * Refuses to let a member into an organisation otherwise than through its identity provider, where it insists on that.
 * Owners are let in everywhere, so that a broken provider locks nobody out for good. Throws SSO_REQUIRED.
 */
export async function requireOpenEntrance(
  tx: TransactionSql,
  organizationId: number,
  role: Role,
): Promise<void> {
  if (role === "owner") return;
  const insisting = await tx`
    SELECT 1 FROM sso_connections WHERE organization_id = ${organizationId} AND enforced`;
  if (insisting.length === 0) return;
  throw new ApiError(
    "SSO_REQUIRED",
    "This organisation lets its members sign in through its own identity provider only.",
  );
}
