/**
 * The load generator of the ingest benchmark, a process of its own: makes the bodies first, then sends them over a
 * fixed number of connections as fast as they are answered, or at a fixed rate, and prints one JSON line.
 * Arguments: url, token, rows, batch, connections, rows a second (0 = as fast as possible).
 */
import { makeEntries, nativeBodies } from "./bodies.ts";

const [url = "", token = "", ...numbers] = process.argv.slice(2);
const [rows = 0, batch = 500, connections = 8, rowsPerSecond = 0] = numbers.map(Number);

const bodies = nativeBodies(makeEntries(rows), batch);
const latenciesMs: number[] = [];
let next = 0;
let acknowledged = 0;
let retries = 0;

// The parent starts its clock when it reads this.
process.stdout.write("ready\n");
const startedAt = performance.now();
await Promise.all(Array.from({ length: connections }, sendUntilDone));
const seconds = (performance.now() - startedAt) / 1000;
latenciesMs.sort((a, b) => a - b);
const bytes = bodies.reduce((sum, body) => sum + body.length, 0);
process.stdout.write(
  `${JSON.stringify({ rows: acknowledged, bytes, seconds, retries, p50Ms: quantile(0.5), p99Ms: quantile(0.99), maxMs: latenciesMs.at(-1) })}\n`,
);

async function sendUntilDone(): Promise<void> {
  for (let index = next++; index < bodies.length; index = next++) {
    const body = bodies[index];
    if (body === undefined) return;
    if (rowsPerSecond > 0) {
      const dueMs = ((index * batch) / rowsPerSecond) * 1000;
      const waitMs = startedAt + dueMs - performance.now();
      if (waitMs > 0) await Bun.sleep(waitMs);
    }
    await sendUntilAccepted(body);
  }
}

async function sendUntilAccepted(body: Uint8Array): Promise<void> {
  for (;;) {
    const sentAt = performance.now();
    const response = await fetch(`${url}/api/v1/logs/ingest`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body,
    });
    const text = await response.text();
    if (response.status === 202) {
      latenciesMs.push(performance.now() - sentAt);
      acknowledged += JSON.parse(text).accepted;
      return;
    }
    if (response.status !== 503 && response.status !== 429) throw new Error(`${response.status} ${text}`);
    retries++;
    await Bun.sleep(Number(response.headers.get("retry-after") ?? 1) * 1000);
  }
}

function quantile(q: number): number {
  return latenciesMs[Math.min(latenciesMs.length - 1, Math.floor(latenciesMs.length * q))] ?? 0;
}
