import type { ClickHouseClient } from "@clickhouse/client";
import { DependencyError } from "../../../errors.ts";
import { STORED_ENTRIES_TIMEOUT_MS } from "../limits.ts";

/**
 * Which of these entries are in the log store, by their event ids. Those received before `sinceMs` are not looked for.
 * Throws a retryable DependencyError.
 */
export async function findStoredEntries(
  clickhouse: ClickHouseClient,
  organizationId: number,
  names: readonly string[],
  sinceMs: number,
): Promise<ReadonlySet<string>> {
  try {
    const result = await clickhouse.query({
      query: `
        SELECT DISTINCT event_id FROM logs
        WHERE organization_id = {organizationId: UInt32} AND received_at >= {since: DateTime64(3, 'UTC')}
          AND event_id IN {names: Array(String)}`,
      query_params: { organizationId, since: new Date(sinceMs).toISOString().replace("Z", ""), names },
      format: "JSONEachRow",
      abort_signal: AbortSignal.timeout(STORED_ENTRIES_TIMEOUT_MS),
    });
    const rows = await result.json<{ event_id: string }>();
    return new Set(rows.map((row) => row.event_id));
  } catch (error) {
    throw new DependencyError("clickhouse", "the entries of a replay could not be looked for", {
      retryable: true,
      cause: error,
    });
  }
}
