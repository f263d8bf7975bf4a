/**
 * What rules cost at ingest: rows for each second of the server's CPU time without rules and with ten, in alternation on one
 * server, over HTTP in the native format. Few entries are dropped or masked, as usual: what is measured is asking.
 * Usage: bun bench/rules-at-ingest.ts [rows a round] [rounds]. Prints a table and appends a line to bench/results/rules-at-ingest.jsonl.
 */
import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makeToken } from "../test/harness/server-process.ts";
import { makeEntries, nativeBodies } from "./ingest/bodies.ts";
import { usageBetween, usageOfTree } from "./ingest/process-usage.ts";
import { startBenchServer } from "./ingest/server.ts";

const rows = Number(process.argv[2] ?? 100_000);
const rounds = Number(process.argv[3] ?? 6);
const BATCH = 500;
const CONNECTIONS = 8;

const RULES = [
  { action: "drop", query: 'service == "hdfs-api" and level == "debug"' },
  { action: "drop", query: 'message contains "healthcheck"' },
  { action: "sample", keepOneIn: 10, query: 'level == "trace"' },
  { action: "sample", keepOneIn: 2, query: 'service == "proxy" and message contains "ping"' },
  { action: "mask", fields: ["password"] },
  { action: "mask", fields: ["user_id"], query: 'service == "HDFS-gateway"' },
  { action: "mask", fields: ["authorization", "headers.cookie"] },
  { action: "mask", patterns: ["card"] },
  { action: "mask", patterns: ["email"] },
  { action: "mask", patterns: ["token"] },
];

const entries = makeEntries(rows);
const bodies = nativeBodies(entries, BATCH);
const server = await startBenchServer();
const ruled = await makeToken(server.url);
for (const [i, rule] of RULES.entries())
  await post("/api/v1/ingest/rules", ruled, JSON.stringify({ name: `rule ${i}`, ...rule }));

await cpuSecondsOf(server.token);
await cpuSecondsOf(ruled);
const seconds = { plain: 0, ruled: 0 };
for (let round = 0; round < rounds; round++) {
  seconds.plain += await cpuSecondsOf(server.token);
  seconds.ruled += await cpuSecondsOf(ruled);
}
const changed = await server.metric("obs_ingest_rule_entries_total");
await server.stop();
rmSync(server.dataDirectory, { recursive: true, force: true });

const result = {
  rows,
  rounds,
  plainRowsPerCpuSecond: Math.round((rows * rounds) / seconds.plain),
  ruledRowsPerCpuSecond: Math.round((rows * rounds) / seconds.ruled),
  costPercent: Math.round((seconds.ruled / seconds.plain - 1) * 1000) / 10,
  changedPercent: Math.round((changed / (rows * (rounds + 1))) * 1000) / 10,
};
process.stdout.write(`${Bun.inspect.table([result])}\n`);
mkdirSync(join(import.meta.dir, "results"), { recursive: true });
appendFileSync(
  join(import.meta.dir, "results/rules-at-ingest.jsonl"),
  `${JSON.stringify({ at: new Date().toISOString(), ...result })}\n`,
);

/** CPU time of the server's own process from the first request to the last insert. */
async function cpuSecondsOf(token: string): Promise<number> {
  const before = usageOfTree(server.pid);
  const [changedBefore, insertedBefore] = await Promise.all([changedRows(), insertedRows()]);
  let next = 0;
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      for (let i = next++; i < bodies.length; i = next++)
        await post("/api/v1/logs/ingest", token, bodies[i] ?? "");
    }),
  );
  // Those that were masked are among them: a few rows are perhaps not waited for.
  const changed = (await changedRows()) - changedBefore;
  while ((await insertedRows()) - insertedBefore < rows - changed) await Bun.sleep(20);
  return usageBetween(before, usageOfTree(server.pid)).server?.cpuSeconds ?? 0;
}

function changedRows(): Promise<number> {
  return server.metric("obs_ingest_rule_entries_total");
}

function insertedRows(): Promise<number> {
  return server.metric("obs_insert_rows_total");
}

async function post(path: string, token: string, body: string | Uint8Array): Promise<void> {
  const response = await fetch(server.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
}
