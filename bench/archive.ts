/**
 * A day of entries archived, beside the same day in the log store, and beside hand-written SQL over the same file that answers
 * the same: each in turn in one run, over the embedded stores, without HTTP. By hand a page is read in two ways: as it is asked for, and as
 * whoever knows where it lies would.
 * Usage: bun bench/archive.ts [rows] [rounds]. Prints a table and appends a line to bench/results/archive.jsonl.
 */
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TOTAL_MAX_ENTRIES } from "../src/domains/logs/limits.ts";
import { basicAuthorization } from "../src/storage/embedded/clickhouse-config.ts";
import { DAY_MS, makeOrganization, testArchiver, unitsOf } from "../test/archive/archive-setup.ts";
import { archiveApp } from "../test/domains/logs/archive/archive-app.ts";
import { openTestStores } from "../test/harness/stores.ts";
import { fillLogs } from "./search/fill.ts";

const rows = Number(process.argv[2] ?? 400_000);
const rounds = Number(process.argv[3] ?? 31);
const WARM_UP_ROUNDS = 3;
const COLUMNS =
  "id, ts, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys";
/** Of the day all but its first and last second are asked for, as by whoever chooses an hour of it. */
const INSIDE_MS = 1_000;
/** Long after the day, so that it is archived. */
const LATER_MS = 400 * DAY_MS;

interface Question {
  readonly name: string;
  readonly ask: (organizationId: number) => Promise<Response>;
  /** What it comes to over `from`, whose rows are an organisation's. */
  readonly byHand: (from: string) => readonly string[];
  /** The same for whoever knows where the page lies. */
  readonly byHandWithin?: (from: string) => readonly string[];
}

const directory = mkdtempSync(join(tmpdir(), "obs-bench-archive-"));
const stores = await openTestStores();
try {
  await run();
} finally {
  await stores.close();
  rmSync(directory, { recursive: true, force: true });
}

