import type { EntryIds, EntrySpan, LogStore } from "../../ingest/index.ts";
import { WORD_INDEX } from "../../query/index.ts";
import type { ClickHouseEndpoint } from "./clickhouse.ts";
import { askClickHouse } from "./clickhouse-http.ts";
import { lookUpEntries, unionOf } from "./entry-lookup.ts";

/**
 * Indexes of messages are most of an insert's cost. Up to some 100 000 rows a second there is time for it, and words that are
 * rare are found at once; a larger insert leaves them to the first merge, which makes them in any case, so that a
 * server under full load keeps up. Those of ids and of attributes cost next to nothing, and every insert makes them.
 */
const INDEXED_INSERT_MAX_BYTES = 8 * 1024 * 1024;
const MESSAGE_INDEXES = `message_ngrams,${WORD_INDEX}`;

interface LogStoreParts {
  /** Which entries of a span have moved to the archive; none have when absent. */
  readonly findArchived?: (span: EntrySpan, signal: AbortSignal) => Promise<EntryIds>;
  /** Makes durable what ClickHouse itself leaves to the system; nothing when absent. */
  readonly settle?: () => Promise<void>;
  /** Told when rows without indexes of their messages are there, or may be. */
  readonly onUnindexed?: () => void;
}

/** The `logs` table, and the archive to which entries move from there, as the flusher's target. */
export function createClickHouseLogStore(endpoint: ClickHouseEndpoint, parts: LogStoreParts = {}): LogStore {
  const settle = parts.settle ?? (async () => undefined);
  return {
    insert: async (blocks, token, signal) => {
      const bytes = blocks.reduce((sum, block) => sum + block.length, 0);
      const body = joined(blocks, bytes);
      try {
        const settings = settingsOf(endpoint.database, token, bytes);
        const answer = await askClickHouse(endpoint, settings, body, signal);
        await answer.arrayBuffer();
      } finally {
        if (bytes > INDEXED_INSERT_MAX_BYTES) parts.onUnindexed?.();
      }
      await settle();
    },
    find: async (span, signal) => {
      // An entry that moves is in both places for a while and never in neither: found in this order it is not missed.
      const stored = await lookUpEntries(endpoint, { sql: "logs", parameters: {} }, span, signal);
      const archived = (await parts.findArchived?.(span, signal)) ?? new Map();
      await settle();
      return unionOf(stored, archived);
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
    ...(bytes > INDEXED_INSERT_MAX_BYTES && { exclude_materialize_skip_indexes_on_insert: MESSAGE_INDEXES }),
    // Keeps one insert one part: a batch is far below these.
    min_insert_block_size_rows: "10000000",
    min_insert_block_size_bytes: "1000000000",
  });
}

/** The blocks as one piece, without a copy where they lie one behind the other. What is sent as a Blob stays in memory until the collector finds it. */
function joined(blocks: readonly Uint8Array[], bytes: number): Uint8Array<ArrayBuffer> {
  const [first] = blocks;
  let end = first?.byteOffset ?? 0;
  const isOne = blocks.every(({ buffer, byteOffset, length }) => {
    const isNext = buffer === first?.buffer && byteOffset === end;
    end += length;
    return isNext;
  });
  if (first !== undefined && isOne && first.buffer instanceof ArrayBuffer)
    return new Uint8Array(first.buffer, first.byteOffset, bytes);
  return Buffer.concat(blocks, bytes);
}
