/**
 * Ingest end to end, native JSON, OTLP or Elasticsearch bulk: the real server with embedded stores and an empty data directory, a load generator in
 * a process of its own, and in the same run the native JSON pumped straight into ClickHouse.
 * Usage: bun bench/ingest.ts [rows] [connections] [--format otlp|bulk]. Prints a table and appends a line to bench/results/ingest.jsonl.
 */
import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createLogger } from "../src/log.ts";
import { openStores } from "../src/storage/open.ts";
import { makeEntries } from "./ingest/bodies.ts";
import { usageBetween, usageOfTree } from "./ingest/process-usage.ts";
import { measureReferences } from "./ingest/reference.ts";
import { type BenchServer, startBenchServer } from "./ingest/server.ts";
import { probeVisibility } from "./ingest/visibility.ts";

const { values: options, positionals } = parseArgs({
  options: { format: { type: "string", default: "native" } },
  allowPositionals: true,
});
const rows = Number(positionals[0] ?? 2_000_000);
const connections = Number(positionals[1] ?? 32);
const BATCH = 500;
/** Long enough for percentiles at half the load. */
const PACED_SECONDS = 10;

interface LoadResult {
  rows: number;
  bytes: number;
  seconds: number;
  retries: number;
  p50Ms: number;
  p99Ms: number;
}

async function runLoad(
  server: BenchServer,
  count: number,
  rowsPerSecond: number,
): Promise<LoadResult & { usage: ReturnType<typeof usageBetween>; storedSeconds: number }> {
  const storedBefore = await server.metric("obs_insert_rows_total");
  const load = Bun.spawn(
    [
      process.execPath,
      join(import.meta.dir, "ingest/load.ts"),
      server.url,
      server.token,
      options.format,
      String(count),
      String(BATCH),
      String(connections),
      String(rowsPerSecond),
    ],
    { stdout: "pipe", stderr: "inherit" },
  );
  const reader = load.stdout.getReader();
  const decoder = new TextDecoder();
  let output = "";
  const readUntil = async (text: string): Promise<void> => {
    while (!output.includes(text)) {
      const { done, value } = await reader.read();
      if (done) throw new Error("the load generator ended early");
      output += decoder.decode(value);
    }
  };
  await readUntil("ready\n");
  const usageBefore = usageOfTree(server.pid);
  const startedAt = performance.now();
  await readUntil("}\n");
  const result: LoadResult = JSON.parse(output.slice("ready\n".length));
  while ((await server.metric("obs_insert_rows_total")) - storedBefore < result.rows) await Bun.sleep(20);
  const storedSeconds = (performance.now() - startedAt) / 1000;
  return { ...result, storedSeconds, usage: usageBetween(usageBefore, usageOfTree(server.pid)) };
}

/** Rows and bytes in the table of a stopped server. */
async function inspectTable(dataDirectory: string): Promise<{ rows: number; bytesOnDisk: number }> {
  const stores = await openStores(
    { dataDirectory, clickhouseUrl: null, databaseUrl: null, redisUrl: null },
    createLogger("silent"),
  );
  const result = await stores.clickhouse.query({
    query: `SELECT (SELECT count() FROM logs) AS rows, sum(bytes_on_disk) AS bytes
            FROM system.parts WHERE table = 'logs' AND active AND database = currentDatabase()`,
    format: "JSONEachRow",
  });
  const [found] = await result.json<{ rows: string; bytes: string }>();
  await stores.close();
  return { rows: Number(found?.rows), bytesOnDisk: Number(found?.bytes) };
}

const server = await startBenchServer();
const full = await runLoad(server, rows, 0);
const halfRate = Math.round(rows / full.storedSeconds / 2);
const pacedEnd = new AbortController();
const probing = probeVisibility(server, pacedEnd.signal);
const paced = await runLoad(server, halfRate * PACED_SECONDS, halfRate);
pacedEnd.abort();
const visibleMs = await probing;
await server.stop();
const table = await inspectTable(server.dataDirectory);
rmSync(server.dataDirectory, { recursive: true, force: true });
const acknowledged = full.rows + paced.rows + visibleMs.length;
if (table.rows !== acknowledged)
  throw new Error(`${acknowledged} rows were acknowledged, the table holds ${table.rows}`);

const references = await measureReferences(makeEntries(rows));
const rowsPerSecond = rows / full.storedSeconds;
const cpuSeconds = Object.values(full.usage).reduce((sum, { cpuSeconds: seconds }) => sum + seconds, 0);
const report = {
  at: new Date().toISOString(),
  format: options.format,
  rows,
  connections,
  bytesPerRow: Math.round(full.bytes / rows),
  acknowledgedRowsPerSecond: Math.round(rows / full.seconds),
  storedRowsPerSecond: Math.round(rowsPerSecond),
  megabytesPerSecond: Math.round(full.bytes / full.storedSeconds / 1e6),
  rowsPerCpuSecond: Math.round(rows / cpuSeconds),
  cpuSecondsPerMillionRows: Object.fromEntries(
    Object.entries(full.usage).map(([role, { cpuSeconds: seconds }]) => [
      role,
      round((seconds / rows) * 1e6),
    ]),
  ),
  peakMemoryMiB: Object.fromEntries(
    Object.entries(full.usage).map(([role, { peakMemoryMiB }]) => [role, peakMemoryMiB]),
  ),
  fullLoad: { p50Ms: round(full.p50Ms), p99Ms: round(full.p99Ms), retries: full.retries },
  halfLoad: {
    rowsPerSecond: halfRate,
    p50Ms: round(paced.p50Ms),
    p99Ms: round(paced.p99Ms),
    retries: paced.retries,
    visibleP50Ms: round(visibleMs[Math.floor(visibleMs.length * 0.5)] ?? 0),
    visibleP99Ms: round(visibleMs[Math.floor(visibleMs.length * 0.99)] ?? 0),
    probes: visibleMs.length,
  },
  bytesOnDiskPerRow: round(table.bytesOnDisk / table.rows),
  references: references.map(({ format, rowsPerSecond: reference, clickhouseCpuSeconds }) => ({
    format,
    rowsPerSecond: Math.round(reference),
    cpuSecondsPerMillionRows: round((clickhouseCpuSeconds / rows) * 1e6),
    ratio: round(rowsPerSecond / reference),
  })),
};

process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
mkdirSync(join(import.meta.dir, "results"), { recursive: true });
appendFileSync(join(import.meta.dir, "results/ingest.jsonl"), `${JSON.stringify(report)}\n`);

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
