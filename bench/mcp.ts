/**
 * What a call costs over MCP beside the HTTP call that it makes, and by how much the first one makes the server grow, which it is
 * smaller by until then. Both kinds of
 * call are made in turn, one at a time, so that whatever else the machine does weighs on both alike.
 * Usage: bun bench/mcp.ts [calls]. Prints a table and appends a line to bench/results/mcp.jsonl.
 */
import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makeEntries, nativeBodies } from "./ingest/bodies.ts";
import { startBenchServer } from "./ingest/server.ts";
import { quantile } from "./kql/quantile.ts";

const calls = Number(process.argv[2] ?? 400);
const WARM_UP = 50;
const ROWS = 2_000;
/** The tool of the same search. */
const CALL = { name: "getLogsSearch", arguments: { limit: 10 } };
const OVER_HTTP_MAX_MS = 2;
const TOOL_LIST_MAX_BYTES = 24_000;
/** Of each of the two loops, so that it ends within two minutes on a machine that is busy. */
const LOOP_MAX_MS = 35_000;

const server = await startBenchServer();
const headers = { authorization: `Bearer ${server.token}`, "content-type": "application/json" };
for (const body of nativeBodies(makeEntries(ROWS), 500)) {
  const response = await fetch(`${server.url}/api/v1/logs/ingest`, { method: "POST", headers, body });
  if (!response.ok) throw new Error(`ingest answered ${response.status}`);
}
for (let tries = 0; (await server.metric("obs_insert_rows_total")) < ROWS; tries++) {
  if (tries === 100) throw new Error("the entries are not stored");
  await Bun.sleep(200);
}

async function http(): Promise<number> {
  const began = performance.now();
  const response = await fetch(`${server.url}/api/v1/logs/search?limit=10`, { headers });
  await response.text();
  if (!response.ok) throw new Error(`a search answered ${response.status}`);
  return performance.now() - began;
}

let id = 0;
async function message(method: string, params: object): Promise<string> {
  const response = await fetch(`${server.url}/mcp`, {
    method: "POST",
    headers: {
      ...headers,
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-11-25",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: ++id, method, params }),
  });
  const text = await response.text();
  if (!response.ok || /"isError":\s*true/.test(text))
    throw new Error(`a tool answered ${response.status}: ${text.slice(0, 300)}`);
  return text;
}

async function mcp(): Promise<number> {
  const began = performance.now();
  await message("tools/call", CALL);
  return performance.now() - began;
}

const residentMib = async (): Promise<number> =>
  (await server.metric("process_resident_memory_bytes")) / 2 ** 20;
for (let n = 0; n < WARM_UP; n++) await http();
const beforeMib = await residentMib();
const firstMs = await mcp();
const afterMib = await residentMib();
for (let n = 0; n < WARM_UP; n++) await mcp();
const took = { http: [] as number[], mcp: [] as number[] };
const toolListBytes = Buffer.byteLength(await message("tools/list", {}));
const loopEnds = performance.now() + LOOP_MAX_MS;
for (let n = 0; n < calls && performance.now() < loopEnds; n++) {
  took.http.push(await http());
  took.mcp.push(await mcp());
}

/** Milliseconds of processor time that the server spends on some calls, whatever else the machine does. */
async function cpuMsOf(call: () => Promise<number>, count: number): Promise<number> {
  const began = await server.metric("process_cpu_seconds_total");
  for (let n = 0; n < count; n++) await call();
  return ((await server.metric("process_cpu_seconds_total")) - began) * 1000;
}
/** In turns, so that what a server does besides falls to both alike. */
const TURNS = 8;
const cpuMs = { http: 0, mcp: 0 };
const perTurn = Math.ceil(calls / TURNS);
const turnsEnd = performance.now() + LOOP_MAX_MS;
let turns = 0;
for (; turns < TURNS && performance.now() < turnsEnd; turns++) {
  cpuMs.http += await cpuMsOf(http, perTurn);
  cpuMs.mcp += await cpuMsOf(mcp, perTurn);
}
cpuMs.http /= perTurn * turns;
cpuMs.mcp /= perTurn * turns;

const of = (values: readonly number[], share: number): number => quantile(values, share);
const overMs = of(took.mcp, 0.5) - of(took.http, 0.5);
const rows = {
  "calls of each": String(took.mcp.length),
  "tool list, core": `${toolListBytes} bytes (at most ${TOOL_LIST_MAX_BYTES})`,
  "memory before the first call": `${beforeMib.toFixed(1)} MiB`,
  "HTTP, median": `${of(took.http, 0.5).toFixed(2)} ms`,
  "MCP, median": `${of(took.mcp, 0.5).toFixed(2)} ms`,
  "over HTTP": `${overMs.toFixed(2)} ms (at most ${OVER_HTTP_MAX_MS})`,
  "server's CPU, HTTP": `${cpuMs.http.toFixed(2)} ms`,
  "server's CPU, MCP": `${cpuMs.mcp.toFixed(2)} ms, ${(cpuMs.mcp - cpuMs.http).toFixed(2)} ms over HTTP`,
  "HTTP, 99 %": `${of(took.http, 0.99).toFixed(2)} ms`,
  "MCP, 99 %": `${of(took.mcp, 0.99).toFixed(2)} ms`,
  "first call": `${firstMs.toFixed(0)} ms`,
  "memory by the first call": `${(afterMib - beforeMib).toFixed(1)} MiB, all of it after the first use`,
};
for (const [name, value] of Object.entries(rows)) process.stdout.write(`${name.padEnd(30)}${value}\n`);
const results = join(import.meta.dir, "results");
mkdirSync(results, { recursive: true });
appendFileSync(
  join(results, "mcp.jsonl"),
  `${JSON.stringify({ calls: took.mcp.length, toolListBytes, cpuMs, overMs, firstMs, beforeMib, afterMib })}\n`,
);
await server.stop();
rmSync(server.dataDirectory, { recursive: true, force: true });
