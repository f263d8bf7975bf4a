import type { Sql } from "postgres";
import { logIdMs } from "../../../ingest/index.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import type { ClickHouseEndpoint } from "../../storage/clickhouse.ts";
import { streamsBehind } from "../streams/stream-store.ts";
import { UNSEALED_AFTER_MS, UNSEALED_MAX_STREAMS } from "./limits.ts";
import { greatestStored } from "./stored-entries.ts";

/**
 * From when on there are entries in the store that nobody has looked through, milliseconds since 1970, where that was long ago; null
 * where everything is sealed that is older than some hours. Streams of dead servers that are sealed to their end hold up nothing.
 */
export async function unsealedSince(
  { sql, endpoint }: { readonly sql: Sql; readonly endpoint: ClickHouseEndpoint },
  nowMs: number,
  signal: AbortSignal,
): Promise<number | null> {
  const streams = await askPostgres(() =>
    streamsBehind(sql, nowMs - UNSEALED_AFTER_MS, UNSEALED_MAX_STREAMS),
  );
  const since: number[] = [];
  for (const { instance, sealedId, lastId } of streams)
    if ((await greatestStored(endpoint, { instance, after: sealedId, through: lastId }, signal)) !== null)
      since.push(logIdMs(sealedId));
  return since.length === 0 ? null : Math.min(...since);
}
