/**
 * What ten rules cost at ingest: rows for each second of the clock and of CPU time, of all processes and of the server's own,
 * without rules and with ten, in alternation on one server, over HTTP. Of the lines in `shared/data/loghub`, those that the rules find nothing in, with rules that go on to
 * find nothing, that drop or mask one row in a hundred, and that mask every row; then the lines as they come, of which one in
 * twenty is a `trace` that is sampled away, and in one in a hundred the digits happen to be a card's. Besides, in this
 * process, what decoding takes with each rule alone.
 * Usage: bun bench/rules-at-ingest.ts [rows a round] [rounds] [format ...]. Prints two tables and appends lines to
 * bench/results/rules-at-ingest.jsonl.
 */
import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makeToken } from "../test/harness/server-process.ts";
import { makeEntries, nativeBodies } from "./ingest/bodies.ts";
import { usageBetween, usageOfTree } from "./ingest/process-usage.ts";
import { decodingUs, entryRules, withoutFindings } from "./ingest/ruled-entries.ts";
import { startBenchServer } from "./ingest/server.ts";
import { WIRES } from "./ingest/wires.ts";
import { median } from "./patterns/median.ts";

type Rule = Parameters<typeof entryRules>[0][number];

const rows = Number(process.argv[2] ?? 200_000);
const rounds = Number(process.argv[3] ?? 6);
const asked = process.argv.slice(4);
const BATCH = 500;
const CONNECTIONS = 8;
/** In this process, so that the fastest of several counts. */
const ALONE_ROWS = 20_000;
const ALONE_ROUNDS = 40;
/** Seldom: making the metrics is work of the server, too. */
const POLL_MS = 50;
const SEALED_WITHIN_MS = 60_000;

const ASKED: Rule[] = [
  { action: "drop", query: 'service == "hdfs-api" and level == "debug"' },
  { action: "drop", query: 'message contains "healthcheck"' },
  { action: "sample", keepOneIn: 10, query: 'level == "trace"' },
  { action: "mask", fields: ["password"] },
  { action: "mask", fields: ["authorization", "headers.cookie"] },
  { action: "mask", patterns: ["card"] },
  { action: "mask", patterns: ["email"] },
];
const NOTHING: Rule[] = [
  ...ASKED,
  { action: "sample", keepOneIn: 2, query: 'service == "proxy" and message contains "ping"' },
  { action: "mask", fields: ["user_id"], query: 'service == "nobody"' },
  { action: "mask", patterns: ["token"] },
];
const AS_THEY_COME = "finding nothing or little, lines as they come";
const MIXES: Record<string, Rule[]> = {
  "finding nothing": NOTHING,
  "for one row in a hundred": [
    ...ASKED,
    { action: "drop", query: 'host endswith "-7.prod" and status == 500' },
    { action: "mask", fields: ["user_id"], query: 'host endswith "-3.prod" and status == 500' },
    { action: "mask", patterns: ["token"] },
  ],
  "masking every row": [
    ...ASKED,
    { action: "sample", keepOneIn: 2, query: 'service == "proxy" and message contains "ping"' },
    { action: "mask", fields: ["user_id"] },
    { action: "mask", patterns: ["token"] },
  ],
  [AS_THEY_COME]: NOTHING,
};

const given = makeEntries(rows + Math.ceil(rows / 4));
const found = withoutFindings(given, entryRules(NOTHING), BATCH).slice(0, rows);
if (found.length < rows) throw new Error("too many lines have something that the rules find");
const entries = { found, given: given.slice(0, rows) };
const wires = Object.entries(WIRES)
  .filter(([name]) => asked.length === 0 || asked.includes(name))
  .map(([name, { path, bodies }]) => ({
    name,
    path,
    bodies: { found: bodies(entries.found, BATCH), given: bodies(entries.given, BATCH) },
  }));
const server = await startBenchServer();
const mixes = await Promise.all(
  Object.entries(MIXES).map(async ([mix, rules]) => {
    const token = await makeToken(server.url);
    for (const [i, rule] of rules.entries())
      await post("/api/v1/ingest/rules", token, JSON.stringify({ name: `rule ${i}`, ...rule }));
    return { mix, token, lines: mix === AS_THEY_COME ? ("given" as const) : ("found" as const) };
  }),
);

