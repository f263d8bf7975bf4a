/**
 * What it costs to plan files of many records: a quarter of it to make, all of it as described, and a tenth changed; beside reading the same
 * records by the routes that list them, in turns in one run. And what more records than files may describe are answered.
 * Usage: bun bench/configuration.ts [records] [rounds]. Prints a table and appends a line to bench/results/configuration.jsonl.
 */
import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startBenchServer } from "./ingest/server.ts";
import { quantile } from "./kql/quantile.ts";

const records = Number(process.argv[2] ?? 1_000);
const rounds = Number(process.argv[3] ?? 10);
const PLAN_MAX_MS = 2_000;
const TOO_MANY = 10_000;

type Resources = Record<string, Record<string, Record<string, unknown>>>;

const server = await startBenchServer();
const headers = { authorization: `Bearer ${server.token}`, "content-type": "application/json" };

/** A quarter of each of four kinds; `changed` of them with another text. */
function resourcesOf(count: number, changed = 0): Resources {
  const each = (fields: (n: number, text: string) => Record<string, unknown>) =>
    Object.fromEntries(
      Array.from({ length: Math.ceil(count / 4) }, (_, n) => [
        `k${n}`,
        fields(n, n < changed / 4 ? "other" : "first"),
      ]),
    );
  return {
    "saved-searches": each((n, text) => ({ name: `Search ${n}`, q: text })),
    assets: each((n, text) => ({ ip: `10.1.${n >> 8}.${n & 255}`, hostname: text, tags: ["web"] })),
    identities: each((n, text) => ({ principal: `person-${n}`, displayName: text })),
    iocs: each((n, text) => ({ type: "domain", value: `evil-${n}.example`, description: text })),
  };
}

async function call(path: string, resources?: Resources): Promise<{ status: number; text: string }> {
  const body = resources === undefined ? null : JSON.stringify({ resources });
  const response = await fetch(`${server.url}/api/v1/${path}`, {
    headers,
    ...(body !== null && { method: "POST", body }),
  });
  return { status: response.status, text: await response.text() };
}

async function done(path: string, resources?: Resources): Promise<string> {
  const began = performance.now();
  const { status, text } = await call(path, resources);
  if (status !== 200)
    throw new Error(
      `${path} answered ${status} after ${Math.round(performance.now() - began)} ms: ${text.slice(0, 500)}`,
    );
  return text;
}

async function lists(): Promise<void> {
  await done("saved-searches");
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
  const changed = resourcesOf(records, records / 10);
  // Each kind by itself: a plan tries what it would make, and all that is made at once has ten seconds.
  for (const [kind, each] of Object.entries(wanted)) {
    const part = { [kind]: each };
    await timed("plan, a quarter to make", () => done("config/plan", part));
    await timed("apply of a quarter", () => done("config/apply", part));
  }
  for (let n = 0; n < rounds; n++) {
    await timed("the lists", lists);
    await timed("plan, as described", () => done("config/plan", wanted));
    await timed("plan, a tenth changed", () => done("config/plan", changed));
  }
  return call("config/plan", resourcesOf(TOO_MANY));
}

const refused = await measure().finally(async () => {
  await server.stop();
  rmSync(server.dataDirectory, { recursive: true, force: true });
});
for (const [name, { ms, cpuMs }] of Object.entries(took)) {
  const aim = name.startsWith("plan") ? `, at most ${PLAN_MAX_MS}` : "";
  process.stdout.write(
    `${name.padEnd(24)}${quantile(ms, 0.5).toFixed(0)} ms (slowest ${Math.max(...ms).toFixed(0)}${aim}), server's CPU ${quantile(cpuMs, 0.5).toFixed(0)} ms\n`,
  );
}
process.stdout.write(`${`${TOO_MANY} records`.padEnd(24)}${refused.status} ${refused.text.slice(0, 200)}\n`);
const results = join(import.meta.dir, "results");
mkdirSync(results, { recursive: true });
appendFileSync(join(results, "configuration.jsonl"), `${JSON.stringify({ records, rounds, took })}\n`);
