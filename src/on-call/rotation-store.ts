import type { Sql, TransactionSql } from "postgres";
import type { Rotation } from "./shifts.ts";

/** The queries about who is on call; the organisation comes first in each. */

interface RotationRow {
  id: string;
  schedule_id: string;
  user_id: string;
  starts_at: Date;
  ends_at: Date;
  override_user_id: string | null;
  override_starts_at: Date | null;
  override_ends_at: Date | null;
}

/** A rotation and the schedule it is of. */
interface ScheduledRotation extends Rotation {
  readonly scheduleId: number;
}

/** The rotations that touch a range, of one schedule or of all, by their start. */
export async function rotationsBetween(
  tx: TransactionSql,
  organizationId: number,
  { from, to, scheduleId }: { readonly from: Date; readonly to: Date; readonly scheduleId?: number },
): Promise<ScheduledRotation[]> {
  const rows = await tx<RotationRow[]>`
    SELECT id, schedule_id, user_id, starts_at, ends_at, override_user_id, override_starts_at, override_ends_at
    FROM on_call_rotations
    WHERE organization_id = ${organizationId} AND starts_at < ${to} AND ends_at > ${from}
      AND (${scheduleId ?? null}::bigint IS NULL OR schedule_id = ${scheduleId ?? null})
    ORDER BY starts_at, id`;
  return rows.map(rotationOf);
}

/** The people who belong to the organisation: nobody else can be on call for it. */
export async function memberAddresses(
  tx: TransactionSql,
  organizationId: number,
): Promise<Map<number, string>> {
  const rows = await tx<{ user_id: string; email: string }[]>`
    SELECT m.user_id, u.email FROM memberships m JOIN users u ON u.id = m.user_id
    WHERE m.organization_id = ${organizationId}`;
  return new Map(rows.map(({ user_id, email }) => [Number(user_id), email]));
}

/** Removes rotations that ended long ago, at most `limit`, and answers how many. */
export async function removeOldRotations(sql: Sql, nowMs: number, limit: number): Promise<number> {
  const { count } = await sql`
    WITH old AS MATERIALIZED (
      SELECT id FROM on_call_rotations WHERE ends_at < ${new Date(nowMs - ROTATION_KEPT_MS)}
      LIMIT ${limit} FOR UPDATE SKIP LOCKED
    )
    DELETE FROM on_call_rotations r USING old WHERE r.id = old.id`;
  return count;
}

/** Who was on call is asked for long after an incident. */
const ROTATION_KEPT_MS = 400 * 86_400_000;

function rotationOf(row: RotationRow): ScheduledRotation {
  const startsAt = row.starts_at.getTime();
  const endsAt = row.ends_at.getTime();
  return {
    id: Number(row.id),
    scheduleId: Number(row.schedule_id),
    userId: Number(row.user_id),
    startsAt,
    endsAt,
    override:
      row.override_user_id === null
        ? null
        : {
            userId: Number(row.override_user_id),
            // Without times of its own it holds for the whole turn.
            startsAt: row.override_starts_at?.getTime() ?? startsAt,
            endsAt: row.override_ends_at?.getTime() ?? endsAt,
          },
  };
}
