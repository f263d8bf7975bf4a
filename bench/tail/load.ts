/**
 * The sender of the tail benchmark, a process of its own: makes bodies first, then sends them again and again over a
 * fixed number of connections. Prints `ready`, then answers every line on standard input: `send RATE` (rows a second;
 * 0 for as fast as they are acknowledged) and `pause` with `ok`, `report` with a JSON line about the time since `send`.
 * Arguments: url, token, rows a request, connections.
 */
import { makeEntries, nativeBodies } from "../ingest/bodies.ts";

const [url = "", token = "", ...numbers] = process.argv.slice(2);
const [batch = 500, connections = 16] = numbers.map(Number);
const DISTINCT_ROWS = 200_000;

const bodies = nativeBodies(makeEntries(DISTINCT_ROWS), batch);
let next = 0;
let rowsPerSecond = 0;
let startedAt = 0;
let due = 0;
let acknowledged = 0;
let latenciesMs: number[] = [];
let going = Promise.withResolvers<void>();
let isSending = false;

async function sendForEver(): Promise<void> {
  for (;;) {
    await going.promise;
    if (rowsPerSecond > 0) {
      const dueMs = startedAt + (due++ * batch * 1000) / rowsPerSecond;
      await Bun.sleep(Math.max(0, dueMs - performance.now()));
      if (!isSending) continue;
    }
    await sendOne(bodies[next++ % bodies.length]);
  }
}

async function sendOne(body: Uint8Array | undefined): Promise<void> {
  const sentAt = performance.now();
  const response = await fetch(`${url}/api/v1/logs/ingest`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  if (response.status === 202) {
    latenciesMs.push(performance.now() - sentAt);
    acknowledged += batch;
  } else if (response.status === 503 || response.status === 429)
    await Bun.sleep(Number(response.headers.get("retry-after") ?? 1) * 1000);
  else throw new Error(`${response.status} ${text}`);
}

function answer(line: string): string {
  const [command, argument] = line.split(" ");
  if (command === "send") {
    rowsPerSecond = Number(argument);
    startedAt = performance.now();
    [due, acknowledged, latenciesMs] = [0, 0, []];
    isSending = true;
    going.resolve();
  } else if (command === "pause") {
    isSending = false;
    going = Promise.withResolvers();
  } else {
    const sorted = latenciesMs.toSorted((left, right) => left - right);
    const p99Ms = sorted[Math.floor(sorted.length * 0.99)] ?? 0;
    return JSON.stringify({ rows: acknowledged, seconds: (performance.now() - startedAt) / 1000, p99Ms });
  }
  return "ok";
}

for (let i = 0; i < connections; i++) void sendForEver();
process.stdout.write("ready\n");
for await (const line of console) process.stdout.write(`${answer(line)}\n`);
process.exit(0);
