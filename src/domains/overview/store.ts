import type { TransactionSql } from "postgres";
import type { RecordCounts } from "./types.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

type CountName =
  | "viewers"
  | "members"
  | "admins"
  | "owners"
  | "open_invites"
  | "active_tokens"
  | "used_tokens"
  | "saved_searches"
  | "open_tails"
  | "monitors_up"
  | "monitors_degraded"
  | "monitors_down"
  | "monitors_unknown"
  | "monitors_paused";

/** Counts what an organisation has, all at one moment. */
export async function countRecords(
  tx: TransactionSql,
  organizationId: number,
  nowMs: number,
): Promise<RecordCounts> {
  const now = new Date(nowMs);
  const [row] = await tx<Record<CountName, string>[]>`
    SELECT m.*, t.*, w.*,
           (SELECT count(*) FROM invites
            WHERE organization_id = ${organizationId} AND expires_at > ${now}) AS open_invites,
           (SELECT count(*) FROM saved_searches WHERE organization_id = ${organizationId}) AS saved_searches,
           (SELECT count(*) FROM tail_sessions
            WHERE organization_id = ${organizationId} AND expires_at > ${now}) AS open_tails
    FROM (
      SELECT count(*) FILTER (WHERE role = 'viewer') AS viewers,
             count(*) FILTER (WHERE role = 'member') AS members,
             count(*) FILTER (WHERE role = 'admin') AS admins,
             count(*) FILTER (WHERE role = 'owner') AS owners
      FROM memberships WHERE organization_id = ${organizationId}
    ) m, (
      SELECT count(*) AS active_tokens,
             count(*) FILTER (WHERE last_used_at > ${new Date(nowMs - DAY_MS)}) AS used_tokens
      FROM personal_access_tokens
      WHERE organization_id = ${organizationId} AND revoked_at IS NULL
        AND (expires_at IS NULL OR expires_at > ${now})
    ) t, (
      SELECT count(*) FILTER (WHERE NOT w.paused AND s.confirmed = 'up') AS monitors_up,
             count(*) FILTER (WHERE NOT w.paused AND s.confirmed = 'degraded') AS monitors_degraded,
             count(*) FILTER (WHERE NOT w.paused AND s.confirmed = 'down') AS monitors_down,
             count(*) FILTER (WHERE NOT w.paused AND s.confirmed IS NULL) AS monitors_unknown,
             count(*) FILTER (WHERE w.paused) AS monitors_paused
      FROM monitors w JOIN monitor_state s ON s.monitor_id = w.id WHERE w.organization_id = ${organizationId}
    ) w`;
  const of = (name: CountName): number => Number(row?.[name] ?? 0);
  const byRole = { viewer: of("viewers"), member: of("members"), admin: of("admins"), owner: of("owners") };
  const byStatus = {
    up: of("monitors_up"),
    degraded: of("monitors_degraded"),
    down: of("monitors_down"),
    unknown: of("monitors_unknown"),
    paused: of("monitors_paused"),
  };
  return {
    members: { total: byRole.viewer + byRole.member + byRole.admin + byRole.owner, byRole },
    invites: { open: of("open_invites") },
    tokens: { active: of("active_tokens"), usedLastDay: of("used_tokens") },
    savedSearches: { total: of("saved_searches") },
    tails: { open: of("open_tails") },
    monitors: { total: Object.values(byStatus).reduce((sum, count) => sum + count, 0), byStatus },
  };
}