async function run(): Promise<void> {
  const { clickhouse, postgres, clickhouseEndpoint: endpoint } = stores;
  const archived = await makeOrganization(stores);
  const hot = await makeOrganization(stores);
  await fillLogs(clickhouse, rows);
  await clickhouse.command({
    query: "ALTER TABLE logs DELETE WHERE organization_id != {archived: UInt32} SETTINGS mutations_sync = 1",
    query_params: { archived },
  });
  await clickhouse.command({
    query: "INSERT INTO logs SELECT * REPLACE ({hot: UInt32} AS organization_id) FROM logs",
    query_params: { hot },
  });
  await postgres`INSERT INTO log_retention (organization_id, days, rules, updated_at) VALUES (${hot}, 0, '[]', now())`;
  const archiver = testArchiver(stores, directory, { now: () => Date.now() + LATER_MS });
  await archiver.run();
  await clickhouse.command({ query: "OPTIMIZE TABLE logs FINAL" });
  const units = await unitsOf(stores, archived);
  const { app, from, to } = await ready(archived, archiver.files);
  const names = units.flatMap(({ file }) => (file === null ? [] : [file]));
  const { pattern, structure } = archiver.files.source(names);
  const where = `organization_id = ${archived} AND ts >= '${sqlTime(from)}' AND ts <= '${sqlTime(to)}'`;
  const inFiles = `FROM file('${pattern}', 'Parquet', '${structure.replaceAll("'", "\\'")}') WHERE ${where}`;
  const url = `${endpoint.origin}/?database=${endpoint.database}`;
  const headers = { authorization: basicAuthorization(endpoint.user, endpoint.password) };
  const put = async (statement: string): Promise<string> => {
    const response = await fetch(url, {
      method: "POST",
      headers,
      body: `${statement} FORMAT JSONCompactEachRow`,
    });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return text;
  };
  process.stdout.write(`${rows} rows, ${units.length} files\n`);
  const range = { from, to };
  const page = (parameters: Record<string, string>) => (organization: number) =>
    app.get("search", organization, { ...range, ...parameters });
  const query = (text: string) => (organization: number) =>
    app.query(organization, { query: text, ...range });
  const pageByHand = (condition: string) => (source: string) => [
    `SELECT ${COLUMNS} ${source} AND ${condition} ORDER BY ts DESC, id DESC LIMIT 101`,
    `SELECT count() FROM (SELECT 1 ${source} AND ${condition} LIMIT ${TOTAL_MAX_ENTRIES + 1})`,
  ];
  const pageWithin = async (condition: string) => {
    const first = JSON.parse(
      (
        await put(
          `SELECT toString(min(ts)) FROM (SELECT ts ${inFiles} AND ${condition} ORDER BY ts DESC, id DESC LIMIT 101)`,
        )
      ).trim(),
    )[0];
    return (source: string) => [
      `SELECT ${COLUMNS} ${source} AND ts >= '${first}' AND ${condition} ORDER BY ts DESC, id DESC LIMIT 101`,
    ];
  };
  const questions: Question[] = [
    { name: "newest 100", ask: page({}), byHand: pageByHand("1"), byHandWithin: await pageWithin("1") },
    {
      name: "newest 100 errors",
      ask: page({ level: "error" }),
      byHand: pageByHand("level = 'error'"),
      byHandWithin: await pageWithin("level = 'error'"),
    },
    {
      name: "newest 100 of a service",
      ask: page({ service: "linux-api" }),
      byHand: pageByHand("service = 'linux-api'"),
      byHandWithin: await pageWithin("service = 'linux-api'"),
    },
    {
      name: "a rare word",
      ask: page({ q: "authentication" }),
      byHand: pageByHand("lower(message) LIKE '%authentication%'"),
    },
    {
      name: "counts by service",
      ask: query("logs | summarize count() by service"),
      byHand: (source) => [`SELECT service, count() ${source} GROUP BY service`],
    },
    {
      name: "average of an attribute",
      ask: query("logs | summarize avg(todouble(attrs.duration_ms)) by level"),
      byHand: (source) => [
        `SELECT level, avg(toFloat64OrNull(attrs['duration_ms'])) ${source} GROUP BY level`,
      ],
    },
    {
      name: "histogram by hour",
      ask: (organization) => app.get("histogram", organization, { ...range, bucketSec: "3600" }),
      byHand: (source) => [
        `SELECT toStartOfHour(ts) AS start, level, count() ${source} GROUP BY start, level`,
      ],
    },
  ];
  const results = [];
  for (const { name, ask, byHand, byHandWithin } of questions) {
    const asks = [
      () => asked(ask(archived)),
      () => asked(ask(hot)),
      () => Promise.all(byHand(inFiles).map(put)),
      ...(byHandWithin === undefined ? [] : [() => Promise.all(byHandWithin(inFiles).map(put))]),
    ];
    const [own = 0, inStore = 0, hand = 0, within = 0] = await medians(asks);
    results.push({
      question: name,
      archivedMs: round(own),
      hotMs: round(inStore),
      byHandMs: round(hand),
      byHandWithinMs: round(within),
      ofHot: round(own / inStore),
      ofHand: round(own / hand),
    });
  }
  process.stdout.write(`${Bun.inspect.table(results)}\n`);
  mkdirSync(join(import.meta.dir, "results"), { recursive: true });
  appendFileSync(
    join(import.meta.dir, "results/archive.jsonl"),
    `${JSON.stringify({ at: new Date().toISOString(), rows, rounds, results })}\n`,
  );
}

async function ready(organization: number, files: ReturnType<typeof testArchiver>["files"]) {
  const app = archiveApp(stores, files);
  const [span] = await stores.postgres<{ first: string; last: string }[]>`
    SELECT min(min_ts)::text AS first, max(max_ts)::text AS last FROM log_archive_units WHERE organization_id = ${organization}`;
  const time = (ns: string | undefined, more: number): string =>
    new Date(Number(BigInt(ns ?? 0) / 1_000_000n) + more).toISOString();
  return { app, from: time(span?.first, INSIDE_MS), to: time(span?.last, -INSIDE_MS) };
}

async function asked(answer: Promise<Response>): Promise<void> {
  const response = await answer;
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
}

/** In turn, so that whatever else the machine does hits all alike. */
async function medians(asks: readonly (() => Promise<unknown>)[]): Promise<number[]> {
  const times: number[][] = asks.map(() => []);
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++)
    for (const [i, ask] of asks.entries()) {
      const startMs = performance.now();
      await ask();
      if (round >= 0) times[i]?.push(performance.now() - startMs);
    }
  return times.map((list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0);
}

function sqlTime(iso: string): string {
  return iso.replace("T", " ").replace("Z", "");
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
