import type { TransactionSql } from "postgres";

interface Telling {
  readonly tx: TransactionSql;
  readonly organizationId: number;
  readonly nowMs: number;
}

/**
 * Writes down that subscribers of the pages that show an incident are to be told what became of it: those who chose nothing
 * and those who chose one of its monitors. The time is cut, for the column would round it up and into the future. An
 * incident of which nothing is written for everyone is none of their business.
 */
export async function tellSubscribers(
  { tx, organizationId, nowMs }: Telling,
  incidentId: number,
  monitorIds: readonly number[],
): Promise<void> {
  if (monitorIds.length === 0) return;
  const ids = tx`${[...monitorIds]}::bigint[]`;
  const shows = (list: ReturnType<TransactionSql>) =>
    tx`EXISTS (SELECT 1 FROM jsonb_array_elements_text(${list}) AS shown WHERE shown::bigint = ANY(${ids}))`;
  await tx`
    INSERT INTO status_page_notices (organization_id, subscriber_id, channel, incident_id, is_due, next_attempt_at,
                                     created_at)
    SELECT ${organizationId}, s.id, s.channel, ${incidentId}, true, date_trunc('milliseconds', now()),
           ${new Date(nowMs)}
    FROM status_page_subscribers s
    JOIN status_pages p ON p.id = s.status_page_id AND p.organization_id = s.organization_id
    WHERE s.organization_id = ${organizationId} AND s.confirmed_at IS NOT NULL AND p.is_public
      AND ${shows(tx`p.monitor_ids`)}
      AND (s.monitor_ids IS NULL OR ${shows(tx`s.monitor_ids`)})
      AND EXISTS (SELECT 1 FROM incident_updates u WHERE u.organization_id = ${organizationId}
                  AND u.incident_id = ${incidentId} AND u.public)
    ON CONFLICT (subscriber_id, incident_id) DO UPDATE SET is_due = true`;
}
