/**
 * The load generator of the ingest benchmark, a process of its own: makes the bodies first, then sends them over a
 * fixed number of connections as fast as they are answered, or at a fixed rate, and prints one JSON line.
 * Arguments: url, token, format (a name of `WIRES`), rows, batch, connections, rows a second (0 = as fast as possible).
 */
import { makeEntries } from "./bodies.ts";
import { wireOf } from "./wires.ts";

const [url = "", token = "", format = "", ...numbers] = process.argv.slice(2);
const [rows = 0, batch = 500, connections = 8, rowsPerSecond = 0] = numbers.map(Number);

const wire = wireOf(format);
const bodies = wire.bodies(makeEntries(rows), batch);
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
    await sendUntilAccepted(body, Math.min(batch, rows - index * batch));
  }
}

async function sendUntilAccepted(body: Uint8Array, count: number): Promise<void> {
  for (;;) {
    const sentAt = performance.now();
    const response = await fetch(`${url}${wire.path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body,
    });
    const text = await response.text();
    if (response.ok) {
      latenciesMs.push(performance.now() - sentAt);
      if (!wire.acknowledges(text, count)) throw new Error(`of ${count} rows not all are accepted: ${text}`);
      acknowledged += count;
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
