/**
 * Looking for a new list of indicators in what was seen before, the neighbours of entities in a large graph by the route, and what
 * indicators that a person made take in the store; beside each, in the same run, the plainest statement that reads the same.
 * Usage: bun bench/iocs.ts [observables] [indicators] [edges] [entities] [known indicators]. Whole: 10000000 100000 10000000 1000000 1000000.
 * Prints a table and appends a line to bench/results/iocs.jsonl.
 */
import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { RetroHunt } from "../src/entities/indicators/retro-hunt.ts";
import { createLogger } from "../src/log.ts";
import { readRows } from "../src/rules/seal/read-rows.ts";
import { iocServer } from "../test/domains/iocs/ioc-server.ts";
import { openTestStores } from "../test/harness/stores.ts";
import { median } from "./patterns/median.ts";

const [observables = 1_000_000, indicators = 10_000, edges = 1_000_000, entities = 100_000, known = 100_000] =
  process.argv.slice(2).map(Number);
const SAMPLES = 200;
const NEVER = new AbortController().signal;
const log = createLogger("silent");
const stores = await openTestStores();
const { postgres: sql, clickhouseEndpoint: endpoint } = stores;

async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

const command = (query: string) => stores.clickhouse.command({ query });
await sql`INSERT INTO organizations (id, name, created_at) OVERRIDING SYSTEM VALUE VALUES (1, 'bench', now())`;
// What was seen in 90 days: domains, each on one of a thousand machines.
await command(`
  INSERT INTO signals (organization_id, kind, key, group_hash, bucket, value_hash, n, last_id, sealed_day, label, first_ms, last_ms)
  SELECT 1, 'observable', xxHash64(concat('domain\\t', name)), number, now64(9) - toIntervalDay(number % 90), 0, 1, number, today(),
    concat('domain\\t', name, '\\thost\\tweb-', toString(number % 1000)), toUnixTimestamp(now()) * 1000, toUnixTimestamp(now()) * 1000
  FROM (SELECT number, concat('host-', toString(number), '.example.com') AS name FROM numbers(${observables}))`);
const beginBatch = () => sql`
  INSERT INTO ioc_batches (organization_id, from_revision, hunted_through) VALUES (1, 1, (SELECT coalesce(max(id), 0) FROM iocs))`;
await beginBatch();
// One in ten was seen.
await sql`
  INSERT INTO iocs (organization_id, type, value, created_at, updated_at)
  SELECT 1, 'domain', CASE WHEN n % 10 = 0 THEN 'host-' || n || '.example.com' ELSE 'never-' || n || '.example.org' END,
    now(), now()
  FROM generate_series(1, ${indicators}::integer) AS n`;
await sql`ANALYZE iocs`;
const hunt = new RetroHunt({ sql, endpoint, onHits: () => undefined, now: Date.now, log });
const huntMs = await timed(async () => {
  while (await hunt.workOnce(NEVER));
});
const [hits] = await sql<{ n: number }[]>`SELECT count(*)::integer AS n FROM iocs WHERE hits > 0`;
const joinMs = await timed(() =>
  readRows(
    endpoint,
    `SELECT count() FROM signals WHERE organization_id = 1 AND kind = 'observable' AND key IN
       (SELECT xxHash64(concat('domain\\t', if(number % 10 = 0, 'host-', 'never-'), toString(number), if(number % 10 = 0, '.example.com', '.example.org')))
        FROM numbers(${indicators}))`,
    {},
    NEVER,
  ),
);

// As many addresses as a tenth of the domains, and ranges of several lengths; beside them a hundred of the ranges, each held against each.
await command(`
  INSERT INTO signals (organization_id, kind, key, group_hash, bucket, value_hash, n, last_id, sealed_day, label, first_ms, last_ms)
  SELECT 1, 'observable', xxHash64(concat('ip\\t', name)), number, now64(9) - toIntervalDay(number % 90), 0, 1, number, today(),
    concat('ip\\t', name, '\\thost\\tweb-', toString(number % 1000)), toUnixTimestamp(now()) * 1000, toUnixTimestamp(now()) * 1000
  FROM (SELECT number, IPv4NumToString(toUInt32(cityHash64(number) % 3758096384)) AS name FROM numbers(${Math.ceil(observables / 10)}))`);
const RANGES = 1000;
const rangeOf = (i: number) => `${20 + (i % 180)}.${i % 250}.${((i * 7) % 62) * 4}.0/${22 + (i % 3)}`;
await beginBatch();
await sql`
  INSERT INTO iocs (organization_id, type, value, prefix_bits, created_at, updated_at)
  SELECT DISTINCT ON (value) 1, 'ip', value, split_part(value, '/', 2)::smallint, now(), now()
  FROM unnest(${Array.from({ length: RANGES }, (_, i) => rangeOf(i))}::text[]) AS value`;
