/**
 * Ingest and search beside the best peer: the same bytes from the same client to each store, one after the other on empty
 * folders, asked right after the load and after a minute of rest. With `--peer` (or PEER_BINARY) a VictoriaLogs is the other store; without,
 * its recorded figures stand beside ours. A scan of made-up rows by the embedded ClickHouse, which no lever of ours touches, tells machines apart.
 * Usage: bun bench/peer.ts [rows] [--peer FILE] [--rest SECONDS]. Prints a table and appends a line to bench/results/peer.jsonl.
 */
import { appendFileSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { memoryOfTree, usageBetween, usageOfTree } from "./ingest/process-usage.ts";
import { questionsOf, RECORDED_PEER } from "./peer/questions.ts";
import { type PeerStore, startOurs, startPeer } from "./peer/stores.ts";
import { startBenchEngine } from "./storage/engine.ts";

const { values: options, positionals } = parseArgs({
  options: {
    peer: { type: "string", default: process.env.PEER_BINARY ?? "" },
    rest: { type: "string", default: "60" },
  },
  allowPositionals: true,
});
const rows = Number(positionals[0] ?? 2_000_000);
const restSeconds = Number(options.rest);
const ROUNDS = 15;
const HALF_LOAD_SECONDS = 10;
/** Of made-up texts of some 140 bytes, two million of them; on the machine of the recorded figures about as long as this. */
const REFERENCE_SCAN =
  "SELECT count() FROM (SELECT concat(repeat(hex(number), 8), ' error ') AS m FROM numbers(2000000)) WHERE lower(m) LIKE '%zzqx%'";

interface Figure {
  readonly p50: number;
  readonly p99: number;
}

interface Measured {
  readonly load: Readonly<Record<string, number>>;
  readonly fresh: Readonly<Record<string, Figure>>;
  readonly rested: Readonly<Record<string, Figure>>;
}

interface Sent {
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

async function loadInto(store: PeerStore, count: number, endMs: number, rate: number): Promise<Sent[]> {
  const child = Bun.spawn(
    [
      process.execPath,
      join(import.meta.dir, "peer/load.ts"),
      store.ingestUrl,
      store.authorization,
      ...[count, endMs, rate].map(String),
    ],
    { stdin: "pipe", stdout: "pipe", stderr: "inherit" },
  );
  const sent: Sent[] = [];
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of child.stdout) {
    text += decoder.decode(chunk, { stream: true });
    const lines = text.split("\n");
    text = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "ready") {
        child.stdin.write("go\n");
        await child.stdin.flush();
      } else sent.push(JSON.parse(line));
    }
  }
  if ((await child.exited) !== 0) throw new Error("the client failed");
  return sent;
}

async function askAll(store: PeerStore, endMs: number): Promise<Record<string, Figure>> {
  const figures: Record<string, Figure> = {};
  for (const question of questionsOf(endMs)) {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const startMs = performance.now();
      await store.ask(question);
      times.push(performance.now() - startMs);
    }
    times.sort((a, b) => a - b);
    figures[question.name] = { p50: round(times[ROUNDS >> 1] ?? 0), p99: round(times.at(-1) ?? 0) };
  }
  return figures;
}

async function measure(store: PeerStore): Promise<Measured> {
  const endMs = Date.now();
  const before = usageOfTree(store.pid);
  const startedAt = performance.now();
  const sent = await loadInto(store, rows, endMs, 0);
  process.stderr.write(`${store.name}: sent\n`);
  const tailMs = performance.now();
  await store.untilStored(rows);
  const lastMs = performance.now() - tailMs;
  const stored = usageOfTree(store.pid);
  process.stderr.write(`${store.name}: stored\n`);
  const fresh = await askAll(store, endMs);
  const seconds = sent.reduce((sum, part) => sum + part.seconds, 0) + lastMs / 1000;
  const resting = usageOfTree(store.pid);
  process.stderr.write(`${store.name}: asked, resting\n`);
  await Bun.sleep(restSeconds * 1000);
  // Merges go on while the store rests; what questions cost is no part of it.
  const usages = [usageBetween(before, stored), usageBetween(resting, usageOfTree(store.pid))];
  const memory = memoryOfTree(store.pid);
  const rested = await askAll(store, endMs);
  const cpu = usages
    .flatMap((usage) => Object.values(usage))
    .reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
  const bytes = bytesIn(store.dataDirectory);
  process.stderr.write(`${store.name}: asked again\n`);
  const half = rows / seconds / 2;
  const [paced] = await loadInto(store, Math.round(half * HALF_LOAD_SECONDS), endMs, half);
  return {
    load: {
      "stored rows/s": Math.round(rows / seconds),
      "rows per CPU-second": Math.round(rows / cpu),
      "bytes on disk a row": round(bytes / rows),
      "memory at rest, MiB": memory.own.reduce((sum, { mib }) => sum + mib, memory.commonMib),
      "acknowledgement at half load, p50 ms": round(paced?.p50Ms ?? 0),
      "acknowledgement at half load, p99 ms": round(paced?.p99Ms ?? 0),
      "seconds in all": Math.round((performance.now() - startedAt) / 1000),
    },
    fresh,
    rested,
  };
}

function bytesIn(directory: string): number {
  return readdirSync(directory, { recursive: true, withFileTypes: true }).reduce((sum, entry) => {
    if (!entry.isFile()) return sum;
    // Files come and go while we look.
    const found = statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false });
    return sum + (found?.blocks ?? 0) * 512;
  }, 0);
}

/** The fastest of some scans, in ms. */
async function referenceScan(): Promise<number> {
  const engine = await startBenchEngine();
  const times: number[] = [];
  for (let round = 0; round < 9; round++) {
    const startMs = performance.now();
    await engine.query(REFERENCE_SCAN);
    times.push(performance.now() - startMs);
  }
  await engine.stop();
  return round(Math.min(...times));
}

async function measured(start: () => Promise<PeerStore>): Promise<Measured> {
  const store = await start();
  try {
    return await measure(store);
  } finally {
    await store.stop();
  }
}

const scanMs = await referenceScan();
process.stderr.write(`reference scan: ${scanMs} ms\n`);
const peer = options.peer === "" ? null : await measured(() => startPeer(options.peer));
const ours = await measured(startOurs);

const table: Record<string, object> = {};
for (const [name, value] of Object.entries(ours.load))
  table[name] = { obs: value, peer: peer === null ? (RECORDED_PEER[name] ?? "") : peer.load[name] };
for (const [name, rested] of Object.entries(ours.rested)) {
  const fresh = ours.fresh[name];
  table[`${name}, ms`] = {
    obs: `${rested.p50} (${rested.p99})`,
    "obs right after": `${fresh?.p50} (${fresh?.p99})`,
    ...(peer === null
      ? { "peer, recorded": RECORDED_PEER[name] ?? "" }
      : { peer: peer.rested[name]?.p50, "peer right after": peer.fresh[name]?.p50 }),
  };
}
process.stdout.write(`${rows} rows, reference scan ${scanMs} ms\n${Bun.inspect.table(table)}\n`);
const report = { at: new Date().toISOString(), rows, restSeconds, scanMs, ours, peer };
mkdirSync(join(import.meta.dir, "results"), { recursive: true });
appendFileSync(join(import.meta.dir, "results/peer.jsonl"), `${JSON.stringify(report)}\n`);

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
