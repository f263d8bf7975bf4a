/**
 * A status page under 2 000 requests a second: how long readers wait and what one request costs the server, live, while
 * Postgres is away, and from copies after a start without it; beside a bare listener with the same bytes, in turns in one run.
 * Before that, when a browser has painted the largest part of the page, on a desktop and on a phone.
 * Everything shares the machine: server, stores and load. Usage: bun bench/status-pages.ts [rounds] [milliseconds of a turn]
 * [requests per second]. Prints a report and appends a line to bench/results/status-pages.jsonl.
 */
import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import { findFreePort } from "../src/storage/embedded/free-port.ts";
import { eventually } from "../test/harness/eventually.ts";
import { makeToken, type ServerProcess, spawnServer, startServer } from "../test/harness/server-process.ts";
import { openTestStores } from "../test/harness/stores.ts";
import { openTcpProxy } from "../test/harness/tcp-proxy.ts";
import { temporaryDirectory } from "../test/harness/temporary-directory.ts";
import { quantile } from "./kql/quantile.ts";
import { measurePaints } from "./status-pages/paint.ts";
import { startLineProcess } from "./tail/child.ts";

const rounds = Number(process.argv[2] ?? 3);
const turnMs = Number(process.argv[3] ?? 5_000);
const perSecond = Number(process.argv[4] ?? 2_000);
const COMPONENTS = 20;
const INCIDENTS = 10;
const SLUG = "acme";
/** Of the clock in which the kernel counts what a process has used. */
const TICK_MS = 10;
const DAY_MS = 86_400_000;

const stores = await openTestStores();
using directory = temporaryDirectory();
const proxy = await openTcpProxy({ host: "127.0.0.1", port: Number(new URL(stores.postgresUrl).port) });
const databaseUrl = new URL(stores.postgresUrl);
databaseUrl.port = String(proxy.port);
const options = {
  dataDirectory: directory.path,
  env: {
    DATABASE_URL: databaseUrl.href,
    CLICKHOUSE_URL: stores.clickhouseUrl,
    TRUSTED_PROXIES: "127.0.0.1",
    LOG_LEVEL: "info",
  },
};

