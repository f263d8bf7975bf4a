import { Readable } from "node:stream";
import type { ClickHouseClient } from "@clickhouse/client";
import type { Sql, TransactionSql } from "postgres";
import { KEPT_ROWS } from "../../../query/index.ts";
import { DependencyError } from "../../errors.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import { UNUSED_ROWS_MS } from "./limits.ts";

interface KeptRowsOptions {
  readonly sql: Sql;
  readonly clickhouse: ClickHouseClient;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Sets of rows in the log store. A set is written down before its rows are, and never changes: what is to replace it is
 * another set, so whoever names one reads all of it or what was before.
 */
export class KeptRows {
  readonly #options: KeptRowsOptions;

  constructor(options: KeptRowsOptions) {
    this.#options = options;
  }

  /** Writes a set and answers its number. It stays for an hour, and for as long as a table has it. Throws DependencyError. */
  async write(organizationId: number, rows: readonly (readonly string[])[]): Promise<string> {
    const { sql, clickhouse, now } = this.#options;
    const rowsId = await askPostgres(() =>
      inOrganization(sql, organizationId, async (tx) => {
        const [set] = await tx<{ id: string }[]>`
          INSERT INTO kept_row_sets (organization_id, expires_at)
          VALUES (${organizationId}, ${new Date(now() + UNUSED_ROWS_MS)}) RETURNING id`;
        if (set === undefined) throw new Error("an insert returned no row");
        return String(set.id);
      }),
    );
    if (rows.length === 0) return rowsId;
    try {
      await clickhouse.insert({
        table: KEPT_ROWS.table,
        format: "JSONCompactEachRow",
        columns: [KEPT_ROWS.organizationColumn, KEPT_ROWS.rowsIdColumn, "row", KEPT_ROWS.cellsColumn],
        values: Readable.from(rows.map((cells, row) => [organizationId, rowsId, row, cells])),
      });
    } catch (cause) {
      throw new DependencyError("clickhouse", "rows cannot be kept", { retryable: true, cause });
    }
    return rowsId;
  }
}

/** Lets a set go that no table will have any more, when what is under way with it is over. */
export async function releaseRows(
  tx: TransactionSql,
  organizationId: number,
  rowsId: string,
  nowMs: number,
): Promise<void> {
  await tx`
    UPDATE kept_row_sets SET expires_at = ${new Date(nowMs + UNUSED_ROWS_MS)}
    WHERE organization_id = ${organizationId} AND id = ${rowsId}`;
}

/** Sets that one statement of the log store removes. */
const REMOVED_AT_ONCE = 100;

/** What removes sets that no table has and whose time is over: at most `limit`, and answers how many. */
export function removerOfUnusedRows(clickhouse: ClickHouseClient) {
  return async (sql: Sql, nowMs: number, limit: number): Promise<number> =>
    sql.begin(async (tx) => {
      const sets = await tx<{ id: string; organization_id: number }[]>`
        SELECT id, organization_id FROM kept_row_sets s
        WHERE expires_at < ${new Date(nowMs)} AND NOT EXISTS (SELECT 1 FROM kql_tables t WHERE t.rows_id = s.id)
        ORDER BY id LIMIT ${Math.min(limit, REMOVED_AT_ONCE)} FOR UPDATE SKIP LOCKED`;
      if (sets.length === 0) return 0;
      const ids = sets.map(({ id }) => Number(id));
      const organizations = [...new Set(sets.map(({ organization_id }) => organization_id))];
      await clickhouse.command({
        query: `DELETE FROM ${KEPT_ROWS.table}
                WHERE organization_id IN {organizations: Array(UInt32)} AND rows_id IN {ids: Array(UInt64)}`,
        query_params: { organizations, ids },
      });
      const { count } = await tx`DELETE FROM kept_row_sets WHERE id IN ${tx(ids)}`;
      return count;
    });
}
