import type { Sql } from "postgres";
import { askPostgres } from "../storage/ask-postgres.ts";
import {
  ATTRIBUTE_KEY_MAX_CHARS,
  DEAR_MIN_BYTES,
  DEAR_MIN_MS,
  USAGE_HALF_LIFE_S,
  USAGE_MAX_KEYS,
  USAGE_PENDING_MAX,
} from "./limits.ts";

/** What statements that looked for one attribute have cost. */
interface AttributeUsage {
  readonly key: string;
  readonly asks: number;
  readonly costMs: number;
}

/** What one statement took. */
interface StatementCost {
  readonly durationMs: number;
  readonly bytesRead: number;
}

/** Counts what attributes are asked for. What is not written down when the server dies is forgotten. */
export class UsageCounter {
  #pending = new Map<string, { asks: number; costMs: number }>();

  /** Notes a statement that looked for attributes with these keys; those in `columns` cost what they cost for other reasons. */
  add(
    keys: readonly string[],
    columns: ReadonlyMap<string, unknown>,
    { durationMs, bytesRead }: StatementCost,
  ): void {
    const isDear = durationMs >= DEAR_MIN_MS && bytesRead >= DEAR_MIN_BYTES;
    for (const key of keys) {
      if (!isKeepable(key) || !(isDear || columns.has(key))) continue;
      const sum = this.#pending.get(key);
      if (sum === undefined && this.#pending.size >= USAGE_PENDING_MAX) continue;
      this.#pending.set(key, {
        asks: (sum?.asks ?? 0) + 1,
        costMs: (sum?.costMs ?? 0) + durationMs,
      });
    }
  }

  /** Writes down what was counted since the last time. What cannot be written is counted with the next. */
  async write(sql: Sql): Promise<void> {
    const pending = this.#pending;
    if (pending.size === 0) return;
    this.#pending = new Map();
    try {
      await askPostgres(() => addUsage(sql, pending));
    } catch (error) {
      for (const [key, { asks, costMs }] of pending) {
        const later = this.#pending.get(key);
        this.#pending.set(key, { asks: asks + (later?.asks ?? 0), costMs: costMs + (later?.costMs ?? 0) });
      }
      throw error;
    }
  }
}

/** Postgres holds no zero byte. */
function isKeepable(key: string): boolean {
  return key.length <= ATTRIBUTE_KEY_MAX_CHARS && key.isWellFormed() && !key.includes("\0");
}

async function addUsage(
  sql: Sql,
  pending: ReadonlyMap<string, { readonly asks: number; readonly costMs: number }>,
): Promise<void> {
  const keys = [...pending.keys()];
  const sums = [...pending.values()];
  await sql`
    INSERT INTO log_attribute_usage AS old (key, asks, cost_ms, last_asked_at)
    SELECT key, asks, cost_ms, now() FROM unnest(
      ${sql.array(keys)}::text[],
      ${sql.array(sums.map(({ asks }) => asks))}::double precision[],
      ${sql.array(sums.map(({ costMs }) => costMs))}::double precision[]
    ) AS new (key, asks, cost_ms)
    ORDER BY key
    ON CONFLICT (key) DO UPDATE SET
      asks = old.asks * ${faded(sql)} + excluded.asks,
      cost_ms = old.cost_ms * ${faded(sql)} + excluded.cost_ms,
      last_asked_at = now()`;
}

function faded(sql: Sql) {
  return sql`power(0.5, least(extract(epoch FROM now() - old.last_asked_at)::double precision / ${USAGE_HALF_LIFE_S}, 60))`;
}

/** What attributes without a column cost by now, the dearest first. */
export function readDearAttributes(sql: Sql, max: number): Promise<AttributeUsage[]> {
  return askPostgres(
    () => sql<AttributeUsage[]>`
      SELECT key, asks * ${faded(sql)} AS asks, cost_ms * ${faded(sql)} AS "costMs"
      FROM log_attribute_usage AS old
      WHERE NOT EXISTS (SELECT FROM log_attribute_columns AS kept WHERE kept.key = old.key)
      ORDER BY 3 DESC LIMIT ${max}`,
  );
}

/** Forgets the keys that cost least beyond those that are remembered. */
export async function forgetCheapAttributes(sql: Sql): Promise<void> {
  await askPostgres(
    () => sql`
      DELETE FROM log_attribute_usage WHERE key IN (
        SELECT key FROM log_attribute_usage AS old
        WHERE NOT EXISTS (SELECT FROM log_attribute_columns AS kept WHERE kept.key = old.key)
        ORDER BY cost_ms * ${faded(sql)} DESC OFFSET ${USAGE_MAX_KEYS})`,
  );
}
