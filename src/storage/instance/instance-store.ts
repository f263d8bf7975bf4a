import type { Sql, TransactionSql } from "postgres";
import { firstLogIdAt } from "../../../ingest/index.ts";
import { LEASE_MS, REST_MS, STREAM_LEASE_MS } from "./limits.ts";

/** The queries about instance numbers. Leases go by the database's clock, ids by that of the server. */

/** Who asks for a number. */
export interface InstanceHolder {
  /** This start of the server. */
  readonly id: string;
  /** Its data directory, see `directoryIdentity`. */
  readonly place: string | null;
}

/**
 * Takes a number for the length of a lease; null when all are taken. The one that this data directory gave back comes
 * first, else the one that has rested longest: every id that was made with it is before `nowMs`. What an earlier start
 * of the same data directory holds is free, because whoever asks has the directory's lock; it rests all the same. With
 * the number begins a stream of entries.
 */
export function takeNumber(sql: Sql, { id, place }: InstanceHolder, nowMs: number): Promise<number | null> {
  return sql.begin(async (tx) => {
    await tx`LOCK TABLE server_instances IN EXCLUSIVE MODE`;
    await tx`
      UPDATE server_instances SET holder = NULL, place = NULL, lease_until = now()
      WHERE place = ${place} AND holder IS NOT NULL`;
    const [taken] = await tx<{ number: number }[]>`
      INSERT INTO server_instances (number, holder, place, lease_until, ids_through)
      SELECT number, ${id}, ${place}, ${leaseEnd(tx)}, ${new Date(nowMs + REST_MS)}
      FROM generate_series(0, 1023) AS number LEFT JOIN server_instances i USING (number)
      WHERE i.number IS NULL OR (i.lease_until <= now() AND i.ids_through < ${new Date(nowMs)})
      ORDER BY i.place IS NOT DISTINCT FROM ${place} AND i.place IS NOT NULL DESC, i.ids_through NULLS FIRST, number
      LIMIT 1
      ON CONFLICT (number) DO UPDATE
      SET holder = excluded.holder, place = excluded.place,
          lease_until = excluded.lease_until, ids_through = excluded.ids_through
      RETURNING number`;
    if (taken === undefined) return null;
    await openStream(tx, taken.number, { id, place }, nowMs);
    return taken.number;
  });
}

/** Notes where the ids begin that the holder makes with the number: above all that others made with it. */
async function openStream(
  tx: TransactionSql,
  instance: number,
  { id, place }: InstanceHolder,
  nowMs: number,
): Promise<void> {
  const firstId = firstLogIdAt(nowMs, instance);
  await tx`
    INSERT INTO ingest_streams (instance, holder, place, first_id, sealed_id, sealer, lease_until)
    VALUES (${instance}, ${id}, ${place}, ${String(firstId)}, ${String(firstId - 1n)}, ${id},
            now() + ${`${STREAM_LEASE_MS} milliseconds`}::interval)`;
}

/** Holds the number for another lease from now on; false when it is not this holder's any more. */
export async function renewNumber(sql: Sql, number: number, holder: string, nowMs: number): Promise<boolean> {
  const renewed = await sql`
    UPDATE server_instances
    SET lease_until = ${leaseEnd(sql)}, ids_through = greatest(ids_through, ${new Date(nowMs + REST_MS)})
    WHERE number = ${number} AND holder = ${holder} AND lease_until > now()`;
  return renewed.count === 1;
}

/** Gives the number back, with which no later ids were made. */
export async function giveBackNumber(
  sql: Sql,
  number: number,
  holder: string,
  idsThroughMs: number,
): Promise<void> {
  await sql`
    UPDATE server_instances SET holder = NULL, lease_until = now(), ids_through = ${new Date(idsThroughMs)}
    WHERE number = ${number} AND holder = ${holder}`;
}

function leaseEnd(sql: Pick<Sql, "unsafe">) {
  return sql.unsafe(`now() + interval '${LEASE_MS} milliseconds'`);
}
