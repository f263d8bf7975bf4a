import type { Sql } from "postgres";
import type { UnitKey } from "./unit-store.ts";

/** The queries about attempts: what each may have left in files and in the log store. */

/** Writes down that an attempt begins; `fileOf` makes the name of its file from its number. */
export async function beginAttempt(
  sql: Sql,
  { id, organizationId }: UnitKey,
  fileOf: (attempt: number) => string,
  nowMs: number,
): Promise<{ attempt: number; file: string }> {
  const [next] = await sql<{ attempt: string }[]>`
    SELECT nextval(pg_get_serial_sequence('log_archive_attempts', 'id')) AS attempt`;
  if (next === undefined) throw new Error("the sequence gave no number");
  const attempt = Number(next.attempt);
  const file = fileOf(attempt);
  await sql`
    INSERT INTO log_archive_attempts (id, organization_id, unit_id, file, started_at)
    OVERRIDING SYSTEM VALUE VALUES (${attempt}, ${organizationId}, ${id}, ${file}, ${new Date(nowMs)})`;
  return { attempt, file };
}

/** The attempt has left nothing that would have to be removed. */
export async function forgetAttempt(sql: Sql, attempt: number): Promise<void> {
  await sql`DELETE FROM log_archive_attempts WHERE id = ${attempt}`;
}

/** What an attempt that no longer does anything has left. */
interface Leftover {
  readonly attempt: number;
  /** Null when it is the file of a unit that is done. */
  readonly file: string | null;
}

/** Attempts from before `beforeMs` that are neither what an open unit relies on nor what it is being moved by. */
export async function findLeftovers(sql: Sql, beforeMs: number, limit: number): Promise<Leftover[]> {
  const rows = await sql<{ id: string; file: string | null }[]>`
    SELECT a.id, CASE WHEN u.state = 'done' THEN NULL ELSE a.file END AS file
    FROM log_archive_attempts a
    LEFT JOIN log_archive_units u ON u.id = a.unit_id AND u.attempt = a.id
    WHERE a.started_at < ${new Date(beforeMs)} AND (u.state IS NULL OR u.state = 'done')
    ORDER BY a.started_at LIMIT ${limit}`;
  return rows.map(({ id, file }) => ({ attempt: Number(id), file }));
}

/**
 * Gives up archived entries of days up to `lastDay`: searches no longer find them, and their files become leftovers,
 * so that searches under way end well.
 */
export async function expireUnits(sql: Sql, lastDay: string, limit: number, nowMs: number): Promise<number> {
  const moved = await sql`
    WITH expired AS (
      DELETE FROM log_archive_units WHERE id IN (
        SELECT id FROM log_archive_units WHERE state = 'done' AND day <= ${lastDay}::date
        ORDER BY day LIMIT ${limit} FOR UPDATE SKIP LOCKED
      )
      RETURNING id, organization_id, attempt, file
    )
    INSERT INTO log_archive_attempts (id, organization_id, unit_id, file, started_at)
    OVERRIDING SYSTEM VALUE
    SELECT attempt, organization_id, id, file, ${new Date(nowMs)}::timestamptz FROM expired
    ON CONFLICT (id) DO UPDATE SET started_at = excluded.started_at`;
  return moved.count;
}
