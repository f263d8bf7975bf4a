import type { ClickHouseEndpoint } from "./clickhouse.ts";
import { askClickHouse } from "./clickhouse-http.ts";

/** Rows for a table of ClickHouse, as one insert. */
interface InsertOnce {
  readonly table: string;
  /** Lines of JSON, all of one partition. */
  readonly body: Blob | Uint8Array<ArrayBuffer>;
  /** An insert with a token that the store remembers is dropped. */
  readonly token: string;
}

/** Keeps the rows, all or none of them, for they are one part. Rejects when that is not certain. */
export async function insertOnce(
  endpoint: ClickHouseEndpoint,
  { table, body, token }: InsertOnce,
  signal: AbortSignal,
): Promise<void> {
  const settings = new URLSearchParams({
    query: `INSERT INTO ${table} FORMAT JSONEachRow`,
    database: endpoint.database,
    async_insert: "0",
    insert_deduplicate: "1",
    insert_deduplication_token: token,
    wait_end_of_query: "1",
    min_insert_block_size_rows: "10000000",
    min_insert_block_size_bytes: "1000000000",
    max_insert_block_size: "10000000",
  });
  const answer = await askClickHouse(endpoint, settings, body, signal);
  await answer.arrayBuffer();
}
