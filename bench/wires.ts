/**
 * Formats beside the native one, in turn on one server: the same entries over each, in bytes and rows for each second of CPU time, of the
 * server's process and of all together. Which is faster by the clock depends on how the machine's cores are shared.
 * Usage: bun bench/wires.ts [rows a round] [rounds] [format ...]. Prints a table and appends a line to bench/results/wires.jsonl.
 */
import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makeEntries } from "./ingest/bodies.ts";
import { usageBetween, usageOfTree } from "./ingest/process-usage.ts";
import { startBenchServer } from "./ingest/server.ts";
import { WIRES } from "./ingest/wires.ts";

const rows = Number(process.argv[2] ?? 200_000);
const rounds = Number(process.argv[3] ?? 6);
const asked = process.argv.slice(4);
const BATCH = 500;
const CONNECTIONS = 16;
/** Seldom: making the metrics is work of the server, too. */
const POLL_MS = 100;
const MIB = 1024 * 1024;

interface Round {
  readonly seconds: number;
  readonly serverCpu: number;
  readonly cpu: number;
}

const entries = makeEntries(rows);
const names = ["native", ...(asked.length > 0 ? asked : ["otlp"])];
const sides = names.map((name) => {
  const wire = WIRES[name];
  if (wire === undefined) throw new Error(`no format ${name}: one of ${Object.keys(WIRES).join(", ")}`);
  const bodies = wire.bodies(entries, BATCH);
  const bytes = bodies.reduce((sum, body) => sum + body.length, 0);
  return { name, path: wire.path, bodies, bytes, rounds: [] as Round[] };
});
const server = await startBenchServer();
// The first round makes everything warm.
for (let round = -1; round < rounds; round++)
  for (const side of sides) {
    const taken = await take(side.path, side.bodies);
    if (round >= 0) side.rounds.push(taken);
  }
await server.stop();
rmSync(server.dataDirectory, { recursive: true, force: true });

const measured = sides.map(({ name, bytes, rounds }) => {
  const serverCpu = median(rounds.map((round) => round.serverCpu));
  const cpu = median(rounds.map((round) => round.cpu));
  const seconds = median(rounds.map((round) => round.seconds));
  return {
    format: name,
    bytesARow: Math.round(bytes / rows),
    rowsPerSecond: Math.round(rows / seconds),
    mibPerSecond: bytes / MIB / seconds,
    mibPerServerCpuSecond: bytes / MIB / serverCpu,
    mibPerCpuSecond: bytes / MIB / cpu,
  };
});
const [native] = measured;
const results = measured.map((side) => ({
  ...side,
  ofNative: ratio(side.mibPerSecond, native?.mibPerSecond),
  ofNativeServerCpu: ratio(side.mibPerServerCpuSecond, native?.mibPerServerCpuSecond),
  ofNativeCpu: ratio(side.mibPerCpuSecond, native?.mibPerCpuSecond),
}));
process.stdout.write(`${Bun.inspect.table(results)}\n`);
mkdirSync(join(import.meta.dir, "results"), { recursive: true });
appendFileSync(
  join(import.meta.dir, "results/wires.jsonl"),
  `${JSON.stringify({ at: new Date().toISOString(), rows, rounds, results })}\n`,
);

/** From the first request to the last insert. */
async function take(path: string, bodies: readonly Uint8Array[]): Promise<Round> {
  const insertedBefore = await server.metric("obs_insert_rows_total");
  const before = usageOfTree(server.pid);
  const startMs = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      for (let i = next++; i < bodies.length; i = next++) await post(path, bodies[i] ?? new Uint8Array(0));
    }),
  );
  while ((await server.metric("obs_insert_rows_total")) - insertedBefore < rows) await Bun.sleep(POLL_MS);
  const seconds = (performance.now() - startMs) / 1000;
  const usage = usageBetween(before, usageOfTree(server.pid));
  const cpu = Object.values(usage).reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
  return { seconds, serverCpu: usage.server?.cpuSeconds ?? 0, cpu };
}

async function post(path: string, body: Uint8Array): Promise<void> {
  const response = await fetch(server.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${server.token}`, "content-type": "application/json" },
    body,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function ratio(value: number, of: number | undefined): number {
  return Math.round((value / (of ?? value)) * 100) / 100;
}
