/**
 * Live tails: the time from the arrival of an entry to its receipt by 100 sessions with different filters while 20 000
 * rows a second come in, and rows a second at full speed with 0, 1 and 100 sessions, in turns, in one run. Load and
 * readers are processes of their own on the same machine.
 * Usage: bun bench/tail.ts [rows of a turn] [turns]. Prints a report and appends a line to bench/results/tail.jsonl.
 */
import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { usageBetween, usageOfTree } from "./ingest/process-usage.ts";
import { type BenchServer, startBenchServer } from "./ingest/server.ts";
import { type LineProcess, startLineProcess } from "./tail/child.ts";

const rows = Number(process.argv[2] ?? 400_000);
const turns = Number(process.argv[3] ?? 3);
const BATCH = 500;
const CONNECTIONS = 16;
const PACED_ROWS_PER_SECOND = 20_000;
const PACED_SECONDS = 15;
const SESSIONS = [0, 1, 100] as const;

interface Readings {
  delivered: number;
  dropped: number;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
}

interface Turn {
  readonly rowsPerSecond: number;
  readonly acknowledgeP99Ms: number;
  readonly serverCpuSecondsPerMillionRows: number;
  readonly readings: Readings;
}

async function withReaders<T>(
  server: BenchServer,
  sessions: number,
  work: (readers: LineProcess) => Promise<T>,
): Promise<T> {
  const script = join(import.meta.dir, "tail/readers.ts");
  const readers = startLineProcess([process.execPath, script, server.url, server.token, String(sessions)]);
  await readers.line();
  try {
    return await work(readers);
  } finally {
    await readers.end();
  }
}

/** Sends rows, at a rate or as fast as they are acknowledged (0), while so many sessions are open. */
function measure(server: BenchServer, sessions: number, count: number, rate: number): Promise<Turn> {
  return withReaders(server, sessions, async (readers) => {
    const script = join(import.meta.dir, "ingest/load.ts");
    const numbers = [count, BATCH, CONNECTIONS, rate].map(String);
    const load = startLineProcess([process.execPath, script, server.url, server.token, ...numbers]);
    await load.line();
    const before = usageOfTree(server.pid);
    const result: { rows: number; seconds: number; p99Ms: number } = JSON.parse(await load.line());
    const { server: usage } = usageBetween(before, usageOfTree(server.pid));
    await load.end();
    readers.send("report");
    const readings: Readings = JSON.parse(await readers.line());
    return {
      rowsPerSecond: Math.round(result.rows / result.seconds),
      acknowledgeP99Ms: round(result.p99Ms),
      serverCpuSecondsPerMillionRows: round(((usage?.cpuSeconds ?? 0) / result.rows) * 1e6),
      readings,
    };
  });
}

const server = await startBenchServer();
await measure(server, 0, rows, 0);
const full = new Map<number, Turn[]>(SESSIONS.map((sessions) => [sessions, []]));
for (let turn = 0; turn < turns; turn++) {
  const order = turn % 2 === 0 ? SESSIONS : SESSIONS.toReversed();
  for (const sessions of order) full.get(sessions)?.push(await measure(server, sessions, rows, 0));
}
const pacedRows = PACED_ROWS_PER_SECOND * PACED_SECONDS;
const paced = await measure(server, 100, pacedRows, PACED_ROWS_PER_SECOND);
const pacedAlone = await measure(server, 0, pacedRows, PACED_ROWS_PER_SECOND);
await server.stop();
rmSync(server.dataDirectory, { recursive: true, force: true });

const rate = (sessions: number): number =>
  median((full.get(sessions) ?? []).map((turn) => turn.rowsPerSecond));
const report = {
  at: new Date().toISOString(),
  rows,
  turns,
  fullSpeed: SESSIONS.map((sessions) => ({
    sessions,
    rowsPerSecond: rate(sessions),
    ratio: round(rate(sessions) / rate(0)),
    serverCpuSecondsPerMillionRows: median(
      (full.get(sessions) ?? []).map((turn) => turn.serverCpuSecondsPerMillionRows),
    ),
    delivered: sum((full.get(sessions) ?? []).map((turn) => turn.readings.delivered)),
    dropped: sum((full.get(sessions) ?? []).map((turn) => turn.readings.dropped)),
  })),
  paced: { sessions: 100, wantedRowsPerSecond: PACED_ROWS_PER_SECOND, ...paced },
  pacedAlone: { sessions: 0, wantedRowsPerSecond: PACED_ROWS_PER_SECOND, ...pacedAlone },
};
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
mkdirSync(join(import.meta.dir, "results"), { recursive: true });
appendFileSync(join(import.meta.dir, "results/tail.jsonl"), `${JSON.stringify(report)}\n`);

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
