/**
 * Patterns of log messages. How well lines are grouped, beside the groups that people made, and lines mined per second
 * on one core; then patterns over HTTP through the real server on a table made from real log lines, and beside it, in
 * turn, what they would cost without the store's help: every message read and mined.
 * Usage: bun bench/patterns.ts [rows] [rounds]. Prints tables and appends a line to bench/results/patterns.jsonl.
 */
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "../src/log.ts";
import { formatClickHouseUrl } from "../src/storage/clickhouse.ts";
import { openStores } from "../src/storage/open.ts";
import { makeToken, startServer } from "../test/harness/server-process.ts";
import { fillManyForms, MANY_FORMS_DAY, MANY_FORMS_ORGANIZATION_ID } from "./patterns/many-forms.ts";
import { median } from "./patterns/median.ts";
import { measureMadeSystems, measureMining } from "./patterns/mining.ts";
import { askPatterns, mineEverything, type PatternRequest } from "./patterns/requests.ts";
import { fillLogs } from "./search/fill.ts";
import { dayStartMs } from "./storage/rows.ts";

const rows = Number(process.argv[2] ?? 1_000_000);
const rounds = Number(process.argv[3] ?? 7);
/** The first organization of a new server; most rows are its. */
const FIRST_ORGANIZATION_ID = 1;
/** The reference is so slow that fewer rounds have to do. */
const NAIVE_ROUNDS = 3;
const HOUR_MS = 3_600_000;

const mining = measureMining(rounds);
const made = measureMadeSystems();
process.stdout.write(`${Bun.inspect.table(mining.systems)}\n${JSON.stringify(mining.all)}\n`);
process.stdout.write(`${Bun.inspect.table(made)}\n`);

const directory = mkdtempSync(join(tmpdir(), "obs-bench-patterns-"));
const stores = await openStores(
  { dataDirectory: join(directory, "stores"), clickhouseUrl: null, databaseUrl: null, redisUrl: null },
  createLogger("silent"),
);
await fillLogs(stores.clickhouse, rows);
await fillManyForms(stores.clickhouse, rows);
const server = await startServer({
  dataDirectory: join(directory, "server"),
  env: { CLICKHOUSE_URL: formatClickHouseUrl(stores.clickhouseEndpoint) },
});
const real = { organizationId: FIRST_ORGANIZATION_ID, token: await makeToken(server.url) };
const many = { organizationId: MANY_FORMS_ORGANIZATION_ID, token: await makeToken(server.url) };
const requests: Record<string, PatternRequest> = {
  "real lines, a day": { ...real, ...span(dayStartMs, 24) },
  "real lines, half a day": { ...real, ...span(dayStartMs + 12 * HOUR_MS, 12) },
  "half of the lines unlike all others": { ...many, ...span(Date.parse(MANY_FORMS_DAY), 24) },
};

const results: Record<string, object> = {};
for (const [name, request] of Object.entries(requests)) {
  const times: number[] = [];
  const naiveTimes: number[] = [];
  let entries = 0;
  let patterns = 0;
  let naive = { messages: 0, forms: 0, patterns: 0 };
  for (let round = -1; round < rounds; round++) {
    const startMs = performance.now();
    const answer = await askPatterns(server.url, request);
    const answeredMs = performance.now();
    // Hundreds of thousands of forms take the reference minutes.
    if (request.organizationId === FIRST_ORGANIZATION_ID && round < NAIVE_ROUNDS)
      naive = await mineEverything(stores.clickhouseEndpoint, request);
    if (round >= 0) times.push(answeredMs - startMs);
    if (round >= 0 && naive.messages > 0 && round < NAIVE_ROUNDS)
      naiveTimes.push(performance.now() - answeredMs);
    const counted = answer.patterns.reduce((sum, { count }) => sum + count, answer.other.count);
    if (counted !== answer.total || (naive.messages > 0 && naive.messages !== counted))
      throw new Error(
        `${name}: ${counted} entries in patterns, ${answer.total} in all, ${naive.messages} read`,
      );
    entries = answer.total;
    patterns = answer.patterns.length + answer.other.patterns;
  }
  results[name] = {
    entries,
    entriesBefore: (await askPatterns(server.url, request)).previousTotal,
    patterns,
    forms: naive.forms > 0 ? naive.forms : null,
    medianMs: Math.round(median(times)),
    maxMs: Math.round(Math.max(...times)),
    readingEverythingMs: naiveTimes.length === 0 ? null : Math.round(median(naiveTimes)),
  };
}
process.stdout.write(`${Bun.inspect.table(results)}\n`);
const report = { at: new Date().toISOString(), rows, rounds, mining, made, results };
mkdirSync(join(import.meta.dir, "results"), { recursive: true });
appendFileSync(join(import.meta.dir, "results/patterns.jsonl"), `${JSON.stringify(report)}\n`);

await server.stop();
await stores.close();
rmSync(directory, { recursive: true, force: true });

function span(fromMs: number, hours: number): { from: string; to: string } {
  return {
    from: new Date(fromMs).toISOString(),
    to: new Date(fromMs + hours * HOUR_MS - 1).toISOString(),
  };
}
