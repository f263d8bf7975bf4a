import type { Sql } from "postgres";
import { askPostgres } from "../storage/ask-postgres.ts";
import { USAGE_HALF_LIFE_S } from "./limits.ts";

type ColumnState = "filling" | "ready" | "leaving";

/** An attribute with columns of its own, as the servers agree on it. */
export interface KeptColumn {
  readonly key: string;
  readonly isLowCardinality: boolean;
  readonly state: ColumnState;
  /** Milliseconds in this state. */
  readonly ageMs: number;
  /** Milliseconds since a statement looked for it. */
  readonly unusedMs: number;
  /** What such statements cost, faded. */
  readonly costMs: number;
}

export function readColumns(sql: Sql): Promise<KeptColumn[]> {
  return askPostgres(
    () => sql<KeptColumn[]>`
      SELECT key, is_low_cardinality AS "isLowCardinality", state,
        (extract(epoch FROM now() - since) * 1000)::double precision AS "ageMs",
        (extract(epoch FROM now() - coalesce(last_asked_at, since)) * 1000)::double precision AS "unusedMs",
        coalesce(cost_ms * power(0.5, least(extract(epoch FROM now() - last_asked_at)::double precision / ${USAGE_HALF_LIFE_S}, 60)), 0) AS "costMs"
      FROM log_attribute_columns LEFT JOIN log_attribute_usage USING (key) ORDER BY key`,
  );
}

/** The keys whose columns statements may read. */
export async function readReadyKeys(sql: Sql): Promise<string[]> {
  const rows = await askPostgres(
    () => sql<{ key: string }[]>`SELECT key FROM log_attribute_columns WHERE state = 'ready' ORDER BY key`,
  );
  return rows.map(({ key }) => key);
}

export async function addColumn(sql: Sql, key: string, isLowCardinality: boolean): Promise<void> {
  await askPostgres(
    () => sql`
      INSERT INTO log_attribute_columns (key, is_low_cardinality, state, since)
      VALUES (${key}, ${isLowCardinality}, 'filling', now()) ON CONFLICT (key) DO NOTHING`,
  );
}

export async function setColumnState(sql: Sql, key: string, state: ColumnState): Promise<void> {
  await askPostgres(
    () =>
      sql`UPDATE log_attribute_columns SET state = ${state}, since = now() WHERE key = ${key} AND state <> ${state}`,
  );
}

export async function removeColumn(sql: Sql, key: string): Promise<void> {
  await askPostgres(() => sql`DELETE FROM log_attribute_columns WHERE key = ${key} AND state = 'leaving'`);
}
