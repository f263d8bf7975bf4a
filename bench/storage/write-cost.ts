import type { BenchEngine } from "./engine.ts";
import { needleEveryRows, needleOf, needleOffset } from "./rows.ts";
import { logColumns, sourceRows } from "./source-table.ts";
import type { Variant } from "./variants.ts";

/** What storing a row costs. Microseconds of CPU are the engine's, per row. */
export interface WriteCost {
  readonly rowsPerSecond: number;
  readonly insertCpuUs: number;
  /** One rewrite of every row by a merge. */
  readonly mergeCpuUs: number;
  readonly bytesPerRow: number;
  readonly indexBytesPerRow: number;
  /** The newest 100 that hold a word found in a single row, over everything, after the merge. */
  readonly needleMs: number;
}

const defaultRowsPerInsert = 50_000;
const needleRuns = 7;

/**
 * Inserts `rows` rows with merges held back, then merges all parts into one, so that every variant pays for exactly
 * one rewrite of each row.
 */
export async function measureWriteCost(
  engine: BenchEngine,
  variant: Variant,
  rows: number,
): Promise<WriteCost> {
  const blocks = await nativeBlocks(engine, variant, rows);
  await engine.query("DROP TABLE IF EXISTS logs SYNC");
  await engine.query(heldBack(variant.ddl));
  const insert = `INSERT INTO logs (${logColumns.join(", ")}) FORMAT Native`;
  const [cpuAtStart, startedAt] = [engine.cpuSeconds(), performance.now()];
  for (const [index, block] of blocks.entries())
    await engine.insert(insert, block, {
      ...variant.insertSettings,
      insert_deduplication_token: `block-${index}`,
    });
  const [cpuInserted, insertedAt] = [engine.cpuSeconds(), performance.now()];
  await engine.query("OPTIMIZE TABLE logs FINAL");
  const cpuMerged = engine.cpuSeconds();
  const [stored = 0, bytes = 0, indexBytes = 0] = (
    await engine.query(
      `SELECT sum(rows), sum(bytes_on_disk), sum(secondary_indices_compressed_bytes)
       FROM system.parts WHERE table = 'logs' AND active`,
    )
  )
    .split("\t")
    .map(Number);
  if (stored !== rows) throw new Error(`${variant.name}: ${rows} rows were inserted, ${stored} are stored`);
  const needleMs = await needleTime(engine, rows);
  await engine.query("DROP TABLE logs SYNC");
  return {
    rowsPerSecond: (rows / (insertedAt - startedAt)) * 1000,
    insertCpuUs: ((cpuInserted - cpuAtStart) / rows) * 1e6,
    mergeCpuUs: ((cpuMerged - cpuInserted) / rows) * 1e6,
    bytesPerRow: bytes / rows,
    indexBytesPerRow: indexBytes / rows,
    needleMs,
  };
}

/** OPTIMIZE FINAL ignores the bounds that keep the background from merging. */
function heldBack(ddl: string): string {
  return ddl
    .replace(/max_bytes_to_merge_at_max_space_in_pool = \d+/, "max_bytes_to_merge_at_max_space_in_pool = 1")
    .concat(", max_bytes_to_merge_at_min_space_in_pool = 1");
}

async function nativeBlocks(engine: BenchEngine, variant: Variant, rows: number): Promise<Uint8Array[]> {
  const size = variant.rowsPerInsert ?? defaultRowsPerInsert;
  const blocks: Uint8Array[] = [];
  for (let from = 0; from < rows; from += size) {
    const select = sourceRows(from, Math.min(rows, from + size), variant.attrs);
    blocks.push(
      await engine.read(`SELECT * FROM (${select} ORDER BY row) FORMAT Native`, {
        max_block_size: size,
        max_threads: 1,
        preferred_block_size_bytes: 0,
      }),
    );
  }
  return blocks;
}

async function needleTime(engine: BenchEngine, rows: number): Promise<number> {
  const row = Math.floor(rows / 2 / needleEveryRows) * needleEveryRows + needleOffset;
  const search = `SELECT ts, id, message FROM logs
    WHERE organization_id = 1 AND lower(message) LIKE '%${needleOf(row).toLowerCase().slice(1)}%'
    ORDER BY ts DESC, id DESC LIMIT 100`;
  const times: number[] = [];
  for (let run = 0; run < needleRuns; run++) {
    const startedAt = performance.now();
    await engine.query(search, { use_query_condition_cache: 0, use_top_k_dynamic_filtering: 0 });
    times.push(performance.now() - startedAt);
  }
  return times.sort((a, b) => a - b)[needleRuns >> 1] ?? 0;
}
