/**
 * Search over HTTP through the real server on a table made from real log lines, and beside each question, in the same
 * run and in turn, hand-written SQL put to ClickHouse directly that answers the same: the entries and, where there are
 * more than a page holds, their number up to the product's limit, both asked for at once.
 * Usage: bun bench/search.ts [rows] [rounds]. Prints a table and appends a line to bench/results/search.jsonl.
 */
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TOTAL_MAX_ENTRIES } from "../src/domains/logs/limits.ts";
import { createLogger } from "../src/log.ts";
import { formatClickHouseUrl } from "../src/storage/clickhouse.ts";
import { basicAuthorization } from "../src/storage/embedded/clickhouse-config.ts";
import { openStores, type Stores } from "../src/storage/open.ts";
import { makeToken, startServer } from "../test/harness/server-process.ts";
import { type SearchCase, searchCases } from "./search/cases.ts";
import { copyIntoUnmergedParts, fillLogs } from "./search/fill.ts";

const rows = Number(process.argv[2] ?? 10_000_000);
const rounds = Number(process.argv[3] ?? 40);
const WARM_UP_ROUNDS = 3;
/** The first organization of a new server; most rows are its. */
const ORGANIZATION_ID = 1;
const COLUMNS =
  "id, ts, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys";

/** What ten seconds of full-speed ingest leave behind before it is merged. */
const UNMERGED_ROWS = 1_000_000;
const ASKED_OF_UNMERGED_PARTS = new Set([
  "newest 100, level=error",
  "frequent word",
  "phrase",
  "needle, one hit",
  "needle, no hit",
]);

type Ask = (round: number) => Promise<number>;

interface Timing {
  p50Ms: number;
  p99Ms: number;
  entries: number;
}

/** Asks in turn, so that whatever else the machine does hits all of them alike. */
async function measure(asks: readonly Ask[]): Promise<Timing[]> {
  const times: number[][] = asks.map(() => []);
  const entries = asks.map(() => 0);
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    for (const [i, ask] of asks.entries()) {
      const startMs = performance.now();
      const count = await ask(round + WARM_UP_ROUNDS);
      if (round >= 0) times[i]?.push(performance.now() - startMs);
      entries[i] = count;
    }
  }
  return times.map((list, i) => {
    list.sort((a, b) => a - b);
    const quantile = (q: number): number => list[Math.min(list.length - 1, Math.floor(list.length * q))] ?? 0;
    return { p50Ms: quantile(0.5), p99Ms: quantile(0.99), entries: entries[i] ?? 0 };
  });
}

interface ProductAnswer {
  entries?: unknown[];
  buckets?: { count: number }[];
  facets?: { values: unknown[] }[];
}

/** Entries of a page, buckets that are not empty, or values of facets: what the reference has as rows. */
function countIn({ entries, buckets, facets }: ProductAnswer): number {
  if (buckets !== undefined) return buckets.filter(({ count }) => count > 0).length;
  if (facets !== undefined) return facets.reduce((sum, { values }) => sum + values.length, 0);
  return entries?.length ?? 1;
}

function productAsk(url: string, token: string, { path }: SearchCase): Ask {
  return async (round) => {
    const response = await fetch(url + path(round), { headers: { authorization: `Bearer ${token}` } });
    const answer: ProductAnswer = JSON.parse(await response.text());
    if (response.status !== 200) throw new Error(`${response.status}: ${JSON.stringify(answer)}`);
    return countIn(answer);
  };
}

function referenceAsk(
  { clickhouseEndpoint: endpoint }: Stores,
  { path, where, counts, isSingle }: SearchCase,
): Ask {
  const url = `${endpoint.origin}/?database=${endpoint.database}&use_top_k_dynamic_filtering=0&use_skip_indexes_for_top_k=0`;
  const headers = { authorization: basicAuthorization(endpoint.user, endpoint.password) };
  return async (round) => {
    const limit = new URL(path(round), url).searchParams.get("limit") ?? "100";
    const from = `FROM logs WHERE organization_id = ${ORGANIZATION_ID} AND ${where(round)}`;
    const put = async (statement: string): Promise<number> => {
      const body = `${statement} FORMAT JSONCompact`;
      const response = await fetch(url, { method: "POST", headers, body });
      const answer: { data: unknown[] } = JSON.parse(await response.text());
      return answer.data.length;
    };
    if (counts !== undefined) return put(counts(from));
    const page = put(`SELECT ${COLUMNS} ${from} ORDER BY ts DESC, id DESC LIMIT ${limit}`);
    if (isSingle) return page;
    const [found] = await Promise.all([
      page,
      put(`SELECT count() FROM (SELECT 1 ${from} LIMIT ${TOTAL_MAX_ENTRIES + 1})`),
    ]);
    return found;
  };
}

async function someIds({ clickhouse }: Stores): Promise<string[]> {
  const result = await clickhouse.query({
    query: `SELECT id FROM logs WHERE organization_id = {organization:UInt32} ORDER BY cityHash64(id) LIMIT 50`,
    query_params: { organization: ORGANIZATION_ID },
    format: "JSONCompactEachRow",
  });
  return (await result.json<[string]>()).map(([id]) => id);
}

async function compare(searchCase: SearchCase, name: string): Promise<void> {
  const [product, reference] = await measure([
    productAsk(server.url, token, searchCase),
    referenceAsk(stores, searchCase),
  ]);
  if (product === undefined || reference === undefined) throw new Error("nothing was measured");
  if (product.entries !== reference.entries)
    throw new Error(`${name}: ${product.entries} entries, by hand ${reference.entries}`);
  results[name] = {
    entries: product.entries,
    p50Ms: round(product.p50Ms),
    p99Ms: round(product.p99Ms),
    handP50Ms: round(reference.p50Ms),
    handP99Ms: round(reference.p99Ms),
    ratio: round(product.p50Ms / reference.p50Ms),
  };
}

const directory = mkdtempSync(join(tmpdir(), "obs-bench-search-"));
const stores = await openStores(
  { dataDirectory: join(directory, "stores"), clickhouseUrl: null, databaseUrl: null, redisUrl: null },
  createLogger("silent"),
);
const fillStartMs = performance.now();
await fillLogs(stores.clickhouse, rows);
process.stdout.write(`${rows} rows in ${Math.round((performance.now() - fillStartMs) / 1000)} s\n`);

const server = await startServer({
  dataDirectory: join(directory, "server"),
  env: { CLICKHOUSE_URL: formatClickHouseUrl(stores.clickhouseEndpoint) },
});
const token = await makeToken(server.url);

const results: Record<string, object> = {};
const cases = searchCases(rows, await someIds(stores));
for (const searchCase of cases) await compare(searchCase, searchCase.name);
await copyIntoUnmergedParts(stores.clickhouse, Math.min(rows, UNMERGED_ROWS));
for (const searchCase of cases)
  if (ASKED_OF_UNMERGED_PARTS.has(searchCase.name))
    await compare(searchCase, `${searchCase.name}, unmerged parts`);
process.stdout.write(`${Bun.inspect.table(results)}\n`);
const report = { at: new Date().toISOString(), rows, rounds, results };
mkdirSync(join(import.meta.dir, "results"), { recursive: true });
appendFileSync(join(import.meta.dir, "results/search.jsonl"), `${JSON.stringify(report)}\n`);

await server.stop();
await stores.close();
rmSync(directory, { recursive: true, force: true });

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
