/**
 * Memory of all processes of a server with embedded stores that rests after a load: each one's own pages, and those that
 * belong to files or to several of them, once. It is measured before the load, right after it, when every entry is sealed (with
 * all that is made of entries then) or two minutes are over, and after a rest. Linux only. Usage: bun bench/memory.ts [rows]
 * [seconds of rest]. Prints a table and appends a line to bench/results/memory.jsonl.
 */
import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { memoryOfTree, type TreeMemory } from "./ingest/process-usage.ts";
import { startBenchServer } from "./ingest/server.ts";

const rows = Number(process.argv[2] ?? 1_000_000);
const restSeconds = Number(process.argv[3] ?? 60);
const BATCH = 500;
const CONNECTIONS = 16;
/** After its start a server collects what that left behind, and closes connections that only the start needed. */
const EMPTY_MS = 30_000;
/** A rest in which is still sealed is said to be one: on a machine with other work sealing waits for its turn. */
const SEALED_WITHIN_MS = 120_000;
/** Searches after the load, so that what they leave behind is counted. */
const SEARCHES = 20;

const server = await startBenchServer();
await Bun.sleep(EMPTY_MS);
const empty = memoryOfTree(server.pid);
await load();
for (let i = 0; i < SEARCHES; i += 1) await search(i % 2 === 0 ? "" : `&q=${i}%20ms`);
const loaded = memoryOfTree(server.pid);
await sealing();
const worked = memoryOfTree(server.pid);
await Bun.sleep(restSeconds * 1000);
const rested = memoryOfTree(server.pid);
const sealedRows = await server.metric("obs_sealed_entries_total");
await server.stop();
rmSync(server.dataDirectory, { recursive: true, force: true });

const report = {
  at: new Date().toISOString(),
  rows,
  restSeconds,
  sealedRows,
  totalMiB: {
    empty: totalOf(empty),
    loaded: totalOf(loaded),
    worked: totalOf(worked),
    rested: totalOf(rested),
  },
  rested,
};
process.stdout.write("role        processes      MiB\n");
for (const { role, processes, mib } of rested.own)
  process.stdout.write(`${role.padEnd(12)}${String(processes).padStart(9)}${String(mib).padStart(9)}\n`);
process.stdout.write(`${"common".padEnd(21)}${String(rested.commonMib).padStart(9)}\n`);
process.stdout.write(`${JSON.stringify(report.totalMiB)}, ${sealedRows} of ${rows} rows sealed\n`);
mkdirSync(join(import.meta.dir, "results"), { recursive: true });
appendFileSync(join(import.meta.dir, "results/memory.jsonl"), `${JSON.stringify(report)}\n`);

async function load(): Promise<void> {
  const generator = join(import.meta.dir, "ingest/load.ts");
  const numbers = [rows, BATCH, CONNECTIONS, 0].map(String);
  const child = Bun.spawn([process.execPath, generator, server.url, server.token, "native", ...numbers], {
    stdout: "ignore",
    stderr: "inherit",
  });
  if ((await child.exited) !== 0) throw new Error("the load generator failed");
  while ((await server.metric("obs_insert_rows_total")) < rows) await Bun.sleep(50);
}

/** Waits until every entry is sealed, with all that is made of entries then. */
async function sealing(): Promise<void> {
  const since = performance.now();
  while ((await server.metric("obs_sealed_entries_total")) < rows) {
    if (performance.now() - since > SEALED_WITHIN_MS) return;
    await Bun.sleep(500);
  }
}

async function search(more: string): Promise<void> {
  const response = await fetch(`${server.url}/api/v1/logs/search?limit=100${more}`, {
    headers: { authorization: `Bearer ${server.token}` },
  });
  if (!response.ok) throw new Error(`a search answered ${response.status}`);
  await response.text();
}

function totalOf({ own, commonMib }: TreeMemory): number {
  return own.reduce((sum, { mib }) => sum + mib, commonMib);
}
