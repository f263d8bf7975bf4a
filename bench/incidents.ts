/**
 * From a check that confirms a failure to the incident and to whoever is told, with one instance and with two: of some
 * monitors that fail by themselves, and of all that fail together. Every monitor has an interval of 30 s and its own slot in
 * it, so all of 1 000 that fail together are 33 in a second. The parts: from the answer of the target to the transaction that
 * confirms it (rounds are gathered for up to 100 ms), from there to that which opens the incident, from there to the webhook.
 * Usage: bun bench/incidents.ts [monitors] [alone] [numbers of instances]. Prints a report and appends a line to bench/results/incidents.jsonl.
 */
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "../src/log.ts";
import { loadSecrets } from "../src/storage/embedded/secrets.ts";
import { startEmbeddedClickHouse, startEmbeddedPostgres } from "../src/storage/embedded/start-engine.ts";
import { createPostgres } from "../src/storage/postgres.ts";
import { makeToken, type ServerProcess, startServer } from "../test/harness/server-process.ts";
import { usageBetween, usageOfTree } from "./ingest/process-usage.ts";
import { startLineProcess } from "./tail/child.ts";

const monitors = Number(process.argv[2] ?? 1_000);
const alone = Number(process.argv[3] ?? 20);
const instancesOfTurns = (process.argv[4] ?? "1,2").split(",").map(Number);
const BULK = 100;
const WAIT_MS = 120_000;
const LOOK_EVERY_MS = 500;

/** Milliseconds from one stage to the next, and in all. */
interface Stages {
  readonly toConfirmed: readonly number[];
  readonly toIncident: readonly number[];
  readonly confirmedToIncident: readonly number[];
  readonly incidentToTold: readonly number[];
}

const directory = mkdtempSync(join(tmpdir(), "obs-bench-"));
const target = startLineProcess([process.execPath, join(import.meta.dir, "incidents/target.ts")]);
const targetUrl = `http://127.0.0.1:${await target.line()}`;

function rounded(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
}

function summary(stages: Stages): Record<string, Record<string, number>> {
  return Object.fromEntries(
    Object.entries(stages).map(([name, values]: [string, readonly number[]]) => [
      name,
      { p50: rounded(values, 0.5), p99: rounded(values, 0.99), max: rounded(values, 1) },
    ]),
  );
}

async function withServers(instances: number): Promise<unknown> {
  const home = mkdtempSync(join(directory, "stores-"));
  const secrets = loadSecrets(home);
  const log = createLogger("silent");
  const [clickhouse, postgres] = await Promise.all([
    startEmbeddedClickHouse(home, secrets, log),
    startEmbeddedPostgres(home, secrets, log),
  ]);
  const servers: ServerProcess[] = [];
  const sql = createPostgres(postgres.url);
  try {
    for (let nth = 0; nth < instances; nth += 1)
      servers.push(
        await startServer({
          dataDirectory: mkdtempSync(join(directory, "server-")),
          env: {
            DATABASE_URL: postgres.url,
            CLICKHOUSE_URL: clickhouse.url,
            OUTBOUND_ALLOW: "127.0.0.1",
          },
        }),
      );
    const [first] = servers;
    if (first === undefined) throw new Error("at least one instance");
    // Those that failed for the servers before are well again.
    target.send("fail 0 0");
    await target.line();
    await makeMonitors(first.url);
    await checked(sql);
    const apart = await measure(sql, 0, alone);
    const together = await measure(sql, alone, monitors);
    const turn = { instances, alone: apart, together };
    process.stdout.write(`${JSON.stringify(turn, null, 2)}\n`);
    return turn;
  } catch (error) {
    for (const server of servers) process.stderr.write(server.output());
    throw error;
  } finally {
    await sql.end({ timeout: 1 });
    for (const server of servers) await server.stop();
    await Promise.all([clickhouse.supervisor.stop(), postgres.supervisor.stop()]);
  }
}

