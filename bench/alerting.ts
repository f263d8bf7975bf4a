/**
 * How soon it is told, and what rules cost with everything that a seal writes: a server with a thousand rules takes entries at a steady rate,
 * and every second one that a rule tells of at once, each time of another group. From the acknowledgement of that entry to its incident,
 * which is written with what is sent of it. Before it the same with that one rule alone: the difference in processor time of all processes
 * is what the others cost, seal and stores included.
 * Usage: bun bench/alerting.ts [rules] [entries a second] [seconds]. Prints a table and appends a line to bench/results/alerting.jsonl.
 */
import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { usageBetween, usageOfTree } from "./ingest/process-usage.ts";
import { type BenchServer, startBenchServer } from "./ingest/server.ts";

const rules = Number(process.argv[2] ?? 1_000);
const rate = Number(process.argv[3] ?? 20_000);
const seconds = Number(process.argv[4] ?? 60);
const BATCH = 500;
const SETTLE_MS = 60_000;
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

async function measure(count: number) {
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
  // What was before a new rule is counted once, and is no cost of its running.
  const startedBy = performance.now() + SETTLE_MS;
  while (performance.now() < startedBy) {
    const listed = Object.values(Object(await ask(server, "GET", "/log-alerts")));
    if (listed.every((rule) => Object(rule).state !== "starting")) break;
    await Bun.sleep(1000);
  }
  const before = usageOfTree(server.pid);
  const begunMs = performance.now();
  const sending: Promise<unknown>[] = [];
  const acknowledged = new Map<string, number>();
  let sent = 0;
  for (let second = 0; second < seconds; second++) {
    for (let batch = 0; batch < rate / BATCH; batch++) {
      const dueMs = begunMs + second * 1000 + (batch * 1000 * BATCH) / rate;
      if (performance.now() < dueMs) await Bun.sleep(dueMs - performance.now());
      const body = Array.from({ length: BATCH }, (_, i) => entryOf(sent + i));
      sent += BATCH;
      sending.push(ask(server, "POST", "/logs/ingest", body));
    }
    const host = `probe-${second}`;
    const probe = [{ message: "probe-entry", level: "error", service: "probe", host }];
    sending.push(ask(server, "POST", "/logs/ingest", probe).then(() => acknowledged.set(host, Date.now())));
  }
  await Promise.all(sending);
  const takenSec = (performance.now() - begunMs) / 1000;
  const untilMs = performance.now() + SETTLE_MS;
  let written = await incidents(server);
  while (written.size < seconds && performance.now() < untilMs) {
    await Bun.sleep(500);
    written = await incidents(server);
  }
  const usage = Object.values(usageBetween(before, usageOfTree(server.pid)));
  await server.stop();
  rmSync(server.dataDirectory, { recursive: true, force: true });
  const delays = [...acknowledged]
    .flatMap(([host, atMs]) => {
      const wroteMs = written.get(host);
      return wroteMs === undefined ? [] : [Math.max(0, wroteMs - atMs)];
    })
    .toSorted((one, other) => one - other);
  const at = (share: number): number =>
    delays[Math.min(delays.length - 1, Math.floor(delays.length * share))] ?? 0;
  return {
    rules: count,
    "entries/s": Math.round(sent / takenSec),
    "CPU s": Number(usage.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0).toFixed(1)),
    told: `${delays.length} of ${seconds}`,
    "p50 ms": at(0.5),
    "p99 ms": at(0.99),
  };
}

const alone = await measure(1);
const all = await measure(rules);
const coreShare = ((all["CPU s"] - alone["CPU s"]) / seconds) * 100;
process.stdout.write(`${Bun.inspect.table([alone, all])}\n`);
process.stdout.write(`${rules} rules take ${coreShare.toFixed(1)} % of a core more than one\n`);
mkdirSync(join(import.meta.dir, "results"), { recursive: true });
appendFileSync(
  join(import.meta.dir, "results/alerting.jsonl"),
  `${JSON.stringify({ at: new Date().toISOString(), alone, all, "% of a core": Number(coreShare.toFixed(1)) })}\n`,
);
process.exit(0);
