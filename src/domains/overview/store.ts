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
  | "open_tails";

/** Counts what an organisation has, all at one moment. */
export async function countRecords(
  tx: TransactionSql,
  organizationId: number,
  nowMs: number,
): Promise<RecordCounts> {
  const now = new Date(nowMs);
  const [row] = await tx<Record<CountName, string>[]>`
    SELECT m.*, t.*,
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
    ) t`;
  const of = (name: CountName): number => Number(row?.[name] ?? 0);
  const byRole = { viewer: of("viewers"), member: of("members"), admin: of("admins"), owner: of("owners") };
  return {
    members: { total: byRole.viewer + byRole.member + byRole.admin + byRole.owner, byRole },
    invites: { open: of("open_invites") },
    tokens: { active: of("active_tokens"), usedLastDay: of("used_tokens") },
    savedSearches: { total: of("saved_searches") },
    tails: { open: of("open_tails") },
  };
}
