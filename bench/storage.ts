/**
 * What the `logs` table costs to write and how fast it answers, and the same for the alternatives it was chosen over.
 * Usage: bun bench/storage.ts [rows to search] [rows to write per variant] [rounds]
 * Prints two tables and appends a line to bench/results/storage.jsonl. Linux only: CPU time is read from /proc.
 */
import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { type BenchEngine, startBenchEngine } from "./storage/engine.ts";
import { makeSearches, type SearchTime, timeSearches } from "./storage/searches.ts";
import { fillSource, logColumns, sourceRows } from "./storage/source-table.ts";
import { allVariants, chosenTable, type Variant } from "./storage/variants.ts";
import { measureWriteCost, type WriteCost } from "./storage/write-cost.ts";

const rowsToSearch = Number(process.argv[2] ?? 2_000_000);
const rowsToWrite = Number(process.argv[3] ?? 500_000);
const rounds = Number(process.argv[4] ?? 3);
const searchRuns = 30;
/** What the flusher makes of a busy second. */
const rowsPerInsert = 100_000;

/** Medians of the rounds; every other round runs backwards, so that no variant always follows the same one. */
async function compareVariants(
  engine: BenchEngine,
  variants: readonly Variant[],
): Promise<[string, WriteCost][]> {
  const costs = new Map<string, WriteCost[]>(variants.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const variant of round % 2 === 0 ? variants : variants.toReversed())
      costs.get(variant.name)?.push(await measureWriteCost(engine, variant, rowsToWrite));
  }
  return [...costs].map(([name, of]) => [
    name,
    {
      rowsPerSecond: median(of.map((cost) => cost.rowsPerSecond)),
      insertCpuUs: median(of.map((cost) => cost.insertCpuUs)),
      mergeCpuUs: median(of.map((cost) => cost.mergeCpuUs)),
      bytesPerRow: median(of.map((cost) => cost.bytesPerRow)),
      indexBytesPerRow: median(of.map((cost) => cost.indexBytesPerRow)),
      needleMs: median(of.map((cost) => cost.needleMs)),
    },
  ]);
}

interface Loaded {
  /** Engine CPU per row until the merges came to rest, reading `source` included. */
  readonly cpuUs: number;
  readonly bytesPerRow: number;
  readonly parts: number;
}

/** Fills the chosen table as the server would, with merges running beside the inserts, and waits until they rest. */
async function load(engine: BenchEngine, rows: number): Promise<Loaded> {
  await engine.query(chosenTable());
  const cpuAtStart = engine.cpuSeconds();
  for (let from = 0; from < rows; from += rowsPerInsert) {
    const select = sourceRows(from, Math.min(rows, from + rowsPerInsert));
    await engine.query(`INSERT INTO logs (${logColumns.join(", ")}) ${select}`, {
      insert_deduplication_token: `rows-${from}`,
      max_block_size: rowsPerInsert,
      min_insert_block_size_rows: rowsPerInsert,
      min_insert_block_size_bytes: 0,
      max_insert_threads: 1,
    });
  }
  for (let quiet = 0; quiet < 5; await Bun.sleep(500)) {
    const merges = await engine.query("SELECT count() FROM system.merges WHERE table = 'logs'");
    quiet = merges === "0" ? quiet + 1 : 0;
  }
  const cpuUs = ((engine.cpuSeconds() - cpuAtStart) / rows) * 1e6;
  const parts = await engine.query(
    "SELECT count(), sum(bytes_on_disk), sum(rows) FROM system.parts WHERE table = 'logs' AND active",
  );
  const [count = 0, bytes = 0, stored = 0] = parts.split("\t").map(Number);
  if (stored !== rows) throw new Error(`${rows} rows were inserted, ${stored} are stored`);
  return { cpuUs, bytesPerRow: bytes / rows, parts: count };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? 0;
}

function print(...cells: readonly (string | number)[]): void {
  const [name = "", ...rest] = cells;
  const numbers = rest.map((cell) => (typeof cell === "number" ? round(cell).toString() : cell).padStart(10));
  process.stdout.write(`${String(name).padEnd(32)}${numbers.join("")}\n`);
}

function round(value: number): number {
  return value >= 100 ? Math.round(value) : Math.round(value * 100) / 100;
}

const engine = await startBenchEngine();
try {
  const lines = await fillSource(engine, Math.max(rowsToSearch, rowsToWrite));
  const costs = await compareVariants(engine, allVariants());
  process.stdout.write(`\n${rowsToWrite} rows from ${lines}, median of ${rounds}; CPU in µs per row\n`);
  print("variant", "rows/s", "insert", "one merge", "bytes/row", "index", "needle ms");
  for (const [name, cost] of costs) print(name, ...Object.values(cost));

  await engine.query("DROP TABLE IF EXISTS logs SYNC");
  const loaded = await load(engine, rowsToSearch);
  const times: SearchTime[] = await timeSearches(engine, await makeSearches(engine), searchRuns);
  process.stdout.write(
    `\n${rowsToSearch} rows in ${loaded.parts} parts, ${round(loaded.bytesPerRow)} bytes/row, ` +
      `${round(loaded.cpuUs)} µs of CPU per row with all merges\n`,
  );
  print("search", "p50 ms", "p99 ms");
  for (const { name, p50Ms, p99Ms } of times) print(name, p50Ms, p99Ms);

  const results = join(import.meta.dir, "results");
  mkdirSync(results, { recursive: true });
  const report = {
    at: new Date().toISOString(),
    rowsToWrite,
    rounds,
    rowsToSearch,
    lines,
    writes: Object.fromEntries(costs),
    loaded,
    searches: times,
  };
  appendFileSync(
    join(results, "storage.jsonl"),
    `${JSON.stringify(report, (_, value) => (typeof value === "number" ? round(value) : value))}\n`,
  );
} finally {
  await engine.stop();
}