async function makeMonitors(url: string): Promise<void> {
  const token = await makeToken(url);
  for (let from = 0; from < monitors; from += BULK) {
    const answer = await fetch(`${url}/api/v1/monitors/bulk`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({
        monitors: Array.from({ length: Math.min(BULK, monitors - from) }, (_, index) => ({
          ...{ name: String(from + index), url: `${targetUrl}/m/${from + index}`, type: "http" },
          ...{ intervalSec: 30, timeoutMs: 5_000, alertThreshold: 1, alertWebhookUrl: `${targetUrl}/hook` },
        })),
      }),
    });
    if (!answer.ok) throw new Error(`monitors could not be made: ${await answer.text()}`);
  }
}

async function until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + WAIT_MS;
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error(`not within time: ${what}`);
    await Bun.sleep(LOOK_EVERY_MS);
  }
}

type Sql = ReturnType<typeof createPostgres>;

async function checked(sql: Sql): Promise<void> {
  await until("every monitor is up", async () => {
    const [row] = await sql<{ count: number }[]>`
      SELECT count(*)::integer AS count FROM monitor_state WHERE confirmed = 'up'`;
    return row?.count === monitors;
  });
}

/** When monitors were found failing, and when their webhooks came, by their names. */
interface Noted {
  readonly failedAtMs: Readonly<Record<string, number>>;
  readonly toldAtMs: Readonly<Record<string, number>>;
}

async function noted(): Promise<Noted> {
  target.send("report");
  return JSON.parse(await target.line());
}

/** Has monitors fail, from the first to before the last, and reads when what became of it. */
async function measure(sql: Sql, from: number, to: number): Promise<unknown> {
  const [before] = await sql<{ id: string | null }[]>`SELECT max(id) AS id FROM events`;
  const usedBefore = usageOfTree(process.pid);
  target.send(`fail ${from} ${to}`);
  await target.line();
  let { failedAtMs, toldAtMs } = await noted();
  await until("everybody was told", async () => {
    ({ failedAtMs, toldAtMs } = await noted());
    return Object.keys(toldAtMs).length >= to - from;
  });
  const used = Object.entries(usageBetween(usedBefore, usageOfTree(process.pid)));
  // When each was written, in its transaction.
  const events = await sql<{ kind: string; name: string; at: Date }[]>`
    SELECT kind, coalesce(payload -> 'source' ->> 'name', payload -> 'incident' -> 'source' ->> 'name') AS name,
           happened_at AS at
    FROM events WHERE kind IN ('problem.raised', 'incident.opened') AND id > ${before?.id ?? 0}`;
  const at = (kind: string): Map<string, number> =>
    new Map(events.filter((event) => event.kind === kind).map(({ name, at }) => [name, at.getTime()]));
  const confirmed = at("problem.raised");
  const opened = at("incident.opened");
  const between = (begin: (name: string) => number | undefined, end: (name: string) => number | undefined) =>
    Object.keys(toldAtMs).flatMap((name) => {
      const [began, ended] = [begin(name), end(name)];
      return began === undefined || ended === undefined ? [] : [ended - began];
    });
  const failed = (name: string): number | undefined => failedAtMs[name];
  return {
    monitors: to - from,
    load: Number((loadavg()[0] ?? 0).toFixed(1)),
    // All that was done meanwhile, checks too: "other" are the instances and the target, "server" the benchmark itself.
    cpuMsOfEach: Object.fromEntries(
      used.map(([role, { cpuSeconds }]) => [role, Math.round((cpuSeconds * 1000) / (to - from))]),
    ),
    ...summary({
      toConfirmed: between(failed, (name) => confirmed.get(name)),
      confirmedToIncident: between(
        (name) => confirmed.get(name),
        (name) => opened.get(name),
      ),
      toIncident: between(failed, (name) => opened.get(name)),
      incidentToTold: between(
        (name) => opened.get(name),
        (name) => toldAtMs[name],
      ),
    }),
  };
}

try {
  const turns = [];
  for (const instances of instancesOfTurns) turns.push(await withServers(instances));
  const report = { at: new Date().toISOString(), monitors, turns };
  const results = join(import.meta.dir, "results");
  mkdirSync(results, { recursive: true });
  appendFileSync(join(results, "incidents.jsonl"), `${JSON.stringify(report)}\n`);
} finally {
  await target.end();
  rmSync(directory, { recursive: true, force: true });
}
