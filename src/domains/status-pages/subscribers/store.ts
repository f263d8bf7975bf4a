import type { Sql, TransactionSql } from "postgres";
import { type Static, Type } from "typebox";
import { lateCheck } from "../../../late-check.ts";
import {
  CONFIRMATION_EVERY_MS,
  PENDING_MAX,
  PENDING_MS,
  PENDING_PLACE_MS,
  SUBSCRIBERS_MAX,
} from "./limits.ts";
import type { SealedWebhook } from "./webhooks.ts";

/** The queries about who has asked to be told. */

export const Subscriber = Type.Object(
  {
    id: Type.Integer(),
    channel: Type.Union([Type.Literal("mail"), Type.Literal("webhook")]),
    email: Type.String({ description: "Of a webhook: who asked for it, and hears when it fails." }),
    webhookHost: Type.Union([Type.String(), Type.Null()], {
      description: "Whose endpoint is told; the rest of its address may be a secret.",
    }),
    monitorIds: Type.Union([Type.Array(Type.Integer()), Type.Null()]),
    confirmed: Type.Boolean(),
    createdAt: Type.String({ format: "date-time" }),
  },
  { $id: "StatusPageSubscriber" },
);
const subscribers = lateCheck(Type.Array(Subscriber));

/** Oldest first. */
export async function listSubscribers(
  tx: TransactionSql,
  organizationId: number,
  pageId: number,
): Promise<Static<typeof Subscriber>[]> {
  const rows = await tx<{ createdAt: Date }[]>`
    SELECT id::float8 AS id, channel, email, webhook_host AS "webhookHost", monitor_ids AS "monitorIds", confirmed_at IS NOT NULL AS confirmed,
           created_at AS "createdAt"
    FROM status_page_subscribers WHERE organization_id = ${organizationId} AND status_page_id = ${pageId}
    ORDER BY id LIMIT ${SUBSCRIBERS_MAX}`;
  const shown: unknown = rows.map((row) => ({ ...row, createdAt: row.createdAt.toISOString() }));
  if (!subscribers.Check(shown)) throw new Error("a subscriber is not in its form");
  return shown;
}

export async function removeSubscriber(
  tx: TransactionSql,
  organizationId: number,
  pageId: number,
  id: number,
): Promise<{ readonly email: string } | null> {
  const [removed] = await tx<{ email: string }[]>`
    DELETE FROM status_page_subscribers
    WHERE organization_id = ${organizationId} AND status_page_id = ${pageId} AND id = ${id} RETURNING email`;
  return removed ?? null;
}

interface NewSubscriber {
  readonly organizationId: number;
  readonly pageId: number;
  readonly email: string;
  readonly monitorIds: readonly number[] | null;
  /** Null where mails are to be sent. */
  readonly webhook: SealedWebhook | null;
  readonly confirmTokenHash: Uint8Array;
}

/** A number that no other advisory lock of two numbers has; the other one stands for the address. */
const LOCK_CLASS = 918_274_128;

/**
 * Remembers who is to be asked. False where nobody is: for one who has confirmed, who was asked a moment ago about this or
 * another page, and when the page has as many as it may.
 */
export async function insertPending(
  tx: TransactionSql,
  wanted: NewSubscriber,
  nowMs: number,
): Promise<boolean> {
  const { organizationId, pageId, email, monitorIds, webhook, confirmTokenHash } = wanted;
  const mailbox = mailboxOf(email);
  await tx`SELECT pg_advisory_xact_lock(${LOCK_CLASS}::integer, hashtext(${mailbox}))`;
  if (nowMs < (await mayBeAskedFrom(tx, mailbox)) || !(await hasPlace(tx, wanted, nowMs))) return false;
  const now = new Date(nowMs);
  const ids = monitorIds === null ? null : JSON.stringify(monitorIds);
  const { count } = await tx`
    INSERT INTO status_page_subscribers (organization_id, status_page_id, email, monitor_ids, webhook_sealed,
                                         webhook_key, webhook_host, confirm_token_hash, confirmation_sent_at, created_at)
    VALUES (${organizationId}, ${pageId}, ${email}, ${ids}::text::jsonb, ${webhook?.sealed ?? null},
            ${webhook?.key ?? null}, ${webhook?.host ?? null}, ${confirmTokenHash}, ${now}, ${now})
    ON CONFLICT ${webhook === null ? tx`(status_page_id, email) WHERE webhook_key IS NULL` : tx`(status_page_id, webhook_key) WHERE webhook_key IS NOT NULL`}
    DO UPDATE
    SET email = excluded.email, monitor_ids = excluded.monitor_ids, webhook_sealed = excluded.webhook_sealed,
        webhook_host = excluded.webhook_host, confirm_token_hash = excluded.confirm_token_hash,
        confirmation_sent_at = excluded.confirmation_sent_at
    WHERE status_page_subscribers.confirmed_at IS NULL`;
  return count > 0;
}

