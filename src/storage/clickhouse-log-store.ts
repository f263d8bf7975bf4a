import { Readable } from "node:stream";
import type { ClickHouseClient } from "@clickhouse/client";
import type { LogStore } from "../../ingest/index.ts";

/** The `logs` table as the flusher's target. */
export function createClickHouseLogStore(client: ClickHouseClient): LogStore {
  return {
    insert: async (blocks, token, signal) => {
      const { stream } = await client.exec({
        query: "INSERT INTO logs FORMAT Native",
        values: Readable.from(blocks, { objectMode: false }),
        abort_signal: signal,
        clickhouse_settings: {
          // The batches are made here; the server's own batching would weaken the token and the acknowledgement.
          async_insert: 0,
          insert_deduplicate: 1,
          insert_deduplication_token: token,
          // Skip indexes are made by the first merge: they are most of an insert's cost, fresh parts are few and small
          // enough to be read whole, and a merge makes them anew in any case.
          materialize_skip_indexes_on_insert: 0,
          // Keeps one insert one part: a batch is far below these.
          min_insert_block_size_rows: "10000000",
          min_insert_block_size_bytes: "1000000000",
        },
      });
      stream.resume();
    },
  };
}
