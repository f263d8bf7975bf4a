import type { TransactionSql } from "postgres";
import type { SavedSearch, SavedSearchFields } from "./types.ts";

/** The queries about saved searches; the organisation comes first in each. */

interface SavedSearchRow {
  id: string;
  name: string;
  description: string | null;
  query: string | null;
  q: string | null;
  service: string | null;
  level: string | null;
  range_minutes: number | null;
  created_at: Date;
  updated_at: Date;
}

/** Oldest first. */
export async function listSavedSearches(tx: TransactionSql, organizationId: number): Promise<SavedSearch[]> {
  const rows = await tx<SavedSearchRow[]>`
    SELECT * FROM saved_searches WHERE organization_id = ${organizationId} ORDER BY id`;
  return rows.map(savedSearchOf);
}

/** Locks the organisation, so that its searches are made one after the other, and counts them. */
export async function countSavedSearchesLocked(tx: TransactionSql, organizationId: number): Promise<number> {
  await tx`SELECT 1 FROM organizations WHERE id = ${organizationId} FOR NO KEY UPDATE`;
  const [row] = await tx<{ searches: string }[]>`
    SELECT count(*) AS searches FROM saved_searches WHERE organization_id = ${organizationId}`;
  return Number(row?.searches ?? 0);
}

export async function insertSavedSearch(
  tx: TransactionSql,
  organizationId: number,
  fields: SavedSearchFields,
  nowMs: number,
): Promise<SavedSearch> {
  const { name, description, query, q, service, level, rangeMinutes } = fields;
  const now = new Date(nowMs);
  const [row] = await tx<SavedSearchRow[]>`
    INSERT INTO saved_searches
      (organization_id, name, description, query, q, service, level, range_minutes, created_at, updated_at)
    VALUES (
      ${organizationId}, ${name}, ${description}, ${query}, ${q}, ${service}, ${level}, ${rangeMinutes}, ${now}, ${now}
    )
    RETURNING *`;
  if (row === undefined) throw new Error("an insert returned no row");
  return savedSearchOf(row);
}

/** The search, locked until the transaction ends; null when the organisation has none of that id. */
export async function lockSavedSearch(
  tx: TransactionSql,
  organizationId: number,
  id: number,
): Promise<SavedSearch | null> {
  const [row] = await tx<SavedSearchRow[]>`
    SELECT * FROM saved_searches WHERE organization_id = ${organizationId} AND id = ${id} FOR UPDATE`;
  return row === undefined ? null : savedSearchOf(row);
}

export async function updateSavedSearch(
  tx: TransactionSql,
  organizationId: number,
  id: number,
  fields: SavedSearchFields,
  nowMs: number,
): Promise<SavedSearch> {
  const { name, description, query, q, service, level, rangeMinutes } = fields;
  const [row] = await tx<SavedSearchRow[]>`
    UPDATE saved_searches
    SET name = ${name}, description = ${description}, query = ${query}, q = ${q}, service = ${service},
        level = ${level}, range_minutes = ${rangeMinutes}, updated_at = ${new Date(nowMs)}
    WHERE organization_id = ${organizationId} AND id = ${id}
    RETURNING *`;
  if (row === undefined) throw new Error("an update of a locked row returned no row");
  return savedSearchOf(row);
}

export async function deleteSavedSearch(
  tx: TransactionSql,
  organizationId: number,
  id: number,
): Promise<void> {
  await tx`DELETE FROM saved_searches WHERE organization_id = ${organizationId} AND id = ${id}`;
}

function savedSearchOf(row: SavedSearchRow): SavedSearch {
  const { name, description, query, q, service, level } = row;
  return {
    id: Number(row.id),
    name,
    description,
    query,
    q,
    service,
    level,
    rangeMinutes: row.range_minutes,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}