const results: object[] = [];
for (const wire of wires) {
  const sides = [
    { mix: "none", token: server.token, lines: "found" as const },
    { mix: "none, lines as they come", token: server.token, lines: "given" as const },
    ...mixes,
  ].map((side) => ({ ...side, ...nothingTaken(), changed: 0 }));
  // The first round makes everything warm.
  for (let round = -1; round < rounds; round++)
    // Each in each place in turn: what a side leaves behind, as for the collector, is not always paid by the same one.
    for (const [place] of sides.entries()) {
      const side = sides[(place * (round % 2 === 0 ? 1 : sides.length - 1) + round + 1) % sides.length];
      if (side === undefined) continue;
      const taken = await take(wire.path, wire.bodies[side.lines], side.token);
      if (round < 0) continue;
      side.clock.push(taken.clock);
      side.all.push(taken.all);
      side.own.push(taken.own);
      side.changed += taken.changed;
    }
  for (const { mix, lines, changed, ...took } of sides) {
    const plain = sides.find((side) => side.lines === lines) ?? took;
    // Of each round beside the same round without rules: what merges into one of them is no rule's.
    const more = (of: "clock" | "all" | "own"): number =>
      Math.round((median(took[of].map((value, round) => value / (plain[of][round] ?? value))) - 1) * 1000) /
      10;
    results.push({
      wire: wire.name,
      rules: mix,
      rowsPerSecond: Math.round(rows / median(took.clock)),
      slowerPercent: more("clock"),
      allCpuPercent: more("all"),
      rowsPerCpuSecond: Math.round(rows / median(took.own)),
      costPercent: more("own"),
      changedPercent: Math.round((changed / (rows * rounds)) * 1000) / 10,
    });
  }
}
await server.stop();
rmSync(server.dataDirectory, { recursive: true, force: true });
const alone = eachAlone();

process.stdout.write(`${Bun.inspect.table(results)}\n${Bun.inspect.table(alone)}\n`);
mkdirSync(join(import.meta.dir, "results"), { recursive: true });
appendFileSync(
  join(import.meta.dir, "results/rules-at-ingest.jsonl"),
  `${JSON.stringify({ at: new Date().toISOString(), rows, rounds, results, alone })}\n`,
);

/** Seconds of each round. */
function nothingTaken(): Record<"clock" | "all" | "own", number[]> {
  return { clock: [], all: [], own: [] };
}

/** What decoding takes with each rule of those that find nothing, in turns, beside decoding without rules. */
function eachAlone(): object[] {
  const lines = entries.found.slice(0, ALONE_ROWS);
  const bodies = nativeBodies(lines, BATCH);
  const sides = [
    { rule: "none", rules: null },
    ...NOTHING.map((rule) => ({ rule: JSON.stringify(rule), rules: entryRules([rule]) })),
    { rule: "all ten", rules: entryRules(NOTHING) },
  ].map((side) => ({ ...side, us: Number.POSITIVE_INFINITY }));
  for (let round = 0; round < ALONE_ROUNDS; round++)
    for (const side of sides) side.us = Math.min(side.us, decodingUs(bodies, lines.length, side.rules));
  const plain = sides[0]?.us ?? 0;
  return sides.map(({ rule, us }) => ({
    rule,
    decodingUs: Math.round(us * 1000) / 1000,
    addsUs: Math.round((us - plain) * 1000) / 1000,
  }));
}

/** Seconds from the first request to the last insert: of the clock, and of CPU of all processes and of the server's own. */
async function take(
  path: string,
  bodies: readonly Uint8Array[],
  token: string,
): Promise<{ clock: number; all: number; own: number; changed: number }> {
  await sealing();
  const since = performance.now();
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
  const clock = (performance.now() - since) / 1000;
  const used = usageBetween(before, usageOfTree(server.pid));
  return {
    clock,
    all: Object.values(used).reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
    own: used.server?.cpuSeconds ?? 0,
    changed: dropped + (await changedRows("masked")) - changedBefore,
  };
}

/** Until what came before is looked through: that is work of the server, too, and not of those who come next. */
async function sealing(): Promise<void> {
  const inserted = await insertedRows();
  const since = performance.now();
  while ((await server.metric("obs_sealed_entries_total")) < inserted) {
    if (performance.now() - since > SEALED_WITHIN_MS) throw new Error("what came before is not sealed");
    await Bun.sleep(POLL_MS);
  }
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
