import type { ISql, TransactionSql } from "postgres";
import type { Role } from "../../../access/principal.ts";

/** The queries about the identity providers of organisations and their domains. */

/** A connection as it is stored; the secret is encrypted. */
export interface ConnectionRecord extends ConnectionFields {
  readonly organizationId: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface ConnectionFields {
  readonly slug: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly sealedSecret: Uint8Array;
  readonly groupsClaim: string;
  readonly groupRoles: Readonly<Record<string, Role>>;
  readonly defaultRole: Exclude<Role, "owner">;
  readonly enforced: boolean;
}

export interface DomainRecord {
  readonly domain: string;
  readonly challenge: string;
  readonly verifiedAt: string | null;
}

interface ConnectionRow {
  organization_id: number;
  slug: string;
  issuer: string;
  client_id: string;
  client_secret: Uint8Array;
  groups_claim: string;
  group_roles: Record<string, Role>;
  default_role: Exclude<Role, "owner">;
  enforced: boolean;
  created_at: Date;
  updated_at: Date;
}

interface DomainRow {
  domain: string;
  challenge: string;
  verified_at: Date | null;
}

export async function findConnection(sql: ISql, organizationId: number): Promise<ConnectionRecord | null> {
  const [row] = await sql<ConnectionRow[]>`
    SELECT * FROM sso_connections WHERE organization_id = ${organizationId}`;
  return row === undefined ? null : connectionOf(row);
}

/** The one query that knows no organisation beforehand: the slug names it. */
export async function findConnectionOfSlug(sql: ISql, slug: string): Promise<ConnectionRecord | null> {
  const [row] = await sql<ConnectionRow[]>`SELECT * FROM sso_connections WHERE slug = ${slug}`;
  return row === undefined ? null : connectionOf(row);
}

/** Null when the slug is another organisation's. */
export async function putConnection(
  tx: TransactionSql,
  organizationId: number,
  fields: ConnectionFields,
  nowMs: number,
): Promise<ConnectionRecord> {
  const { slug, issuer, clientId, sealedSecret, groupsClaim, groupRoles, defaultRole, enforced } = fields;
  const now = new Date(nowMs);
  const [row] = await tx<ConnectionRow[]>`
    INSERT INTO sso_connections
      (organization_id, slug, issuer, client_id, client_secret, groups_claim, group_roles, default_role, enforced,
       created_at, updated_at)
    VALUES (
      ${organizationId}, ${slug}, ${issuer}, ${clientId}, ${sealedSecret}, ${groupsClaim},
      ${JSON.stringify(groupRoles)}::text::jsonb, ${defaultRole}, ${enforced}, ${now}, ${now}
    )
    ON CONFLICT (organization_id) DO UPDATE SET
      slug = excluded.slug, issuer = excluded.issuer, client_id = excluded.client_id,
      client_secret = excluded.client_secret, groups_claim = excluded.groups_claim,
      group_roles = excluded.group_roles, default_role = excluded.default_role, enforced = excluded.enforced,
      updated_at = excluded.updated_at
    RETURNING *`;
  if (row === undefined) throw new Error("an insert returned no row");
  return connectionOf(row);
}

/** Domains and identities go with it. */
export async function deleteConnection(tx: TransactionSql, organizationId: number): Promise<void> {
  await tx`DELETE FROM sso_connections WHERE organization_id = ${organizationId}`;
}

/** In alphabetical order. */
export async function listDomains(sql: ISql, organizationId: number): Promise<DomainRecord[]> {
  const rows = await sql<DomainRow[]>`
    SELECT domain, challenge, verified_at FROM sso_domains
    WHERE organization_id = ${organizationId} ORDER BY domain COLLATE "C"`;
  return rows.map(domainOf);
}

/** Makes these the domains of an organisation; those that stay keep their challenge and verification. */
export async function replaceDomains(
  tx: TransactionSql,
  organizationId: number,
  domains: readonly { readonly domain: string; readonly challenge: string }[],
  nowMs: number,
): Promise<void> {
  const names = domains.map(({ domain }) => domain);
  await tx`
    DELETE FROM sso_domains
    WHERE organization_id = ${organizationId} AND NOT (domain = ANY(${names}::text[]))`;
  for (const { domain, challenge } of domains)
    await tx`
      INSERT INTO sso_domains (organization_id, domain, challenge, created_at)
      VALUES (${organizationId}, ${domain}, ${challenge}, ${new Date(nowMs)})
      ON CONFLICT DO NOTHING`;
}

/** Writes down that the challenge was found; null when the domain has gone or has another challenge by now. */
export async function markDomainVerified(
  tx: TransactionSql,
  organizationId: number,
  { domain, challenge }: DomainRecord,
  nowMs: number,
): Promise<DomainRecord | null> {
  const [row] = await tx<DomainRow[]>`
    UPDATE sso_domains SET verified_at = ${new Date(nowMs)}
    WHERE organization_id = ${organizationId} AND domain = ${domain} AND challenge = ${challenge}
    RETURNING domain, challenge, verified_at`;
  return row === undefined ? null : domainOf(row);
}

function connectionOf(row: ConnectionRow): ConnectionRecord {
  return {
    organizationId: row.organization_id,
    slug: row.slug,
    issuer: row.issuer,
    clientId: row.client_id,
    sealedSecret: row.client_secret,
    groupsClaim: row.groups_claim,
    groupRoles: row.group_roles,
    defaultRole: row.default_role,
    enforced: row.enforced,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

function domainOf(row: DomainRow): DomainRecord {
  return { domain: row.domain, challenge: row.challenge, verifiedAt: row.verified_at?.toISOString() ?? null };
}
