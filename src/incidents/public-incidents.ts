import type { TransactionSql } from "postgres";

/** Incidents that one page shows. */
const INCIDENTS_MAX = 50;
/** Updates of all of them: the newest count. */
const UPDATES_MAX = 500;

/** What everyone may know of an incident: what people wrote for everyone, and nothing that the server noted. */
export interface PublicIncident {
  readonly id: number;
  /** As a person named it; null where it was named after what the server found. */
  readonly title: string | null;
  readonly status: string;
  readonly openedAtMs: number;
  readonly resolvedAtMs: number | null;
  readonly monitorIds: readonly number[];
  /** Newest first, never empty. */
  readonly updates: readonly PublicUpdate[];
}

interface PublicUpdate {
  readonly id: number;
  readonly atMs: number;
  readonly status: string | null;
  readonly body: string;
}

/** Incidents of monitors with something written for everyone, that were open at or after `sinceMs`; newest first. */
export async function readPublicIncidents(
  tx: TransactionSql,
  organizationId: number,
  { monitorIds, sinceMs }: { readonly monitorIds: readonly number[]; readonly sinceMs: number },
): Promise<PublicIncident[]> {
  return readIncidents(
    tx,
    organizationId,
    tx`(i.resolved_at IS NULL OR i.resolved_at >= ${new Date(sinceMs)})
       AND EXISTS (SELECT 1 FROM incident_monitors m WHERE m.organization_id = i.organization_id
                   AND m.incident_id = i.id AND m.monitor_id = ANY(${[...monitorIds]}::bigint[]))`,
  );
}

/** One incident as everyone may know it; null for one that nothing was written of for everyone. */
export async function readPublicIncident(
  tx: TransactionSql,
  organizationId: number,
  id: number,
): Promise<PublicIncident | null> {
  const [found] = await readIncidents(tx, organizationId, tx`i.id = ${id}`);
  return found ?? null;
}

async function readIncidents(
  tx: TransactionSql,
  organizationId: number,
  condition: ReturnType<TransactionSql>,
): Promise<PublicIncident[]> {
  const rows = await tx<
    {
      id: string;
      title: string;
      is_named: boolean;
      status: string;
      opened_at: Date;
      resolved_at: Date | null;
      monitor_ids: string[];
    }[]
  >`
    SELECT i.id, i.title, i.source_key IS NULL AS is_named, i.status, i.opened_at, i.resolved_at,
           ARRAY(SELECT monitor_id FROM incident_monitors m WHERE m.organization_id = i.organization_id
                 AND m.incident_id = i.id ORDER BY monitor_id) AS monitor_ids
    FROM incidents i
    WHERE i.organization_id = ${organizationId} AND ${condition}
      AND EXISTS (SELECT 1 FROM incident_updates u WHERE u.organization_id = i.organization_id
                  AND u.incident_id = i.id AND u.public)
    ORDER BY i.opened_at DESC, i.id DESC LIMIT ${INCIDENTS_MAX}`;
  const updates = await readUpdates(
    tx,
    organizationId,
    rows.map(({ id }) => Number(id)),
  );
  return rows.map((row) => ({
    id: Number(row.id),
    title: row.is_named ? row.title : null,
    status: row.status,
    openedAtMs: row.opened_at.getTime(),
    resolvedAtMs: row.resolved_at?.getTime() ?? null,
    monitorIds: row.monitor_ids.map(Number),
    updates: updates.get(Number(row.id)) ?? [],
  }));
}

async function readUpdates(
  tx: TransactionSql,
  organizationId: number,
  incidentIds: readonly number[],
): Promise<Map<number, PublicUpdate[]>> {
  const rows = await tx<
    { id: string; incident_id: string; status: string | null; body: string; created_at: Date }[]
  >`
    SELECT id, incident_id, status, body, created_at FROM incident_updates
    WHERE organization_id = ${organizationId} AND incident_id = ANY(${[...incidentIds]}::bigint[]) AND public
    ORDER BY id DESC LIMIT ${UPDATES_MAX}`;
  const byIncident = new Map<number, PublicUpdate[]>();
  for (const { id, incident_id, status, body, created_at } of rows) {
    const updates = byIncident.get(Number(incident_id)) ?? [];
    updates.push({ id: Number(id), atMs: created_at.getTime(), status, body });
    byIncident.set(Number(incident_id), updates);
  }
  return byIncident;
}
