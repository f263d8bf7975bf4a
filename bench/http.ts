/**
 * Requests a second of an authenticated GET with role, scope and rate limit, beside a bare Elysia route with the same
 * body, in turns in one run; and how many statements Postgres sees meanwhile. Servers and load are processes of their own.
 * Usage: bun bench/http.ts [rounds] [milliseconds of a turn]. Prints a report and appends a line to bench/results/http.jsonl.
 */
import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { hashToken, mintPersonalAccessToken } from "../src/access/secret-token.ts";
import { findFreePort } from "../src/storage/embedded/free-port.ts";
import { eventually } from "../test/harness/eventually.ts";
import { openTestStores } from "../test/harness/stores.ts";
import { quantile } from "./kql/quantile.ts";
import { startLineProcess } from "./tail/child.ts";

const rounds = Number(process.argv[2] ?? 5);
const turnMs = Number(process.argv[3] ?? 3_000);
const CONNECTIONS = 32;

const stores = await openTestStores();
const token = mintPersonalAccessToken();
await stores.postgres`
  WITH person AS (
    INSERT INTO users (email, created_at) VALUES ('bench@example.com', now()) RETURNING id
  ), organization AS (
    INSERT INTO organizations (name, created_at) VALUES ('bench', now()) RETURNING id
  ), member AS (
    INSERT INTO memberships (organization_id, user_id, role, created_at)
    SELECT organization.id, person.id, 'viewer', now() FROM organization, person RETURNING organization_id, user_id
  )
  INSERT INTO personal_access_tokens (organization_id, user_id, token_hash, name, prefix, scopes, created_at)
  SELECT organization_id, user_id, ${hashToken(token)}, 'bench', ${token.slice(0, 12)}, '{logs:read}', now() FROM member`;

const script = (name: string): string => join(import.meta.dir, "http", name);

interface Server {
  readonly url: string;
  stop(): void;
}

/** Starts one of the two programs and resolves when it listens. What it writes goes nowhere. */
async function start(name: string, ...options: string[]): Promise<Server> {
  const port = await findFreePort();
  const command = [process.execPath, script(name), ...options, String(port)];
  const child = Bun.spawn(command, { stdin: "ignore", stdout: "ignore", stderr: "inherit" });
  const url = `http://127.0.0.1:${port}/api/v1/things`;
  await eventually(`${name} listens`, () =>
    fetch(url).then(
      () => true,
      () => false,
    ),
  );
  return { url, stop: () => child.kill() };
}

const servers = {
  bare: await start("bare.ts"),
  guarded: await start("guarded.ts", stores.postgresUrl, "info"),
  "guarded, no log of requests": await start("guarded.ts", stores.postgresUrl, "warn"),
};
const names = ["bare", "guarded", "guarded, no log of requests"] as const;

async function requestsPerSecond(name: (typeof names)[number], ms: number): Promise<number> {
  const { url } = servers[name];
  const load = startLineProcess([
    process.execPath,
    script("load.ts"),
    url,
    token,
    String(CONNECTIONS),
    String(ms),
  ]);
  const { requests, seconds }: { requests: number; seconds: number } = JSON.parse(await load.line());
  await load.end();
  return requests / seconds;
}

async function transactions(): Promise<number> {
  await stores.postgres`SELECT pg_stat_clear_snapshot()`;
  const [row] = await stores.postgres<{ committed: string }[]>`
    SELECT xact_commit AS committed FROM pg_stat_database WHERE datname = current_database()`;
  return Number(row?.committed ?? 0);
}

for (const name of names) await requestsPerSecond(name, 1_000);
const before = await transactions();
const measured = new Map<string, number[]>(names.map((name) => [name, []]));
for (let round = 0; round < rounds; round++)
  for (const name of names) measured.get(name)?.push(await requestsPerSecond(name, turnMs));
const statements = (await transactions()) - before;

const median = (name: string): number => quantile(measured.get(name) ?? [], 0.5);
const ratios = (name: string): number[] =>
  (measured.get(name) ?? []).map((value, round) => value / (measured.get("bare")?.[round] ?? Number.NaN));
for (const name of names) {
  process.stdout.write(
    `${name.padEnd(30)} ${median(name).toFixed(0).padStart(8)} requests/s   ratio ${quantile(ratios(name), 0.5).toFixed(2)}\n`,
  );
}
process.stdout.write(`transactions in Postgres meanwhile: ${statements}\n`);
const results = join(import.meta.dir, "results");
mkdirSync(results, { recursive: true });
appendFileSync(
  join(results, "http.jsonl"),
  `${JSON.stringify({
    at: new Date().toISOString(),
    rounds,
    turnMs,
    requestsPerSecond: Object.fromEntries(names.map((name) => [name, Math.round(median(name))])),
    ratio: Object.fromEntries(names.slice(1).map((name) => [name, quantile(ratios(name), 0.5)])),
    statements,
  })}\n`,
);
for (const name of names) servers[name].stop();
await stores.close();
process.exit(0);
