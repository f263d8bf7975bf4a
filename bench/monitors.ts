/**
 * Monitors: 6 000 of them every 30 s against one target on the same machine. How late checks begin, how many are made in a
 * second of one core by all processes of the server, what of it the stores take, the same while 20 000 logs a second come in,
 * and beside it what the blackbox exporter needs for as many checks, which it neither plans nor stores, and what Uptime Kuma does,
 * which does both.
 * Usage: bun bench/monitors.ts [seconds of a turn] [monitors]. Prints a report and appends a line to
 * bench/results/monitors.jsonl.
 */
import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { eventually } from "../test/harness/eventually.ts";
import { usageBetween, usageOfTree } from "./ingest/process-usage.ts";
import { startBenchServer } from "./ingest/server.ts";
import { runExporter } from "./monitors/exporter.ts";
import { runKuma } from "./monitors/kuma.ts";
import { startLineProcess } from "./tail/child.ts";

const seconds = Number(process.argv[2] ?? 60);
const monitors = Number(process.argv[3] ?? 6_000);
const INTERVAL_SEC = 30;
const BULK = 100;
const LOGS_PER_SECOND = 20_000;
const LOGS_BATCH = 500;
const LOGS_CONNECTIONS = 8;

interface Turn {
  readonly checks: number;
  readonly lateP50Ms: number;
  readonly lateP99Ms: number;
  readonly checksPerCoreSecond: number;
  /** CPU of Postgres and ClickHouse beyond what they use without monitors. */
  readonly storageMsPerCheck: number;
  readonly cpuSeconds: Readonly<Record<string, number>>;
  readonly load: number;
}

const target = startLineProcess([process.execPath, join(import.meta.dir, "monitors/target.ts")]);
const targetUrl = `http://127.0.0.1:${await target.line()}/`;
const server = await startBenchServer({ env: { OUTBOUND_ALLOW: "127.0.0.1" } });

async function call(method: string, path: string, body?: unknown): Promise<string> {
  const answer = await fetch(`${server.url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${server.token}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
  return text;
}

async function requestsSince(): Promise<number> {
  target.send("count");
  return Number(await target.line());
}

async function usageOver(
  durationSec: number,
): Promise<{ readonly cpu: Record<string, number>; readonly requests: number }> {
  await requestsSince();
  const before = usageOfTree(server.pid);
  await Bun.sleep(durationSec * 1000);
  const usage = usageBetween(before, usageOfTree(server.pid));
  const requests = await requestsSince();
  return {
    cpu: Object.fromEntries(Object.entries(usage).map(([role, { cpuSeconds }]) => [role, cpuSeconds])),
    requests,
  };
}

function storageOf(cpu: Readonly<Record<string, number>>): number {
  return (cpu.postgres ?? 0) + (cpu.clickhouse ?? 0);
}

/** The places of a histogram's observations between two readings, as upper bounds of its buckets in milliseconds. */
async function lateness(): Promise<Map<number, number>> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  const buckets = [...text.matchAll(/obs_monitor_start_lateness_seconds_bucket\{le="([^"]+)"\} (\d+)/g)];
  return new Map(
    buckets.map(([, bound, count]) => [Number(bound?.replace("+Inf", "Infinity")) * 1000, Number(count)]),
  );
}

function quantile(before: Map<number, number>, after: Map<number, number>, share: number): number {
  const counts = [...after].map(([bound, count]) => [bound, count - (before.get(bound) ?? 0)] as const);
  const total = counts.at(-1)?.[1] ?? 0;
  return counts.find(([, count]) => count >= total * share)?.[0] ?? Number.POSITIVE_INFINITY;
}

async function measure(idle: Readonly<Record<string, number>>): Promise<Turn> {
  const lateBefore = await lateness();
  const { cpu, requests } = await usageOver(seconds);
  const lateAfter = await lateness();
  const total = Object.values(cpu).reduce((sum, value) => sum + value, 0);
  const storage = Math.max(0, storageOf(cpu) - storageOf(idle));
  return {
    checks: requests,
    lateP50Ms: quantile(lateBefore, lateAfter, 0.5),
    lateP99Ms: quantile(lateBefore, lateAfter, 0.99),
    checksPerCoreSecond: Math.round(requests / total),
    storageMsPerCheck: Number(((storage * 1000) / requests).toFixed(2)),
    cpuSeconds: Object.fromEntries(
      Object.entries(cpu).map(([role, value]) => [role, Number(value.toFixed(2))]),
    ),
    load: Number((loadavg()[0] ?? 0).toFixed(1)),
  };
}

try {
  await Bun.sleep(5_000);
  const idle = (await usageOver(seconds)).cpu;
  for (let from = 0; from < monitors; from += BULK)
    await call("POST", "/monitors/bulk", {
      monitors: Array.from({ length: Math.min(BULK, monitors - from) }, (_, index) => ({
        name: `Monitor ${from + index}`,
        url: `${targetUrl}${from + index}`,
        type: "http",
        intervalSec: INTERVAL_SEC,
        timeoutMs: 5_000,
      })),
    });
  await eventually("every monitor was checked", async () => {
    return (await server.metric("obs_monitor_rounds_total")) >= monitors;
  });
  await Bun.sleep(INTERVAL_SEC * 1000);
  const alone = await measure(idle);
  const exporter = await runExporter(targetUrl, Math.round(monitors / INTERVAL_SEC), Math.min(seconds, 30));
  const sender = startLineProcess([
    process.execPath,
    join(import.meta.dir, "tail/load.ts"),
    ...[server.url, server.token, String(LOGS_BATCH), String(LOGS_CONNECTIONS)],
  ]);
  await sender.line();
  sender.send(`send ${LOGS_PER_SECOND}`);
  await sender.line();
  await Bun.sleep(5_000);
  const ingesting = await measure(idle);
  sender.send("report");
  const logs: unknown = JSON.parse(await sender.line());
  await sender.end();
  await server.stop();
  const kuma = await runKuma(targetUrl, Math.min(seconds, 30), requestsSince);
  const report = {
    at: new Date().toISOString(),
    monitors,
    seconds,
    idle,
    alone,
    exporter,
    kuma,
    ingesting,
    logs,
  };
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  const results = join(import.meta.dir, "results");
  mkdirSync(results, { recursive: true });
  appendFileSync(join(results, "monitors.jsonl"), `${JSON.stringify(report)}\n`);
} finally {
  await target.end();
  await server.stop();
  rmSync(server.dataDirectory, { recursive: true, force: true });
}
