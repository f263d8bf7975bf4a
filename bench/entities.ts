/**
 * What finding entities, observables and indicators costs a seal: the same real log lines of two organisations are looked through in turn,
 * of which one looks for many indicators, and in turn with them the plainest statement that reads the same texts.
 * Usage: bun bench/entities.ts [rows] [indicators] [rounds]. Whole: 100000 1000000 7. Processor time is that of this process, which is the
 * server's, and of both stores. Prints a table of medians and appends a line to bench/results/entities.jsonl.
 */
import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { firstLogIdAt, LOG_ID_STEP } from "../ingest/index.ts";
import { EntityFinder } from "../src/entities/entity-finder.ts";
import { createLogger } from "../src/log.ts";
import { readRows } from "../src/rules/seal/read-rows.ts";
import { insertRows } from "../test/domains/logs/stored-rows.ts";
import { openTestStores } from "../test/harness/stores.ts";
import { queryRunner } from "../test/query/query-store.ts";
import { usageBetween, usageOfTree } from "./ingest/process-usage.ts";
import { hasLoghub, readLabelledLines, SYSTEMS } from "./patterns/loghub.ts";
import { median } from "./patterns/median.ts";

const rows = Number(process.argv[2] ?? 100_000);
const indicators = Number(process.argv[3] ?? 100_000);
const rounds = Number(process.argv[4] ?? 5);
const [WITHOUT, WITH] = [1, 2];
const NEVER = new AbortController().signal;

const stores = await openTestStores();
const sql = stores.postgres;
const startMs = Date.now();
const lines = hasLoghub()
  ? SYSTEMS.flatMap((system) =>
      readLabelledLines(system).map(({ content }) => ({ service: system, message: content })),
    )
  : [{ service: "sshd", message: "Failed password for root from 203.0.113.9 port 4711 ssh2" }];
const spans = new Map<number, { instance: number; after: bigint; through: bigint }>();
for (const organizationId of [WITHOUT, WITH]) {
  const first = firstLogIdAt(startMs, organizationId);
  spans.set(organizationId, {
    ...{ instance: organizationId, after: first - 1n, through: first + BigInt(rows * LOG_ID_STEP) },
  });
  for (let from = 0; from < rows; from += 10_000) await store(organizationId, first, from);
}

async function store(organizationId: number, first: bigint, from: number): Promise<void> {
  const some = Array.from({ length: Math.min(10_000, rows - from) }, (_, i) => {
    const at = from + i;
    const { service, message } = lines[at % lines.length] ?? { service: "", message: "" };
    return {
      organizationId,
      ts: BigInt(startMs + at) * 1_000_000n,
      id: first + BigInt(at * LOG_ID_STEP),
      ...{ service, message, host: `web-${at % 50}` },
      attrs: [
        ["client_ip", `198.51.${at % 100}.${at % 250}`],
        ["path", `/cart/${at % 1000}`],
        ["status", "200"],
        ["user.name", `user-${at % 500}`],
      ] as const,
    };
  });
  await insertRows(stores.clickhouse, some);
}
await sql`INSERT INTO organizations (id, name, created_at) OVERRIDING SYSTEM VALUE VALUES (1, 'without', now()), (2, 'with', now())`;
await sql`
  INSERT INTO ioc_batches (organization_id, from_revision, last_ioc_id, hunted) VALUES (2, 0, 9223372036854775807, true)`;
const finder = new EntityFinder({
  ...{ sql, endpoint: stores.clickhouseEndpoint, runner: queryRunner(stores), onHits: () => undefined },
  ...{ now: Date.now, log: createLogger("silent") },
});
await sql`
  INSERT INTO iocs (organization_id, type, value, created_at, updated_at)
  SELECT ${WITH}, 'domain', 'host-' || n || '.example.com', now(), now() FROM generate_series(1, ${indicators}::integer) AS n`;
await sql`ANALYZE iocs`;

interface Taken {
  readonly wall: number[];
  readonly cpu: number[];
}

/** Microseconds a row, of the clock and of all processes together. */
async function take({ wall, cpu }: Taken, work: () => Promise<unknown>, isCounted: boolean): Promise<void> {
  const before = usageOfTree(process.pid);
  const fromMs = performance.now();
  await work();
  const ms = performance.now() - fromMs;
  const usage = Object.values(usageBetween(before, usageOfTree(process.pid)));
  if (!isCounted) return;
  wall.push((ms * 1000) / rows);
  cpu.push((usage.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0) * 1e6) / rows);
}

const plain = () =>
  readRows(
    stores.clickhouseEndpoint,
    `SELECT countIf(match(concat(message, arrayStringConcat(mapValues(attrs))), '203[.]0[.]113[.][0-9]+')) FROM logs
     WHERE organization_id = {organization: UInt32}`,
    { organization: String(WITHOUT) },
    NEVER,
  );
const found = new Map<number, number>();
const look = async (organizationId: number) => {
  const span = spans.get(organizationId);
  if (span === undefined) throw new Error("no span of the organisation");
  const organizations = new Map([[organizationId, { entries: rows, attributeKeys: null }]]);
  const seen = await finder.find({ span, revision: 0n, organizations }, NEVER);
  found.set(organizationId, seen?.signals.length ?? 0);
};
const taken = () => ({ wall: [], cpu: [] });
const [none, many, pattern]: Taken[] = [taken(), taken(), taken()];
if (none === undefined || many === undefined || pattern === undefined) throw new Error("three are made");
for (let round = -1; round < rounds; round++) {
  await take(none, () => look(WITHOUT), round >= 0);
  await take(many, () => look(WITH), round >= 0);
  await take(pattern, plain, round >= 0);
}
const resultOf = (what: string, { wall, cpu }: Taken) => ({
  what,
  "µs a row": median(wall),
  "CPU µs a row": median(cpu),
});
const results = [
  { ...resultOf("no indicators", none), signals: found.get(WITHOUT) },
  { ...resultOf(`${indicators} indicators`, many), signals: found.get(WITH) },
  // Of neighbours in time, so that what else the machine does is in both.
  {
    what: "what indicators add",
    "µs a row": median(many.wall.map((each, i) => each - (none.wall[i] ?? 0))),
    "CPU µs a row": median(many.cpu.map((each, i) => each - (none.cpu[i] ?? 0))),
  },
  resultOf("one pattern", pattern),
];
await stores.close();
process.stdout.write(`${Bun.inspect.table(results)}\n`);
mkdirSync(join(import.meta.dir, "results"), { recursive: true });
appendFileSync(
  join(import.meta.dir, "results/entities.jsonl"),
  `${JSON.stringify({ at: new Date().toISOString(), rows, results })}\n`,
);
process.exit(0);
