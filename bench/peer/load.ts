/**
 * The client of `bench/peer.ts`, a process of its own, the same for every store: makes up to two million entries, says
 * so, sends them over 16 connections when it is told to, says how long that took, and goes on with the next.
 * Arguments: url, `Authorization` or empty, rows, the last time in ms, rows a second (0: as fast as possible).
 */
import { PeerEntries } from "./entries.ts";

const BATCH = 500;
const CONNECTIONS = 16;
const PORTION_ROWS = 2_000_000;

const [url = "", authorization = "", ...numbers] = process.argv.slice(2);
const [rows = 0, endMs = 0, rowsPerSecond = 0] = numbers.map(Number);
const headers = {
  "content-type": "application/x-ndjson",
  ...(authorization !== "" && { authorization }),
};
const entries = new PeerEntries(rows, endMs);
const told = Bun.stdin.stream().getReader();

for (let left = rows; left > 0; left -= PORTION_ROWS) {
  const bodies = entries.take(Math.min(left, PORTION_ROWS), BATCH);
  process.stdout.write("ready\n");
  await told.read();
  process.stdout.write(`${JSON.stringify(await send(bodies))}\n`);
}

// Standard input is open still.
process.exit(0);

async function send(bodies: readonly Uint8Array<ArrayBuffer>[]): Promise<object> {
  const latenciesMs: number[] = [];
  const startedAt = performance.now();
  let next = 0;
  const sendUntilDone = async (): Promise<void> => {
    for (let index = next++; index < bodies.length; index = next++) {
      const body = bodies[index];
      if (body === undefined) return;
      if (rowsPerSecond > 0) {
        const waitMs = startedAt + ((index * BATCH) / rowsPerSecond) * 1000 - performance.now();
        if (waitMs > 0) await Bun.sleep(waitMs);
      }
      const sentAt = performance.now();
      await sendUntilAccepted(body);
      latenciesMs.push(performance.now() - sentAt);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, sendUntilDone));
  latenciesMs.sort((a, b) => a - b);
  const quantile = (q: number): number => latenciesMs[Math.floor(latenciesMs.length * q)] ?? 0;
  return { seconds: (performance.now() - startedAt) / 1000, p50Ms: quantile(0.5), p99Ms: quantile(0.99) };
}

async function sendUntilAccepted(body: Uint8Array<ArrayBuffer>): Promise<void> {
  for (;;) {
    const response = await fetch(url, { method: "POST", headers, body });
    const text = await response.text();
    if (response.ok) return;
    if (response.status !== 503 && response.status !== 429) throw new Error(`${response.status} ${text}`);
    await Bun.sleep(Number(response.headers.get("retry-after") ?? 1) * 1000);
  }
}