/** As the column of that name has it. */
function mailboxOf(email: string): string {
  return email.replace(/\+[^@]*@/, "@");
}

/** Whether the page may have one more; the place of one who was asked long ago and has not confirmed becomes free for it. */
async function hasPlace(
  tx: TransactionSql,
  { organizationId, pageId }: NewSubscriber,
  nowMs: number,
): Promise<boolean> {
  const [counted] = await tx<{ confirmed: string; pending: string }[]>`
    SELECT count(confirmed_at) AS confirmed, count(*) - count(confirmed_at) AS pending
    FROM status_page_subscribers WHERE organization_id = ${organizationId} AND status_page_id = ${pageId}`;
  if (Number(counted?.confirmed) + PENDING_MAX > SUBSCRIBERS_MAX) return false;
  if (Number(counted?.pending) < PENDING_MAX) return true;
  const { count } = await tx`
    DELETE FROM status_page_subscribers WHERE id IN (
      SELECT id FROM status_page_subscribers
      WHERE organization_id = ${organizationId} AND status_page_id = ${pageId} AND confirmed_at IS NULL
        AND confirmation_sent_at <= ${new Date(nowMs - PENDING_PLACE_MS)}
      ORDER BY confirmation_sent_at LIMIT 1 FOR UPDATE SKIP LOCKED)`;
  return count > 0;
}

/**
 * From when on a mailbox may be asked again, milliseconds since 1970, whatever page it is about. As long as it confirms nothing
 * the time between doubles: somebody else may be asking in its name.
 */
async function mayBeAskedFrom(tx: TransactionSql, mailbox: string): Promise<number> {
  const [asked] = await tx<{ last: Date | null; firstInVain: Date | null; lastInVain: Date | null }[]>`
    SELECT max(confirmation_sent_at) AS last,
           min(created_at) FILTER (WHERE confirmed_at IS NULL) AS "firstInVain",
           max(confirmation_sent_at) FILTER (WHERE confirmed_at IS NULL) AS "lastInVain"
    FROM status_page_subscribers WHERE mailbox = ${mailbox}`;
  const { last = null, firstInVain = null, lastInVain = null } = asked ?? {};
  const afterAny = last === null ? 0 : last.getTime() + CONFIRMATION_EVERY_MS;
  if (firstInVain === null || lastInVain === null) return afterAny;
  return Math.max(afterAny, 2 * lastInVain.getTime() - firstInVain.getTime());
}

interface Confirmed {
  readonly organizationId: number;
  readonly id: number;
  /** Sealed; null for one who is mailed. */
  readonly webhook: Uint8Array | null;
}

/** The subscriber who is now confirmed; null for a token that is unknown, used or too old. */
export async function confirm(
  tx: TransactionSql,
  tokenHash: Uint8Array,
  nowMs: number,
): Promise<Confirmed | null> {
  const [row] = await tx<{ organization_id: number; id: string; webhook_sealed: Uint8Array | null }[]>`
    UPDATE status_page_subscribers SET confirmed_at = ${new Date(nowMs)}, confirm_token_hash = NULL
    WHERE confirm_token_hash = ${tokenHash} AND confirmation_sent_at > ${new Date(nowMs - PENDING_MS)}
    RETURNING organization_id, id, webhook_sealed`;
  if (row === undefined) return null;
  return { organizationId: row.organization_id, id: Number(row.id), webhook: row.webhook_sealed };
}

/** Whether there is somebody whom a link would confirm. */
export async function isPending(sql: Sql, tokenHash: Uint8Array, nowMs: number): Promise<boolean> {
  const rows = await sql`
    SELECT 1 FROM status_page_subscribers
    WHERE confirm_token_hash = ${tokenHash} AND confirmation_sent_at > ${new Date(nowMs - PENDING_MS)}`;
  return rows.length > 0;
}

/** The organisation whose subscriber it was; null for one who is none any more. */
export async function unsubscribe(tx: TransactionSql, id: number): Promise<number | null> {
  const [row] = await tx<{ organization_id: number }[]>`
    DELETE FROM status_page_subscribers WHERE id = ${id} RETURNING organization_id`;
  return row?.organization_id ?? null;
}

/** Forgets who has not confirmed in time, since they were asked last. */
export async function removePending(sql: Sql, nowMs: number, limit: number): Promise<number> {
  const before = new Date(nowMs - PENDING_MS);
  const rows = await sql`
    DELETE FROM status_page_subscribers WHERE id IN (
      SELECT id FROM status_page_subscribers
      WHERE confirmed_at IS NULL AND created_at <= ${before} AND confirmation_sent_at <= ${before}
      LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ) RETURNING 1`;
  return rows.length;
}
