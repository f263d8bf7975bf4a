/**
 * What ten rules cost at ingest: rows for each second of the server's CPU time without rules and with ten, in alternation on
 * one server, over HTTP. Mixes of rules that find nothing, that drop and mask a few rows, and that mask every row; in the
 * native format and as OTLP in JSON.
 * Usage: bun bench/rules-at-ingest.ts [rows a round] [rounds]. Prints a table and appends lines to bench/results/rules-at-ingest.jsonl.
 */
import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makeToken } from "../test/harness/server-process.ts";
import { makeEntries } from "./ingest/bodies.ts";
import { usageBetween, usageOfTree } from "./ingest/process-usage.ts";
import { startBenchServer } from "./ingest/server.ts";
import { WIRES } from "./ingest/wires.ts";

const rows = Number(process.argv[2] ?? 200_000);
const rounds = Number(process.argv[3] ?? 6);
const BATCH = 500;
const CONNECTIONS = 8;
/** Seldom: making the metrics is work of the server, too. */
const POLL_MS = 200;

const ASKED = [
  { action: "drop", query: 'service == "hdfs-api" and level == "debug"' },
  { action: "drop", query: 'message contains "healthcheck"' },
  { action: "sample", keepOneIn: 10, query: 'level == "trace"' },
  { action: "mask", fields: ["password"] },
  { action: "mask", fields: ["authorization", "headers.cookie"] },
  { action: "mask", patterns: ["card"] },
  { action: "mask", patterns: ["email"] },
];
const MIXES = {
  "finding nothing": [
    ...ASKED,
    { action: "sample", keepOneIn: 2, query: 'service == "proxy" and message contains "ping"' },
    { action: "mask", fields: ["user_id"], query: 'service == "nobody"' },
    { action: "mask", patterns: ["token"] },
  ],
  "for one row in a hundred": [
    ...ASKED,
    { action: "drop", query: 'message contains "u0042"' },
    { action: "drop", query: 'host endswith "-7.prod" and status == 500' },
    { action: "mask", fields: ["user_id"], query: 'host endswith "-3.prod" and status == 500' },
  ],
  "masking every row": [
    ...ASKED,
    { action: "sample", keepOneIn: 2, query: 'service == "proxy" and message contains "ping"' },
    { action: "mask", fields: ["user_id"] },
    { action: "mask", patterns: ["token"] },
  ],
};

const entries = makeEntries(rows);
const wires = Object.entries(WIRES).map(([name, { path, bodies }]) => ({
  name,
  path,
  bodies: bodies(entries, BATCH),
}));
const server = await startBenchServer();
const mixes = await Promise.all(
  Object.entries(MIXES).map(async ([mix, rules]) => {
    const token = await makeToken(server.url);
    for (const [i, rule] of rules.entries())
      await post("/api/v1/ingest/rules", token, JSON.stringify({ name: `rule ${i}`, ...rule }));
    return { mix, token };
  }),
);

const results: object[] = [];
for (const wire of wires) {
  const sides = [{ mix: "none", token: server.token }, ...mixes].map((side) => ({
    ...side,
    seconds: 0,
    changed: 0,
  }));
  // The first round makes everything warm.
  for (let round = -1; round < rounds; round++)
    for (const side of sides) {
      const { seconds, changed } = await take(wire, side.token);
      side.seconds += round < 0 ? 0 : seconds;
      side.changed += round < 0 ? 0 : changed;
    }
  const plain = sides[0]?.seconds ?? 0;
  for (const { mix, seconds, changed } of sides)
    results.push({
      wire: wire.name,
      rules: mix,
      rowsPerCpuSecond: Math.round((rows * rounds) / seconds),
      costPercent: Math.round((seconds / plain - 1) * 1000) / 10,
      changedPercent: Math.round((changed / (rows * rounds)) * 1000) / 10,
    });
}
await server.stop();
rmSync(server.dataDirectory, { recursive: true, force: true });

process.stdout.write(`${Bun.inspect.table(results)}\n`);
mkdirSync(join(import.meta.dir, "results"), { recursive: true });
appendFileSync(
  join(import.meta.dir, "results/rules-at-ingest.jsonl"),
  `${JSON.stringify({ at: new Date().toISOString(), rows, rounds, results })}\n`,
);

/** CPU time of the server's own process from the first request to the last insert. */
async function take(
  { path, bodies }: (typeof wires)[number],
  token: string,
): Promise<{ seconds: number; changed: number }> {
  const before = usageOfTree(server.pid);
  const [droppedBefore, changedBefore, insertedBefore] = await Promise.all([
    changedRows("dropped"),
    changedRows("masked"),
    insertedRows(),
  ]);
  let next = 0;
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      for (let i = next++; i < bodies.length; i = next++) await post(path, token, bodies[i] ?? "");
    }),
  );
  const dropped = (await changedRows("dropped")) - droppedBefore;
  while ((await insertedRows()) - insertedBefore < rows - dropped) await Bun.sleep(POLL_MS);
  const seconds = usageBetween(before, usageOfTree(server.pid)).server?.cpuSeconds ?? 0;
  return { seconds, changed: dropped + (await changedRows("masked")) - changedBefore };
}

async function changedRows(outcome: "dropped" | "masked"): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return Number(
    new RegExp(`obs_ingest_rule_entries_total\\{outcome="${outcome}"\\} (\\d+)`).exec(text)?.[1] ?? 0,
  );
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
