import type { Fragment, Sql } from "postgres";
import { DELIVERIES, type TakenDelivery, type TakenRow, takenColumns, takenOf } from "./delivery-store.ts";
import { RATES } from "./limits.ts";

/** What is under way, so that no more is taken than there is room for. */
interface Room {
  readonly max: number;
  /** Deliveries under way by the place they go to, and how many one may have. */
  readonly lanes: ReadonlyMap<string, number>;
  readonly perLane: number;
  /** Organisations that have as many under way as they may. */
  readonly fullOrganizations: readonly number[];
  /** Receivers with a rate that are being told something: how much they were told is only known afterwards. */
  readonly ratedTargets: readonly Uint8Array[];
}

const RATED_CHANNELS = Object.entries(RATES).flatMap(([channel, rate]) => (rate === null ? [] : [channel]));

/** Due deliveries of a priority that are looked at to find some that there is room for. */
const LOOKED_AT_MAX = 300;

/**
 * Takes due deliveries, pages of people first. Of those to one receiver about one incident only the oldest is taken, so
 * that they arrive in order, also behind one that is on its way still though something else is told in its place; a page
 * waits for nothing that is no page.
 */
export async function takeDue(sql: Sql, room: Room, leaseMs: number): Promise<TakenDelivery[]> {
  const { max, lanes, perLane } = room;
  const rows = await DELIVERIES.take<TakenRow>(sql, {
    where: sql`state = 'pending' AND id IN (
      SELECT id FROM (
        SELECT due.id, coalesce(busy.count, 0) + row_number() OVER (
          PARTITION BY due.lane ORDER BY due.priority, due.next_attempt_at, due.id
        ) AS place,
        CASE WHEN due.is_rated THEN row_number() OVER (
          PARTITION BY due.target_hash, due.is_rated ORDER BY due.next_attempt_at, due.id
        ) ELSE 1 END AS turn
        FROM (${lookedAt(sql, room, 0)} UNION ALL ${lookedAt(sql, room, 1)}) AS due
        LEFT JOIN unnest(${[...lanes.keys()]}::text[], ${[...lanes.values()]}::integer[]) AS busy (lane, count)
          USING (lane)
      ) AS placed
      WHERE place <= ${perLane} AND turn = 1)`,
    order: sql`priority, next_attempt_at, id`,
    max,
    leaseMs,
    columns: takenColumns(sql),
  });
  return rows.map(takenOf);
}

/** The due deliveries of a priority that nothing stands in the way of, by when they were due: as the index has them. */
function lookedAt(
  sql: Sql,
  { lanes, perLane, fullOrganizations, ratedTargets }: Room,
  priority: 0 | 1,
): Fragment {
  const full = [...lanes].filter(([, count]) => count >= perLane).map(([lane]) => lane);
  // As text: the driver takes an array of bytes for bytes, and Postgres makes no array of those.
  const rated = ratedTargets.map((hash) => Buffer.from(hash).toString("hex"));
  return sql`(
    SELECT id, lane, priority, next_attempt_at, target_hash,
           priority > 0 AND channel = ANY(${RATED_CHANNELS}::text[]) AS is_rated
    FROM deliveries d
    WHERE state = 'pending' AND priority = ${priority} AND next_attempt_at <= now()
      AND NOT (lane = ANY(${full}::text[])) AND NOT (organization_id = ANY(${[...fullOrganizations]}::integer[]))
      AND (priority = 0 OR NOT (encode(target_hash, 'hex') = ANY(${rated}::text[])))
      AND NOT EXISTS (
        SELECT 1 FROM deliveries earlier
        WHERE earlier.incident_id = d.incident_id AND earlier.target_hash = d.target_hash
          AND earlier.state = 'pending' AND earlier.priority <= d.priority AND earlier.id < d.id)
      AND NOT EXISTS (
        SELECT 1 FROM deliveries replaced
        WHERE replaced.organization_id = d.organization_id AND replaced.incident_id = d.incident_id
          AND replaced.target_hash = d.target_hash AND replaced.state = 'superseded' AND replaced.id < d.id
          AND replaced.priority <= d.priority AND replaced.claim_id IS NOT NULL AND replaced.next_attempt_at > now())
    ORDER BY next_attempt_at LIMIT ${LOOKED_AT_MAX})`;
}
