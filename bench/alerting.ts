/**
 * How soon it is told, and what rules cost with everything that a seal writes: a server with a thousand rules takes entries at a steady rate,
 * and every second one that a rule tells of at once, each time of another group. From the acknowledgement of that entry to its incident,
 * which is written with what is sent of it. In turn with it a server with that one rule alone takes the same: the difference in
 * processor time of all processes is what the others cost, seal and stores included.
 * Usage: bun bench/alerting.ts [rules] [entries a second] [seconds] [rounds]. Prints a table and appends a line to
 * bench/results/alerting.jsonl.
 */
import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { usageBetween, usageOfTree } from "./ingest/process-usage.ts";
import { type BenchServer, startBenchServer } from "./ingest/server.ts";

const rules = Number(process.argv[2] ?? 1_000);
const rate = Number(process.argv[3] ?? 20_000);
/** Of load in each round. */
const seconds = Number(process.argv[4] ?? 10);
const rounds = Number(process.argv[5] ?? 4);
const BATCH = 500;
const SETTLE_MS = 60_000;
const AFTER_MS = 5_000;
const RULE = { windowSec: 60, threshold: 1, severity: "low" };

async function ask(server: BenchServer, method: string, path: string, json?: unknown): Promise<unknown> {
  const response = await fetch(`${server.url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${server.token}`, "content-type": "application/json" },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
  return text === "" ? null : JSON.parse(text);
}

/** An entry like any other. */
const entryOf = (n: number) => ({
  message: `order ${n} was taken in ${n % 97} ms`,
  level: "info",
  service: "shop",
  host: `web-${n % 50}`,
  attrs: { path: `/cart/${n % 1000}`, n: n % 1000, user: `user-${n % 500}` },
});

/** When the incident of each group was written, as far as there are any. */
async function incidents(server: BenchServer): Promise<ReadonlyMap<string, number>> {
  const { items } = Object(await ask(server, "GET", "/incidents?limit=1000"));
  return new Map(
    Object.values(items).flatMap((item) => {
      const { groupKey, createdAt } = Object(item);
      return groupKey?.host === undefined ? [] : [[String(groupKey.host), Date.parse(createdAt)] as const];
    }),
  );
}

/** A server with so many rules, and what came of its rounds. */
interface Side {
  readonly rules: number;
  readonly server: BenchServer;
  /** When the entry of each group was taken. */
  readonly taken: Map<string, number>;
  readonly cpuSeconds: Record<"server" | "clickhouse" | "postgres", number>;
  sent: number;
  sendingMs: number;
}

/** Begins when the past is counted: what was before a new rule is counted once, and is no cost of its running. */
async function begin(count: number): Promise<Side> {
  const server = await startBenchServer();
  await ask(server, "POST", "/log-alerts", {
    ...RULE,
    name: "probe",
    query: "probe-entry",
    groupBy: ["host"],
  });
  for (let i = 1; i < count; i++)
    await ask(server, "POST", "/log-alerts", {
      ...RULE,
      name: `rule ${i}`,
      threshold: i % 20 === 0 ? 1_000_000 : 1,
      kql: i % 20 === 0 ? `message has "order" and attrs.n == ${i}` : `message has "Zq${i.toString(36)}xv"`,
    });
  const startedBy = performance.now() + SETTLE_MS;
  for (;;) {
    const listed = Object.values(Object(await ask(server, "GET", "/log-alerts")));
    if (listed.every((rule) => Object(rule).state !== "starting")) break;
    if (performance.now() > startedBy) throw new Error("the rules have not begun within a minute");
    await Bun.sleep(1000);
  }
  const cpuSeconds = { server: 0, clickhouse: 0, postgres: 0 };
  return { rules: count, server, taken: new Map(), cpuSeconds, sent: 0, sendingMs: 0 };
}

/** Entries at the rate, and what follows of them. */
async function load(side: Side, round: number): Promise<void> {
  const { server, taken, cpuSeconds } = side;
  const before = usageOfTree(server.pid);
  const begunMs = performance.now();
  const sending: Promise<unknown>[] = [];
  for (let second = 0; second < seconds; second++) {
    for (let batch = 0; batch < rate / BATCH; batch++) {
      const dueMs = begunMs + second * 1000 + (batch * 1000 * BATCH) / rate;
      if (performance.now() < dueMs) await Bun.sleep(dueMs - performance.now());
      const body = Array.from({ length: BATCH }, (_, i) => entryOf(side.sent + i));
      side.sent += BATCH;
      sending.push(ask(server, "POST", "/logs/ingest", body));
    }
    const host = `probe-${round}-${second}`;
    const probe = [{ message: "probe-entry", level: "error", service: "probe", host }];
    sending.push(ask(server, "POST", "/logs/ingest", probe).then(() => taken.set(host, Date.now())));
  }
  await Promise.all(sending);
  side.sendingMs += performance.now() - begunMs;
  // So long that what is merged and counted of it falls into the round, the same for both.
  await Bun.sleep(AFTER_MS);
  const usage = usageBetween(before, usageOfTree(server.pid));
  for (const role of ["server", "clickhouse", "postgres"] as const)
    cpuSeconds[role] += usage[role]?.cpuSeconds ?? 0;
}

async function end({ rules: count, server, taken, cpuSeconds, sent, sendingMs }: Side) {
  const untilMs = performance.now() + SETTLE_MS;
  let written = await incidents(server);
  while (written.size < taken.size && performance.now() < untilMs) {
    await Bun.sleep(500);
    written = await incidents(server);
  }
  await server.stop();
  rmSync(server.dataDirectory, { recursive: true, force: true });
  const delays = [...taken]
    .flatMap(([host, atMs]) => {
      const wroteMs = written.get(host);
      return wroteMs === undefined ? [] : [Math.max(0, wroteMs - atMs)];
    })
    .toSorted((one, other) => one - other);
  const at = (share: number): number =>
    delays[Math.min(delays.length - 1, Math.floor(delays.length * share))] ?? 0;
  const inAll = cpuSeconds.server + cpuSeconds.clickhouse + cpuSeconds.postgres;
  const rounded = (value: number): number => Number(value.toFixed(2));
  return {
    rules: count,
    "entries/s": Math.round((sent * 1000) / sendingMs),
    "CPU s": rounded(inAll),
    server: rounded(cpuSeconds.server),
    clickhouse: rounded(cpuSeconds.clickhouse),
    postgres: rounded(cpuSeconds.postgres),
    told: `${delays.length} of ${taken.size}`,
    "p50 ms": at(0.5),
    "p99 ms": at(0.99),
  };
}

const [one, many] = [await begin(1), await begin(rules)];
for (let round = 0; round < rounds; round++) for (const side of [one, many]) await load(side, round);
const [alone, all] = [await end(one), await end(many)];
const coreShare = ((all["CPU s"] - alone["CPU s"]) / (seconds * rounds)) * 100;
process.stdout.write(`${Bun.inspect.table([alone, all])}\n`);
process.stdout.write(`${rules} rules take ${coreShare.toFixed(1)} % of a core more than one\n`);
mkdirSync(join(import.meta.dir, "results"), { recursive: true });
appendFileSync(
  join(import.meta.dir, "results/alerting.jsonl"),
  `${JSON.stringify({ at: new Date().toISOString(), alone, all, "% of a core": Number(coreShare.toFixed(1)) })}\n`,
);
process.exit(0);
