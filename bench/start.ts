/**
 * From the start of the process to the first accepted log, on a data directory that was used before, and the memory of
 * the idle server. Usage: bun bench/start.ts [rounds]. Prints a line of JSON.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeToken, spawnServer, startServer } from "../test/harness/server-process.ts";

const rounds = Number(process.argv[2] ?? 5);
const IDLE_MS = 3000;
const MAX_ATTEMPTS = 4000;

const dataDirectory = mkdtempSync(join(tmpdir(), "obs-bench-"));
const first = await startServer({ dataDirectory });
const token = await makeToken(first.url);
await first.stop();

const seconds: number[] = [];
const idleMiB: number[] = [];
for (let round = 0; round < rounds; round++) {
  const startedAt = performance.now();
  const server = await spawnServer({ dataDirectory });
  for (let attempt = 0; !(await accepts(server.url)); attempt++) {
    if (attempt > MAX_ATTEMPTS) throw new Error(`the server takes no logs: ${server.output()}`);
    await Bun.sleep(5);
  }
  seconds.push((performance.now() - startedAt) / 1000);
  await Bun.sleep(IDLE_MS);
  const kib = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1]);
  idleMiB.push(Math.round(kib / 1024));
  await server.stop();
}
rmSync(dataDirectory, { recursive: true, force: true });
seconds.sort((a, b) => a - b);
const report = {
  rounds,
  medianSeconds: seconds[Math.floor(rounds / 2)],
  maxSeconds: seconds.at(-1),
  idleMemoryMiB: Math.max(...idleMiB),
};
process.stdout.write(`${JSON.stringify(report)}\n`);

async function accepts(url: string): Promise<boolean> {
  return fetch(`${url}/api/v1/logs/ingest`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: '{"message":"first"}',
  }).then(
    (response) => response.status === 202,
    () => false,
  );
}
