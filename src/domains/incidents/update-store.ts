import type { TransactionSql } from "postgres";
import type { IncidentUpdate, Status } from "./types.ts";

/** The queries about timelines; the organisation comes first in each. */

/** Writes a row of the timeline. */
export async function insertUpdate(
  tx: TransactionSql,
  organizationId: number,
  id: number,
  update: Omit<IncidentUpdate, "id" | "createdAt">,
  nowMs: number,
): Promise<IncidentUpdate> {
  const { kind, status, public: isPublic, body, userId } = update;
  const now = new Date(nowMs);
  const [row] = await tx<{ id: string }[]>`
    INSERT INTO incident_updates (organization_id, incident_id, kind, status, public, body, user_id, created_at)
    VALUES (${organizationId}, ${id}, ${kind}, ${status}, ${isPublic}, ${body}, ${userId}, ${now})
    RETURNING id`;
  return { ...update, id: Number(row?.id), createdAt: now.toISOString() };
}

export async function countUpdates(tx: TransactionSql, organizationId: number, id: number): Promise<number> {
  const [row] = await tx<{ updates: number }[]>`
    SELECT count(*)::integer AS updates FROM incident_updates
    WHERE organization_id = ${organizationId} AND incident_id = ${id}`;
  return row?.updates ?? 0;
}

interface UpdateRow {
  readonly id: string;
  readonly kind: IncidentUpdate["kind"];
  readonly status: Status | null;
  readonly public: boolean;
  readonly body: string;
  readonly user_id: string | null;
  readonly created_at: Date;
}

/** The timeline, oldest first; its length is bounded where it is written. */
export async function listUpdates(
  tx: TransactionSql,
  organizationId: number,
  id: number,
): Promise<IncidentUpdate[]> {
  const rows = await tx<UpdateRow[]>`
    SELECT id, kind, status, public, body, user_id, created_at FROM incident_updates
    WHERE organization_id = ${organizationId} AND incident_id = ${id} ORDER BY id`;
  return rows.map(({ id, user_id, created_at, ...row }) => ({
    ...row,
    id: Number(id),
    userId: user_id === null ? null : Number(user_id),
    createdAt: created_at.toISOString(),
  }));
}
