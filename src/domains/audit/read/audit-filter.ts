import type { PendingQuery, Row, TransactionSql } from "postgres";
import type { ExportParameters } from "./types.ts";

/** Which rows are meant; times in milliseconds since 1970, both included. */
export interface AuditFilter {
  readonly action: string | null;
  readonly actorUserId: number | null;
  readonly tokenId: number | null;
  readonly fromMs: number | null;
  readonly toMs: number | null;
}

/** Times that both JavaScript and Postgres write the same way; no row of ours lies outside. */
const EARLIEST_MS = Date.parse("0001-01-02T00:00:00.000Z");
const LATEST_MS = Date.parse("9999-12-30T00:00:00.000Z");

export function auditFilterOf(parameters: Omit<ExportParameters, "format">): AuditFilter {
  const { action, actor, pat_id, from, to } = parameters;
  return {
    action: action ?? null,
    actorUserId: actor ?? null,
    tokenId: pat_id ?? null,
    fromMs: from === undefined ? null : withinBounds(wholeMs(from) + (isBetweenMs(from) ? 1 : 0)),
    toMs: to === undefined ? null : withinBounds(wholeMs(to)),
  };
}

/** The filter as one text, equal for equal filters. */
export function filterText({ action, actorUserId, tokenId, fromMs, toMs }: AuditFilter): string {
  return JSON.stringify([action, actorUserId, tokenId, fromMs, toMs]);
}

/** The condition on rows of `audit_log`, with the organisation first. */
export function rowsMatching(
  tx: TransactionSql,
  organizationId: number,
  { action, actorUserId, tokenId, fromMs, toMs }: AuditFilter,
): PendingQuery<Row[]> {
  return tx`
    organization_id = ${organizationId}
    ${action === null ? tx`` : tx`AND action = ${action}`}
    ${actorUserId === null ? tx`` : tx`AND actor_user_id = ${actorUserId}`}
    ${tokenId === null ? tx`` : tx`AND actor_token_id = ${tokenId}`}
    ${fromMs === null ? tx`` : tx`AND created_at >= ${new Date(fromMs)}`}
    ${toMs === null ? tx`` : tx`AND created_at <= ${new Date(toMs)}`}`;
}

/** The millisecond a date-time lies in; engines differ in what they make of further digits. */
function wholeMs(text: string): number {
  return Date.parse(text.replace(/(\.\d{3})\d+/, "$1"));
}

function isBetweenMs(text: string): boolean {
  return /\.\d{3}0*[1-9]/.test(text);
}

function withinBounds(ms: number): number {
  return Math.min(LATEST_MS, Math.max(EARLIEST_MS, ms));
}
