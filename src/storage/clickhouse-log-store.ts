import type { LogStore } from "../../ingest/index.ts";
import { DependencyError } from "../errors.ts";
import type { ClickHouseEndpoint } from "./clickhouse.ts";
import { basicAuthorization } from "./embedded/clickhouse-config.ts";

/** An insert that has no answer by then is given up and sent again; the token makes that safe. */
const INSERT_TIMEOUT_MS = 120_000;
/**
 * Skip indexes are most of an insert's cost. Up to some 100 000 rows a second there is time for it, and words that are
 * rare are found at once; a larger insert leaves them to the first merge, which makes them in any case, so that a
 * server under full load keeps up.
 */
const INDEXED_INSERT_MAX_BYTES = 8 * 1024 * 1024;
/** Characters of a refusal kept for the log. */
const REFUSAL_MAX_CHARS = 1_000;

/**
 * The `logs` table as the flusher's target. Speaks HTTP itself: on this runtime the official client copies a body
 * through streams, which costs twice as much as sending it.
 */
export function createClickHouseLogStore(endpoint: ClickHouseEndpoint): LogStore {
  const authorization = basicAuthorization(endpoint.user, endpoint.password);
  return {
    insert: async (blocks, token, signal) => {
      const bytes = blocks.reduce((sum, block) => sum + block.length, 0);
      const response = await fetch(`${endpoint.origin}/?${settingsOf(endpoint.database, token, bytes)}`, {
        method: "POST",
        headers: { authorization },
        body: new Blob(blocks.map(asBlobPart)),
        signal: AbortSignal.any([signal, AbortSignal.timeout(INSERT_TIMEOUT_MS)]),
      });
      const text = await response.text();
      if (!response.ok)
        throw new DependencyError("clickhouse", `insert refused: ${text.slice(0, REFUSAL_MAX_CHARS)}`, {
          retryable: true,
        });
    },
  };
}

function settingsOf(database: string, token: string, bytes: number): URLSearchParams {
  return new URLSearchParams({
    query: "INSERT INTO logs FORMAT Native",
    database,
    // The batches are made here; the server's own batching would weaken the token and the acknowledgement.
    async_insert: "0",
    insert_deduplicate: "1",
    insert_deduplication_token: token,
    // Errors come as a status and not in the middle of an answer.
    wait_end_of_query: "1",
    materialize_skip_indexes_on_insert: bytes <= INDEXED_INSERT_MAX_BYTES ? "1" : "0",
    // Keeps one insert one part: a batch is far below these.
    min_insert_block_size_rows: "10000000",
    min_insert_block_size_bytes: "1000000000",
  });
}

/** Blocks are read from files into memory of this process alone; the type of a blob's part wants to hear that. */
function asBlobPart(block: Uint8Array): Uint8Array<ArrayBuffer> {
  if (!isUnshared(block)) throw new TypeError("a block lies in shared memory");
  return block;
}

function isUnshared(bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer;
}
