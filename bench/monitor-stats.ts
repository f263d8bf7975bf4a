/**
 * What reading the statistics of many monitors costs: 100 that were checked every 30 s for 30 days, and beside each question, in
 * the same run and in turn, SQL by hand that reads every check. Usage: bun bench/monitor-stats.ts [monitors] [days] [rounds].
 * Prints a table and appends a line to bench/results/monitor-stats.jsonl.
 */
import { appendFileSync, mkdirSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import type { ChecksOf } from "../src/domains/monitors/reads/check-plans.ts";
import { CheckRows } from "../src/domains/monitors/reads/check-rows.ts";
import { queryCaller } from "../test/harness/query-caller.ts";
import { openTestStores } from "../test/harness/stores.ts";
import { queryRunner } from "../test/query/query-store.ts";

const monitors = Number(process.argv[2] ?? 100);
const days = Number(process.argv[3] ?? 30);
const rounds = Number(process.argv[4] ?? 7);
const DAY_MS = 86_400_000;
const EVERY_SEC = 30;
const ORGANIZATION_ID = 1;

const stores = await openTestStores();
const { clickhouse } = stores;
const toMs = Math.floor(Date.now() / 1000) * 1000;
const fromMs = toMs - days * DAY_MS;
const rows = new CheckRows(queryRunner(stores));
const caller = queryCaller(undefined, ORGANIZATION_ID);
const of = Array.from(
  { length: monitors },
  (_, index): ChecksOf => ({ monitorId: index + 1, span: { fromMs, toMs } }),
);

/** Checks of a week more than are asked for; one of a hundred failed, and answers take some ten to a hundred milliseconds. */
async function fill(): Promise<void> {
  const perMonitor = Math.round(((days + 7) * DAY_MS) / 1000 / EVERY_SEC);
  await clickhouse.command({
    query: `
      INSERT INTO monitor_checks
        (organization_id, monitor_id, started_at, region, slot, status, duration_ms, status_code, error)
      SELECT ${ORGANIZATION_ID}, 1 + number % ${monitors} AS monitor,
        fromUnixTimestamp64Milli(${toMs} - intDiv(number, ${monitors}) * ${EVERY_SEC * 1000} - monitor, 'UTC') AS at,
        'local', at, if(rand(1) % 100 = 0, 'down', 'up'), 10 + rand(2) % 90000 / 1000, 200, ''
      FROM numbers(${perMonitor * monitors})`,
    clickhouse_settings: { max_partitions_per_insert_block: "1000" },
  });
  await clickhouse.command({ query: "OPTIMIZE TABLE monitor_checks FINAL" });
}

async function ask(select: string): Promise<number> {
  const answer = await clickhouse.query({
    query: `
      SELECT monitor_id, ${select} FROM monitor_checks
      WHERE organization_id = ${ORGANIZATION_ID} AND monitor_id BETWEEN 1 AND ${monitors}
        AND started_at >= fromUnixTimestamp64Milli(${fromMs}) AND started_at < fromUnixTimestamp64Milli(${toMs})
      GROUP BY monitor_id`,
    format: "JSONCompactEachRow",
  });
  return (await answer.json()).length;
}

const ANSWERED = "status IN ('up', 'degraded')";
const one = of[0];
if (one === undefined) throw new Error("at least one monitor");
const questions: Readonly<Record<string, () => Promise<number>>> = {
  "statistics of all": async () => (await rows.stats(caller, of)).size,
  "the same by hand": () =>
    ask(
      `sumIf(slots, status = 'up'), sumIf(slots, status = 'degraded'), sumIf(slots, status = 'down'), sum(slots),
       avgIf(duration_ms, ${ANSWERED}), minIf(duration_ms, ${ANSWERED}), maxIf(duration_ms, ${ANSWERED}),
       quantilesExactIf(0.5, 0.95, 0.99)(duration_ms, ${ANSWERED})`,
    ),
  "statistics of one": async () => (await rows.stats(caller, [one])).size,
  "timeline of one by days": async () => (await rows.buckets(caller, one, DAY_MS)).size,
};

try {
  await fill();
  const times = new Map(Object.keys(questions).map((name): [string, number[]] => [name, []]));
  for (let round = -1; round < rounds; round++)
    for (const [name, question] of Object.entries(questions)) {
      const beganMs = performance.now();
      await question();
      if (round >= 0) times.get(name)?.push(performance.now() - beganMs);
    }
  const table = [...times].map(([name, list]) => {
    const sorted = list.toSorted((left, right) => left - right);
    return {
      name,
      p50Ms: Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0),
      maxMs: Math.round(sorted.at(-1) ?? 0),
    };
  });
  process.stdout.write(
    `${table.map(({ name, p50Ms, maxMs }) => `${name.padEnd(34)} ${String(p50Ms).padStart(6)} ms, at most ${maxMs}`).join("\n")}\n`,
  );
  const results = join(import.meta.dir, "results");
  mkdirSync(results, { recursive: true });
  const report = { at: new Date().toISOString(), monitors, days, rounds, load: loadavg()[0], table };
  appendFileSync(join(results, "monitor-stats.jsonl"), `${JSON.stringify(report)}\n`);
} finally {
  await stores.close();
}
// The engines that suites share run until the process ends.
process.exit(0);