const rangesMs = await timed(async () => {
  while (await hunt.workOnce(NEVER));
});
const eachRangeMs = await timed(() =>
  readRows(
    endpoint,
    `SELECT label FROM signals WHERE organization_id = 1 AND kind = 'observable' AND startsWith(label, 'ip\\t')
       AND arrayExists(r -> isIPAddressInRange(splitByChar('\\t', label)[2], r), {ranges: Array(String)}) GROUP BY label`,
    { ranges: `[${Array.from({ length: 100 }, (_, i) => `'${rangeOf(i)}'`).join()}]` },
    NEVER,
  ),
);
const [inRanges] = await sql<{ n: number }[]>`
  SELECT count(*)::integer AS n FROM iocs WHERE prefix_bits IS NOT NULL AND hits > 0`;

// Edges are read from both their ends; the busiest entities have thousands.
await sql`
  INSERT INTO entities (organization_id, type, key, name, first_seen, last_seen)
  SELECT 1, 'host', 'h' || n, 'h' || n, now(), now() FROM generate_series(0, ${entities - 1}::integer) AS n`;
await sql`ANALYZE entities`;
await command(`
  INSERT INTO signals (organization_id, kind, key, group_hash, bucket, value_hash, n, last_id, sealed_day, label, first_ms, last_ms)
  SELECT 1, 'edge', xxHash64(concat('edges\\thost\\th', toString(self))), number, now64(9), 0, 1, number, today(),
    concat('uses\\tout\\thost\\th', toString(self), '\\tdomain\\td', toString(number), '.example.com'),
    toUnixTimestamp(now()) * 1000, toUnixTimestamp(now()) * 1000
  FROM (SELECT number, toUInt64(floor(${entities} * pow(rand() / 4294967296, 4))) AS self FROM numbers(${edges}))`);
const [{ first } = { first: 0 }] = await sql<{ first: number }[]>`
  SELECT min(id)::integer AS first FROM entities WHERE key LIKE 'h%'`;
const server = await iocServer(stores);
const [own, plain]: [number[], number[]] = [[], []];
let most = 0;
for (let sample = 0; sample < SAMPLES; sample++) {
  // Of all ranks, the busiest more often than others: of a million entities seven samples are of the one that has most.
  const place = Math.min(entities - 1, Math.floor(entities * (sample / SAMPLES) ** 4));
  const id = first + place;
  own.push(
    await timed(async () => {
      const { body } = await server.send(1, "GET", `/api/v1/context/entity/${id}/neighbors`);
      most = Math.max(most, body.total);
    }),
  );
  plain.push(
    await timed(() =>
      readRows(
        endpoint,
        `SELECT label, n FROM signals WHERE organization_id = 1 AND kind = 'edge' AND key = xxHash64('edges\\thost\\th${place}') LIMIT 200`,
        {},
        NEVER,
      ),
    ),
  );
}
const p99 = (all: readonly number[]) => all.toSorted((a, b) => a - b)[Math.floor(all.length * 0.99)] ?? 0;

const sizeOf = async () => {
  const [row] = await sql<{ bytes: number }[]>`SELECT pg_total_relation_size('iocs')::float8 AS bytes`;
  return row?.bytes ?? 0;
};
const before = await sizeOf();
await sql`
  INSERT INTO iocs (organization_id, type, value, created_at, updated_at)
  SELECT 1, 'hash', md5(n::text), now(), now() FROM generate_series(1, ${known}::integer) AS n`;
const bytesEach = ((await sizeOf()) - before) / known;

const results = [
  {
    what: `${indicators} new indicators in ${observables} observables, ms`,
    own: Math.round(huntMs),
    plain: Math.round(joinMs),
    found: hits?.n ?? 0,
  },
  {
    what: `${RANGES} new ranges in ${Math.ceil(observables / 10)} addresses; plain: 100 of them, ms`,
    own: Math.round(rangesMs),
    plain: Math.round(eachRangeMs),
    found: inRanges?.n ?? 0,
  },
  {
    what: `neighbours at ${entities} entities, ${edges} edges, p50 ms`,
    own: Math.round(median(own)),
    plain: Math.round(median(plain)),
    found: most,
  },
  { what: "neighbours, p99 ms", own: Math.round(p99(own)), plain: Math.round(p99(plain)), found: most },
  { what: "1 000 000 MD5 in the store, MB", own: Math.round(bytesEach), plain: 0, found: known },
];
process.stdout.write(`${Bun.inspect.table(results)}\n`);
mkdirSync(join(import.meta.dir, "results"), { recursive: true });
appendFileSync(
  join(import.meta.dir, "results/iocs.jsonl"),
  `${JSON.stringify({ at: new Date().toISOString(), results })}\n`,
);
await stores.close();
process.exit(0);
