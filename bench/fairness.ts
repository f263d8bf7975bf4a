/**
 * What one organisation's reading costs another: how long a search for the latest entry takes alone, beside sixteen heavy queries,
 * and beside answers of some 67 MB. All on one server, the load and the one who searches processes of their own.
 * Usage: bun bench/fairness.ts [rows of the heavy queries] [seconds a case]. Prints a table and appends a line to
 * bench/results/fairness.jsonl.
 */
import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makeToken } from "../test/harness/server-process.ts";
import { makeEntries, nativeBodies } from "./ingest/bodies.ts";
import { startBenchServer } from "./ingest/server.ts";
import { quantile } from "./kql/quantile.ts";
import { startLineProcess } from "./tail/child.ts";

const rows = Number(process.argv[2] ?? 500_000);
const seconds = Number(process.argv[3] ?? 20);
const BATCH = 500;
const SENDERS = 8;
const POLL_MS = 200;
/** As many as a query answers, of as many characters that the answer is just within what one may be. */
const WIDE_ROWS = 9_900;
const WIDE_CHARS = 6_700;
const WIDE_BATCH = 100;

const CASES = [
  { name: "alone", connections: 0, query: "" },
  {
    name: "sixteen heavy queries",
    connections: 16,
    query:
      "logs | summarize dcount(message), percentile(strlen(message), 99) by host, tostring(attrs.user_id)",
  },
  {
    name: "answers of 67 MB",
    connections: 2,
    query: `logs | where service == "wide" | project message | take ${WIDE_ROWS}`,
  },
];

const server = await startBenchServer();
const otherToken = await makeToken(server.url);
const wide = Array.from({ length: WIDE_ROWS }, () => ({ service: "wide", message: "w".repeat(WIDE_CHARS) }));
const bodies = [...nativeBodies(makeEntries(rows), BATCH), ...nativeBodies(wide, WIDE_BATCH)];
let next = 0;
await Promise.all(
  Array.from({ length: SENDERS }, async () => {
    for (let body = bodies[next++]; body !== undefined; body = bodies[next++]) await send(server.token, body);
  }),
);
await send(otherToken, JSON.stringify([{ message: "of the other" }]));
while ((await server.metric("obs_insert_rows_total")) < rows + WIDE_ROWS + 1) await Bun.sleep(POLL_MS);

const results: object[] = [];
for (const { name, connections, query } of CASES) {
  const load = connections === 0 ? null : start("fairness/load.ts", server.token, String(connections), query);
  const other = start("large-bodies/others.ts", otherToken, "/api/v1/logs/search?limit=1");
  await Bun.sleep(seconds * 1000);
  await other.end();
  const tookMs: number[] = JSON.parse(await other.line());
  await load?.end();
  const loaded: { statuses: object; bytes: number } =
    load === null ? { statuses: {}, bytes: 0 } : JSON.parse(await load.line());
  results.push({
    case: name,
    searches: tookMs.length,
    p50Ms: Math.round(quantile(tookMs, 0.5)),
    p99Ms: Math.round(quantile(tookMs, 0.99)),
    maxMs: Math.round(Math.max(...tookMs)),
    loadAnswers: JSON.stringify(loaded.statuses),
    loadMB: Math.round(loaded.bytes / 1_000_000),
  });
}
await server.stop();
rmSync(server.dataDirectory, { recursive: true, force: true });

process.stdout.write(`${Bun.inspect.table(results)}\n`);
mkdirSync(join(import.meta.dir, "results"), { recursive: true });
appendFileSync(
  join(import.meta.dir, "results/fairness.jsonl"),
  `${JSON.stringify({ at: new Date().toISOString(), rows, seconds, results })}\n`,
);

function start(script: string, token: string, ...rest: string[]): ReturnType<typeof startLineProcess> {
  return startLineProcess([process.execPath, join(import.meta.dir, script), server.url, token, ...rest]);
}

async function send(token: string, body: string | Uint8Array): Promise<void> {
  const response = await fetch(`${server.url}/api/v1/logs/ingest`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
}
