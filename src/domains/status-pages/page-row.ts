import type { Sql } from "postgres";
import { Type } from "typebox";
import { lateCheck } from "../../late-check.ts";
import { StatusPage } from "./types.ts";

const { name, slug, description, monitorIds, groups, publicNames, customDomain, theme, isPublic } =
  StatusPage.properties;
const Row = Type.Object({
  id: Type.Integer(),
  organizationId: Type.Integer(),
  ...{ name, slug, description, monitorIds, groups, publicNames, customDomain, theme, isPublic },
  passwordHash: Type.Union([Type.String(), Type.Null()]),
  passwordVersion: Type.Integer(),
});
export type PageRow = Type.Static<typeof Row>;

const rows = lateCheck(Row);

/** A page with what its organisation alone knows of it; whichever organisation that is. */
export async function findPageRow(sql: Sql, wanted: string): Promise<PageRow | null> {
  const [found] = await sql`
    SELECT id::float8 AS id, organization_id AS "organizationId", name, slug, description,
           monitor_ids AS "monitorIds", groups, public_names AS "publicNames",
           ${provenHost(sql)} AS "customDomain", theme, is_public AS "isPublic", password_hash AS "passwordHash",
           password_version AS "passwordVersion"
    FROM status_pages WHERE slug = ${wanted}`;
  if (found === undefined) return null;
  const row: unknown = { ...found };
  if (!rows.Check(row)) throw new Error("a status page is not in its form");
  return row;
}

/** Under which names everyone finds a page. */
export interface PublishedName {
  readonly slug: string;
  readonly customDomain: string | null;
}

/** The names of public pages, over all organisations. */
export async function listPublished(sql: Sql, max: number): Promise<PublishedName[]> {
  return sql<PublishedName[]>`
    SELECT slug, ${provenHost(sql)} AS "customDomain" FROM status_pages WHERE is_public ORDER BY id LIMIT ${max}`;
}

/** A host that somebody only names is nobody's. */
function provenHost(sql: Sql) {
  return sql`CASE WHEN custom_domain_proven_at IS NOT NULL THEN custom_domain END`;
}