/** A page of twenty components with ninety days behind them, and some incidents. */
async function publish({ url }: ServerProcess): Promise<void> {
  const sql = stores.postgres;
  const token = await makeToken(url);
  const call = async (path: string, body: object): Promise<{ id: number }> => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${response.status} ${text}`);
    return JSON.parse(text);
  };
  const monitorIds: number[] = [];
  for (let index = 0; index < COMPONENTS; index += 1) {
    const monitor = { name: `Component ${index}`, url: "beat", type: "heartbeat" };
    const { id } = await call("/monitors", { ...monitor, intervalSec: 3600, timeoutMs: 5000 });
    monitorIds.push(id);
    await sql`
      INSERT INTO monitor_periods (organization_id, monitor_id, status, started_at, ended_at)
      SELECT organization_id, id, CASE WHEN n % 9 = ${index % 9} THEN 'down' ELSE 'up' END,
             ${new Date(Date.now() - 91 * DAY_MS)}::timestamptz + n * interval '1 day',
             ${new Date(Date.now() - 90 * DAY_MS)}::timestamptz + n * interval '1 day'
      FROM monitors, generate_series(0, 89) AS n WHERE id = ${id}`;
  }
  for (let index = 0; index < INCIDENTS; index += 1) {
    const body = "Some requests fail. We are looking into it and say more within the hour.";
    await call("/incidents", { title: `Requests fail, ${index}`, monitorIds: [monitorIds[index]], body });
  }
  await call("/status-pages", { name: "Acme", slug: SLUG, monitorIds });
}

/** What a process has used of the processors, in milliseconds. */
function usedMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

interface Turn {
  readonly p50: number;
  readonly p99: number;
  readonly other: number;
  readonly answeredPerSec: number;
  readonly cpuUs: number;
}

async function turn(url: string, pid: number): Promise<Turn> {
  const before = usedMs(pid);
  const script = join(import.meta.dir, "status-pages", "load.ts");
  const load = startLineProcess([process.execPath, script, url, String(perSecond), String(turnMs)]);
  const { answered, p50, p99, other }: { answered: number; p50: number; p99: number; other: number } =
    JSON.parse(await load.line());
  await load.end();
  const cpuUs = ((usedMs(pid) - before) * 1000) / answered;
  return { p50, p99, other, answeredPerSec: (answered * 1000) / turnMs, cpuUs };
}

const first = await startServer(options);
await publish(first);
const path = `/status/${SLUG}`;
await eventually("the copy", () => [...new Bun.Glob("status-pages/*.sealed").scanSync(directory.path)][0]);
const packed = await fetch(`${first.url}${path}`, {
  headers: { "accept-encoding": "gzip" },
  decompress: false,
});
const bytes = (await packed.arrayBuffer()).byteLength;
const barePort = await findFreePort();
const bare = Bun.spawn([
  process.execPath,
  join(import.meta.dir, "status-pages", "bare.ts"),
  `${first.url}${path}`,
  String(barePort),
]);
const bareUrl = `http://127.0.0.1:${barePort}/`;
await eventually("the reference", () =>
  fetch(bareUrl).then(
    () => true,
    () => false,
  ),
);

const turns: Record<string, Turn[]> = {};
const measure = async (name: string, server: ServerProcess): Promise<void> => {
  for (const [kind, url, pid] of [
    [`bare, beside ${name}`, bareUrl, bare.pid],
    [name, `${server.url}${path}`, server.pid],
  ] as const) {
    turns[kind] ??= [];
    turns[kind].push(await turn(url, pid));
  }
};

const paints = await measurePaints(`${first.url}${path}`);
await turn(`${first.url}${path}`, first.pid);
for (let round = 0; round < rounds; round += 1) await measure("live", first);
proxy.cut();
for (let round = 0; round < rounds; round += 1) await measure("Postgres away", first);
first.kill("SIGKILL");
await first.exited;
const second = await spawnServer(options);
await eventually("the copy is shown", () =>
  fetch(`${second.url}${path}`).then(
    ({ ok }) => ok,
    () => false,
  ),
);
for (let round = 0; round < rounds; round += 1) await measure("started without Postgres", second);

const report = Object.entries(turns).map(([name, each]) => {
  const median = (of: (one: Turn) => number) => Number(quantile(each.map(of), 0.5).toFixed(2));
  return {
    name,
    p50Ms: median(({ p50 }) => p50),
    p99Ms: median(({ p99 }) => p99),
    answeredPerSec: Math.round(median(({ answeredPerSec }) => answeredPerSec)),
    cpuUs: Math.round(median(({ cpuUs }) => cpuUs)),
    notOk: each.reduce((sum, { other }) => sum + other, 0),
  };
});
const load = loadavg().map((value) => Number(value.toFixed(1)));
for (const { name, p50Ms, p99Ms, answeredPerSec, cpuUs, notOk } of report)
  process.stdout.write(
    `${name.padEnd(40)} p50 ${p50Ms} ms, p99 ${p99Ms} ms, ${answeredPerSec}/s, ${cpuUs} µs of a processor, ${notOk} not 200\n`,
  );
for (const { name, medianMs, maxMs } of paints)
  process.stdout.write(`${`largest paint, ${name}`.padEnd(60)} ${medianMs} ms, at most ${maxMs} ms\n`);
process.stdout.write(
  `${bytes} bytes packed; ${perSecond} requests/s; load ${load.join(" ")} on ${availableParallelism()} cores\n`,
);
mkdirSync(join(import.meta.dir, "results"), { recursive: true });
appendFileSync(
  join(import.meta.dir, "results", "status-pages.jsonl"),
  `${JSON.stringify({ at: new Date().toISOString(), bytes, perSecond, load, paints, report })}\n`,
);
second.kill("SIGKILL");
bare.kill();
await proxy.close();
await stores.close();
process.exit(0);
