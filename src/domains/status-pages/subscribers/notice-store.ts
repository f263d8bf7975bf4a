import type { Fragment, Sql, TransactionSql } from "postgres";
import type { Claim } from "../../../jobs/claims/leased-rows.ts";
import { WorkQueue } from "../../../jobs/claims/work-queue.ts";
import { fromNow } from "../../../storage/database-clock.ts";
import { BATCH_MAX, FAILURES_MAX, LEASE_MS, TOLD_EVERY_MS } from "./limits.ts";

/** The queries about what subscribers are still to be told. The sender works for every organisation. */

export const NOTICES = new WorkQueue({
  table: "status_page_notices",
  key: "id",
  claim: "claim_id",
  due: "next_attempt_at",
  attempts: "attempts",
});

/** What one sender has taken. */
export interface TakenNotice extends Claim {
  readonly id: number;
  readonly organizationId: number;
  readonly subscriberId: number;
  readonly incidentId: number;
  readonly lastUpdateId: number;
  readonly lastStatus: string | null;
  /** This one included. */
  readonly attempt: number;
}

/** The condition for what is told one way. */
export function isForChannel(sql: Sql, channel: "mail" | "webhook"): Fragment {
  return sql`is_due AND channel = ${channel}`;
}

export async function takeNotices(sql: Sql, channel: "mail" | "webhook"): Promise<TakenNotice[]> {
  const rows = await NOTICES.take<{
    id: string;
    organization_id: number;
    subscriber_id: string;
    incident_id: string;
    last_update_id: string;
    last_status: string | null;
    attempts: number;
  }>(sql, {
    where: isForChannel(sql, channel),
    order: sql`next_attempt_at, id`,
    max: BATCH_MAX,
    leaseMs: LEASE_MS,
    columns: sql`id, organization_id, subscriber_id, incident_id, last_update_id, last_status, attempts`,
  });
  return rows.map((row) => ({
    claim: row.claim,
    key: { id: row.id },
    id: Number(row.id),
    organizationId: row.organization_id,
    subscriberId: Number(row.subscriber_id),
    incidentId: Number(row.incident_id),
    lastUpdateId: Number(row.last_update_id),
    lastStatus: row.last_status,
    attempt: row.attempts,
  }));
}

/**
 * It was told, or there was nothing new; nothing more is for a while. What happened meanwhile makes it due once more: until
 * here it is due, so that nothing is lost with a sender that dies.
 */
export async function endTelling(
  sql: Sql,
  notice: TakenNotice,
  { lastUpdateId, status }: { readonly lastUpdateId: number; readonly status: string },
): Promise<void> {
  await sql`
    WITH told AS (
      UPDATE status_page_subscribers SET failures = 0
      WHERE organization_id = ${notice.organizationId} AND id = ${notice.subscriberId} AND failures > 0
    )
    UPDATE status_page_notices n
    SET ${NOTICES.freed(sql)}, attempts = 0, last_update_id = ${lastUpdateId}, last_status = ${status},
        next_attempt_at = ${fromNow(sql, TOLD_EVERY_MS)},
        is_due = EXISTS (
          SELECT 1 FROM incidents i WHERE i.organization_id = n.organization_id AND i.id = n.incident_id
            AND (i.status <> ${status} OR EXISTS (
              SELECT 1 FROM incident_updates u WHERE u.organization_id = n.organization_id
                AND u.incident_id = i.id AND u.public AND u.id > ${lastUpdateId})))
    WHERE ${NOTICES.held(sql, notice)}`;
}

/** Nobody is to be told any more, or cannot be. */
export async function dropTelling(sql: Sql, notice: TakenNotice): Promise<void> {
  await sql`
    UPDATE status_page_notices SET ${NOTICES.freed(sql)}, is_due = false, attempts = 0
    WHERE ${NOTICES.held(sql, notice)}`;
}

/**
 * An endpoint did not take a change: whoever named it, when that is the last one that it is told, and null before. One that
 * says that it is gone gets nothing more at once.
 */
export async function endFailing(
  tx: TransactionSql,
  { organizationId, subscriberId }: TakenNotice,
  isForever: boolean,
): Promise<{ email: string; webhookHost: string; page: string } | null> {
  await tx`
    UPDATE status_page_subscribers SET failures = failures + 1
    WHERE organization_id = ${organizationId} AND id = ${subscriberId}`;
  const [ended] = await tx<{ email: string; webhookHost: string; page: string }[]>`
    DELETE FROM status_page_subscribers s USING status_pages p
    WHERE s.organization_id = ${organizationId} AND s.id = ${subscriberId}
      AND p.organization_id = s.organization_id AND p.id = s.status_page_id
      AND (s.failures >= ${FAILURES_MAX} OR ${isForever})
    RETURNING s.email, s.webhook_host AS "webhookHost", p.name AS page`;
  return ended ?? null;
}

export interface NoticeSubscriber {
  readonly id: number;
  readonly email: string;
  readonly slug: string;
  /** Sealed; null for one who is mailed. */
  readonly webhook: Uint8Array | null;
}

/** Who is told, and of which page; null for one who is not subscribed any more, or whose page is not public. */
export async function findNoticeSubscriber(
  tx: TransactionSql,
  organizationId: number,
  subscriberId: number,
): Promise<NoticeSubscriber | null> {
  const [row] = await tx<NoticeSubscriber[]>`
    SELECT s.id::float8 AS id, s.email, p.slug, s.webhook_sealed AS webhook FROM status_page_subscribers s
    JOIN status_pages p ON p.id = s.status_page_id AND p.organization_id = s.organization_id
    WHERE s.organization_id = ${organizationId} AND s.id = ${subscriberId} AND p.is_public`;
  return row ?? null;
}
