/**
 * What it costs to plan and to apply files of many records of the kinds of which there are many: all to make, as described, changed, and to
 * prune; beside reading the same records by the routes that list them, in turns in one run. And what more records than files may
 * describe are answered.
 * Usage: bun bench/configuration.ts [records] [rounds]. Prints a table and appends a line to bench/results/configuration.jsonl.
 */
import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startBenchServer } from "./ingest/server.ts";
import { quantile } from "./kql/quantile.ts";

const records = Number(process.argv[2] ?? 1_000);
const rounds = Number(process.argv[3] ?? 3);
const PLAN_MAX_MS = 2_000;
/** Of the one transaction that an apply is. */
const APPLY_MAX_MS = 10_000;
const TOO_MANY = 10_000;

type Resources = Record<string, Record<string, Record<string, unknown>>>;

const server = await startBenchServer();
const headers = { authorization: `Bearer ${server.token}`, "content-type": "application/json" };

/** As many of each of six kinds, most of what installations have many of; `changed` of all with another text. */
function resourcesOf(count: number, changed = 0): Resources {
  const kinds = 6;
  const each = (fields: (n: number, text: string) => Record<string, unknown>) =>
    Object.fromEntries(
      Array.from({ length: Math.floor(count / kinds) }, (_, n) => [
        `k${n}`,
        fields(n, n < changed / kinds ? "other" : "first"),
      ]),
    );
  return {
    "saved-searches": each((n, text) => ({ name: `Search ${n}`, q: text })),
    monitors: each((n, text) => ({
      ...{ name: `Monitor ${n}`, url: `https://host-${n}.example/${text}`, type: "https", intervalSec: 3600 },
      ...{
        timeoutMs: 5000,
        alertWebhookUrl: { secret: { value: `https://hooks.example/${n}` } },
        paused: true,
      },
    })),
    "log-alerts": each((n, text) => ({ name: `Rule ${n}`, query: `${text}${n}`, threshold: 5 })),
    assets: each((n, text) => ({ ip: `10.1.${n >> 8}.${n & 255}`, hostname: `${text}-${n}`, tags: ["web"] })),
    identities: each((n, text) => ({ principal: `person-${n}`, displayName: text, aliases: [`p${n}`] })),
    iocs: each((n, text) => ({ type: "domain", value: `evil-${n}.example`, description: text })),
  };
}

async function call(
  path: string,
  resources?: Resources,
  options = {},
): Promise<{ status: number; text: string }> {
  const body = resources === undefined ? null : JSON.stringify({ resources, ...options });
  const response = await fetch(`${server.url}/api/v1/${path}`, {
    headers,
    ...(body !== null && { method: "POST", body }),
  });
  return { status: response.status, text: await response.text() };
}

async function done(path: string, resources?: Resources, options = {}): Promise<string> {
  const began = performance.now();
  const { status, text } = await call(path, resources, options);
  if (status !== 200)
    throw new Error(
      `${path} answered ${status} after ${Math.round(performance.now() - began)} ms: ${text.slice(0, 500)}`,
    );
  return text;
}

async function lists(): Promise<void> {
  for (const path of ["saved-searches", "monitors", "log-alerts"]) await done(path);
  for (const path of ["assets", "identities", "iocs"]) {
    let cursor: string | null = "";
    while (cursor !== null) {
      const page: { nextCursor: string | null } = JSON.parse(
        await done(`${path}?limit=1000${cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`}`),
      );
      cursor = page.nextCursor;
    }
  }
}

const took: Record<string, { ms: number[]; cpuMs: number[] }> = {};
async function timed(name: string, work: () => Promise<unknown>): Promise<void> {
  const cpu = await server.metric("process_cpu_seconds_total");
  const began = performance.now();
  await work();
  const ms = performance.now() - began;
  const cpuMs = ((await server.metric("process_cpu_seconds_total")) - cpu) * 1000;
  took[name] ??= { ms: [], cpuMs: [] };
  took[name].ms.push(ms);
  took[name].cpuMs.push(cpuMs);
}

async function measure(): Promise<{ status: number; text: string }> {
  const wanted = resourcesOf(records);
  const tenth = resourcesOf(records, records / 10);
  const others = resourcesOf(records, records);
  for (let n = 0; n < rounds; n++) {
    await timed("plan, all to make", () => done("config/plan", wanted));
    await timed("apply, all to make", () => done("config/apply", wanted));
    await timed("the lists of the same", lists);
    await timed("plan, all as described", () => done("config/plan", wanted));
    await timed("plan, a tenth to change", () => done("config/plan", tenth));
    await timed("plan, all to change", () => done("config/plan", others));
    await timed("apply, all to change", () => done("config/apply", others));
    await timed("plan, all to prune", () => done("config/plan", {}, { prune: true }));
    await timed("apply, all to prune", () => done("config/apply", {}, { prune: true }));
  }
  return call("config/plan", resourcesOf(TOO_MANY));
}

const refused = await measure().finally(async () => {
  await server.stop();
  rmSync(server.dataDirectory, { recursive: true, force: true });
});
process.stdout.write(`${records} records of six kinds, ${rounds} rounds\n`);
for (const [name, { ms, cpuMs }] of Object.entries(took)) {
  const bound = name.startsWith("plan") ? PLAN_MAX_MS : name.startsWith("apply") ? APPLY_MAX_MS : null;
  const aim = bound === null ? "" : ` of at most ${bound}`;
  process.stdout.write(
    `${name.padEnd(26)}${quantile(ms, 0.5).toFixed(0)} ms${aim} (slowest ${Math.max(...ms).toFixed(0)}), server's CPU ${quantile(cpuMs, 0.5).toFixed(0)} ms\n`,
  );
}
process.stdout.write(`${`${TOO_MANY} records`.padEnd(26)}${refused.status} ${refused.text.slice(0, 200)}\n`);
const results = join(import.meta.dir, "results");
mkdirSync(results, { recursive: true });
appendFileSync(join(results, "configuration.jsonl"), `${JSON.stringify({ records, rounds, took })}\n`);
