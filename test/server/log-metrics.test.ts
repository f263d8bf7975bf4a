/** What a log metric counts is what a search finds, to the entry: at any moment, whoever dies, wherever entries come in. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "../harness/eventually.ts";
import { makeToken, type ServerProcess, startServer } from "../harness/server-process.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../harness/temporary-directory.ts";

const ROUNDS = 4;
const PER_REQUEST = 40;
const REQUESTS = 30;
const DAY_MS = 86_400_000;
const BUCKET_SEC = 3600;

let stores: TestStores;
let directories: readonly [TemporaryDirectory, TemporaryDirectory];
let servers: [ServerProcess, ServerProcess];
let token: string;
let fromMs: number;
let toMs: number;

beforeAll(async () => {
  stores = await openTestStores();
  directories = [temporaryDirectory(), temporaryDirectory()];
  servers = [await start(0), await start(1)];
  token = await makeToken(servers[0].url);
  const hourMs = BUCKET_SEC * 1000;
  toMs = Math.ceil((Date.now() + DAY_MS) / hourMs) * hourMs;
  fromMs = toMs - 20 * DAY_MS;
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  for (const directory of directories) directory[Symbol.dispose]();
  await stores.close();
});

function start(index: 0 | 1): Promise<ServerProcess> {
  return startServer({
    dataDirectory: directories[index].path,
    env: { DATABASE_URL: stores.postgresUrl, CLICKHOUSE_URL: stores.clickhouseUrl },
  });
}

async function ask<T>(index: 0 | 1, method: string, path: string, json?: unknown): Promise<T> {
  const response = await fetch(`${servers[index].url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
  return JSON.parse(text);
}

/** Entries of any time of two weeks, in no order; every other one is counted by the metric. */
function entries(count: number): unknown[] {
  return Array.from({ length: count }, (_, i) => ({
    ts: new Date(toMs - 2 * DAY_MS - Math.random() * 14 * DAY_MS).toISOString(),
    level: i % 3 === 0 ? "error" : "info",
    service: "checkout",
    message: i % 2 === 0 ? `payment ${i} failed` : `payment ${i} took 3 ms`,
  }));
}

/** Sends until somebody dies of it. */
async function send(index: 0 | 1, requests: number): Promise<void> {
  for (let i = 0; i < requests; i++) {
    const sent = await ask(index, "POST", "/logs/ingest", entries(PER_REQUEST)).catch(() => null);
    if (sent === null) return;
  }
}

interface Metric {
  readonly id: number;
}

type Points = readonly (readonly [start: number, value: number])[];

async function seriesOf(index: 0 | 1, { id }: Metric): Promise<Points> {
  const range = `from=${new Date(fromMs).toISOString()}&to=${new Date(toMs - 1).toISOString()}`;
  const { points } = await ask<{ points: { start: string; value: number }[] }>(
    index,
    "GET",
    `/log-metrics/${id}/series?${range}&bucketSec=${BUCKET_SEC}`,
  );
  return points.map(({ start, value }) => [Date.parse(start), value]);
}

async function searched(index: 0 | 1, q: string): Promise<Points> {
  const range = `from=${new Date(fromMs).toISOString()}&to=${new Date(toMs - 1).toISOString()}`;
  const { buckets } = await ask<{ buckets: { start: string; count: number }[] }>(
    index,
    "GET",
    `/logs/histogram?q=${encodeURIComponent(q)}&${range}&bucketSec=${BUCKET_SEC}`,
  );
  return buckets.map(({ start, count }) => [Date.parse(start), count]);
}

const sumOf = (points: Points): number => points.reduce((sum, [, value]) => sum + value, 0);

/** Whether a search finds what the series says; what is in a log may be stored between two questions. */
async function isWhatIsFound(index: 0 | 1, metric: Metric): Promise<boolean> {
  const before = await searched(index, "failed");
  const series = await seriesOf(index, metric);
  const after = await searched(index, "failed");
  return sumOf(before) === sumOf(after) && Bun.deepEquals(series, after);
}

async function countedOf({ id }: Metric): Promise<number> {
  const [row] = await stores.postgres<{ counter: number }[]>`
    SELECT counter_id::integer AS counter FROM log_metrics WHERE id = ${id}`;
  const answer = await stores.clickhouse.query({
    query: "SELECT sum(n) AS n FROM signals WHERE kind = 'count' AND key = {key: UInt64}",
    query_params: { key: row?.counter ?? 0 },
    format: "JSONEachRow",
  });
  const [{ n } = { n: 0 }] = await answer.json<{ n: string | number }>();
  return Number(n);
}

test("a series is what a search finds, from the first second and over kill -9 of either instance", async () => {
  await Promise.all([send(0, REQUESTS), send(1, REQUESTS)]);
  const failed = await ask<Metric>(0, "POST", "/log-metrics", { name: "failed", query: "failed" });
  await eventually("the series is what a search finds", () => isWhatIsFound(1, failed));
  // Two that count the same entries, of which one begins in the middle.
  let errors: Metric | null = null;
  for (let round = 0; round < ROUNDS; round++) {
    const victim = round % 2 === 0 ? 0 : 1;
    const sending = Promise.all([send(0, REQUESTS), send(1, REQUESTS)]);
    if (round === 1) errors = await ask<Metric>(0, "POST", "/log-metrics", { name: "all", query: "payment" });
    await Bun.sleep(Math.random() * 2_000);
    servers[victim].kill("SIGKILL");
    await servers[victim].exited;
    await sending;
    servers[victim] = await start(victim);
    await eventually("every series is what a search finds", () =>
      isWhatIsFound(victim === 0 ? 1 : 0, failed),
    );
  }
  if (errors === null) throw new Error("no second metric");
  const all = errors;
  await eventually("everything is counted, and once", async () => {
    const [found, total] = [sumOf(await searched(0, "failed")), sumOf(await searched(0, "payment"))];
    return (await countedOf(failed)) === found && (await countedOf(all)) === total;
  });
  expect(await seriesOf(0, failed)).toEqual(await searched(0, "failed"));
  expect(await seriesOf(1, all)).toEqual(await searched(1, "payment"));
});
