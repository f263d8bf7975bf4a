/**
 * An hour's worth of errors of which none is like another, through the real server: the time until every one is counted, CPU time of all its
 * processes, the most memory of each, and what is kept; beside as many errors of one fault, on a server of its own. Linux only.
 * Usage: bun bench/errors.ts [errors]. Prints a table and appends a line to bench/results/errors.jsonl.
 */
import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { FAULT_EVERY, unlikeError } from "../test/domains/log-errors/many-errors.ts";
import { usageBetween, usageOfTree } from "./ingest/process-usage.ts";
import { startBenchServer } from "./ingest/server.ts";

const errors = Number(process.argv[2] ?? 100_000);
const TOGETHER = 500;
const PAGE = 200;
const POLL_MS = 200;

const results = {
  "none like another": await measure((n) => unlikeError(n, errors)),
  "all of one fault": await measure((n) => unlikeError((errors + n) * FAULT_EVERY, errors)),
};
process.stdout.write(`${Bun.inspect.table(results)}\n`);
mkdirSync(join(import.meta.dir, "results"), { recursive: true });
appendFileSync(
  join(import.meta.dir, "results/errors.jsonl"),
  `${JSON.stringify({ at: new Date().toISOString(), errors, results })}\n`,
);

async function measure(errorAt: (n: number) => object) {
  const server = await startBenchServer();
  const headers = { authorization: `Bearer ${server.token}`, "content-type": "application/json" };
  const before = usageOfTree(server.pid);
  const beganMs = performance.now();
  for (let from = 0; from < errors; from += TOGETHER) {
    const body = JSON.stringify(Array.from({ length: TOGETHER }, (_, i) => errorAt(from + i)));
    const answer = await fetch(`${server.url}/api/v1/logs/ingest`, { method: "POST", headers, body });
    if (answer.status !== 202) throw new Error(`ingest answered ${answer.status}`);
  }
  const sentMs = performance.now();
  let counted = await read(server.url, headers);
  while (counted.inGroups + counted.other < errors) {
    await Bun.sleep(POLL_MS);
    counted = await read(server.url, headers);
  }
  const doneMs = performance.now();
  const usage = usageBetween(before, usageOfTree(server.pid));
  await server.stop();
  rmSync(server.dataDirectory, { recursive: true, force: true });
  const cpu = Object.entries(usage).map(([role, { cpuSeconds }]) => [`cpu s, ${role}`, seconds(cpuSeconds)]);
  const peaks = ["server", "clickhouse"].map((role) => [
    `peak MiB, ${role}`,
    usage[role]?.peakMemoryMiB ?? 0,
  ]);
  return {
    groups: counted.groups,
    other: counted.other,
    "s sent": seconds((sentMs - beganMs) / 1000),
    "s until all is counted": seconds((doneMs - sentMs) / 1000),
    ...Object.fromEntries([...cpu, ...peaks]),
  };
}

/** Of all pages of the list how many groups there are, and what they and all others count. */
async function read(url: string, headers: Readonly<Record<string, string>>) {
  const found = { groups: 0, inGroups: 0, other: 0 };
  for (let cursor: unknown = ""; cursor !== null; ) {
    const query = `status=all&limit=${PAGE}${cursor === "" ? "" : `&cursor=${cursor}`}`;
    const page: unknown = await (await fetch(`${url}/api/v1/log-errors?${query}`, { headers })).json();
    if (!isMap(page) || !Array.isArray(page.items) || !isMap(page.other)) throw new Error("the list is none");
    found.groups += page.items.length;
    found.inGroups += page.items.reduce((sum: number, { count }: { count: number }) => sum + count, 0);
    found.other = Number(page.other.count);
    cursor = page.nextCursor;
  }
  return found;
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function seconds(value: number): number {
  return Number(value.toFixed(1));
}
