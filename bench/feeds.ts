/**
 * What a large feed costs: reading it first, reading it again when nothing or a part of it changed, deleting it, and what its indicators take in the
 * store with everything about them, after half of them came by the feed and half as files.
 * Usage: bun bench/feeds.ts [indicators] [wrong rows]. Whole: 1000000 0, and 500000 500000 for a feed of which half is wrong.
 * Prints a table and appends a line to bench/results/feeds.jsonl.
 */
import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { CHANGE_MAX_INDICATORS } from "../src/entities/indicators/limits.ts";
import { iocServer, PATH } from "../test/domains/iocs/ioc-server.ts";
import { openTestStores } from "../test/harness/stores.ts";

const [indicators = 100_000, wrong = 0] = process.argv.slice(2).map(Number);
const ORGANIZATION_ID = 1;
const stores = await openTestStores();
const { postgres: sql } = stores;
const server = await iocServer(stores);
await sql`INSERT INTO organizations (id, name, created_at) OVERRIDING SYSTEM VALUE VALUES (1, 'bench', now())`;

/** As lists have them: four addresses and three domains to three SHA-256, in no order. */
function indicatorAt(place: number): string {
  const hash = Bun.hash.xxHash64(String(place));
  if (place % 10 < 4)
    return `${11 + (place % 100)}.${(place >> 16) & 255}.${(place >> 8) & 255}.${place & 255}`;
  if (place % 10 < 7) return `${hash.toString(36)}.host-${place % 1000}.example.com`;
  return new Bun.CryptoHasher("sha256").update(String(place)).digest("hex");
}

let served = "";
const feedServer = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(served) });
const results: Record<string, number | string>[] = [];
let peakMiB = 0;

/** Asks the feed once; seconds of the clock and of this process, and the most memory that it had. */
async function refresh(what: string): Promise<void> {
  await sql`UPDATE ioc_feeds SET next_fetch_at = now(), etag = NULL`;
  Bun.gc(true);
  peakMiB = 0;
  const beforeMiB = process.memoryUsage().rss / 2 ** 20;
  const watch = setInterval(() => {
    peakMiB = Math.max(peakMiB, process.memoryUsage().rss / 2 ** 20);
  }, 20);
  const cpu = process.cpuUsage();
  const from = performance.now();
  await server.fetchFeeds();
  const seconds = (performance.now() - from) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  clearInterval(watch);
  const [feed] = await sql<{ status: string; added: number; expired: number; rejected: number }[]>`
    SELECT status, added, expired, rejected FROM ioc_feeds`;
  results.push({
    what,
    seconds: round(seconds),
    "CPU s of the server": round((user + system) / 1e6),
    "MiB more": Math.round(peakMiB - beforeMiB),
    MB: round(await megabytes()),
    ...feed,
  });
}

/** Deletes the feed, and says how long it takes until what it alone listed has expired. */
async function remove(): Promise<void> {
  const [feed] = await sql<{ id: number }[]>`SELECT id::integer FROM ioc_feeds`;
  const from = performance.now();
  const { status } = await server.send(ORGANIZATION_ID, "DELETE", `${PATH}/feeds/${feed?.id}`);
  const answeredSec = (performance.now() - from) / 1000;
  await server.fetchFeeds();
  const [{ n = 0 } = {}] = await sql<{ n: number }[]>`
    SELECT count(*)::integer AS n FROM iocs WHERE expires_at IS NULL AND NOT by_person`;
  results.push({
    what: `the feed is deleted, answered ${status} after ${round(answeredSec)} s`,
    seconds: round((performance.now() - from) / 1000),
    MB: round(await megabytes()),
    "active still": n,
  });
}

/** Tables of indicators and listings with their indexes, without batches, hits and feeds, which are few. */
async function megabytes(): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`
    SELECT (pg_total_relation_size('iocs') + pg_total_relation_size('ioc_feed_listings'))::float8 AS bytes`;
  return (row?.bytes ?? 0) / 1e6;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

const half = indicators / 2;
const rows = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => indicatorAt(from + i));
const bad = Array.from({ length: wrong }, (_, i) => (i % 2 === 0 ? `999.1.2.${i}` : `no indicator ${i}`));
await server.send(ORGANIZATION_ID, "POST", `${PATH}/feeds`, {
  ...{ name: "Feed of the bench", url: `http://127.0.0.1:${feedServer.port}/`, format: "csv" },
});
if (wrong > 0) {
  served = [...rows(0, indicators), ...bad].join("\n");
  await refresh(`${indicators} and ${wrong} wrong, first`);
} else {
  served = rows(0, half).join("\n");
  await refresh(`${half} of a feed, first`);
  for (let from = half; from < indicators; from += CHANGE_MAX_INDICATORS) {
    const file = rows(from, Math.min(indicators, from + CHANGE_MAX_INDICATORS)).join("\n");
    const { status, body } = await server.upload(ORGANIZATION_ID, `${PATH}/import?format=csv`, file);
    if (status !== 200) throw new Error(JSON.stringify(body));
  }
  results.push({ what: `and ${half} as files`, MB: round(await megabytes()) });
  await refresh("the feed again, unchanged");
  served = rows(0, indicators).join("\n");
  await refresh(`the feed has all ${indicators}`);
  await refresh("again, unchanged");
  await refresh("again, unchanged");
  served = rows(0, half).join("\n");
  await refresh(`the feed has ${half} again`);
}
await remove();
const sizes = await sql<{ name: string; mb: number }[]>`
  SELECT c.relname AS name, pg_relation_size(c.oid) / 1e6 AS mb FROM pg_class c
  WHERE c.relname LIKE 'iocs%' OR c.relname LIKE 'ioc_feed_listings%' ORDER BY 2 DESC`;
await feedServer.stop(true);
await stores.close();
process.stdout.write(`${Bun.inspect.table(results)}\n${Bun.inspect.table([...sizes])}\n`);
mkdirSync(join(import.meta.dir, "results"), { recursive: true });
appendFileSync(
  join(import.meta.dir, "results/feeds.jsonl"),
  `${JSON.stringify({ at: new Date().toISOString(), results })}\n`,
);
process.exit(0);
