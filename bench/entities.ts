/**
 * What finding entities, observables and indicators costs a seal: a range of real log lines is looked through, once without and once
 * with many indicators, and beside it, in turn, the plainest statement that reads the same texts.
 * Usage: bun bench/entities.ts [rows] [indicators] [rounds]. Prints a table and appends a line to bench/results/entities.jsonl.
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
import { hasLoghub, readLabelledLines, SYSTEMS } from "./patterns/loghub.ts";
import { median } from "./patterns/median.ts";

const rows = Number(process.argv[2] ?? 100_000);
const indicators = Number(process.argv[3] ?? 100_000);
const rounds = Number(process.argv[4] ?? 5);
const ORGANIZATION_ID = 1;
const NEVER = new AbortController().signal;

const stores = await openTestStores();
const sql = stores.postgres;
const startMs = Date.now();
const first = firstLogIdAt(startMs, 0);
const lines = hasLoghub()
  ? SYSTEMS.flatMap((system) =>
      readLabelledLines(system).map(({ content }) => ({ service: system, message: content })),
    )
  : [{ service: "sshd", message: "Failed password for root from 203.0.113.9 port 4711 ssh2" }];
for (let from = 0; from < rows; from += 10_000) {
  const some = Array.from({ length: Math.min(10_000, rows - from) }, (_, i) => {
    const at = from + i;
    const { service, message } = lines[at % lines.length] ?? { service: "", message: "" };
    return {
      organizationId: ORGANIZATION_ID,
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
await sql`INSERT INTO organizations (id, name, created_at) OVERRIDING SYSTEM VALUE VALUES (1, 'bench', now())`;
const [batch] = await sql<{ id: number }[]>`
  INSERT INTO ioc_batches (organization_id, from_revision, hunted) VALUES (1, 0, true) RETURNING id::integer`;
const finder = new EntityFinder({
  ...{ sql, endpoint: stores.clickhouseEndpoint, runner: queryRunner(stores), onHits: () => undefined },
  ...{ now: Date.now, log: createLogger("silent") },
});
const range = {
  span: { instance: 0, after: first - 1n, through: first + BigInt(rows * LOG_ID_STEP) },
  revision: 0n,
  organizations: new Map([[ORGANIZATION_ID, { entries: rows, attributeKeys: null }]]),
};

async function timed(work: () => Promise<unknown>): Promise<number> {
  const fromMs = performance.now();
  await work();
  return ((performance.now() - fromMs) * 1000) / rows;
}

const plain = () =>
  readRows(
    stores.clickhouseEndpoint,
    `SELECT countIf(match(concat(message, arrayStringConcat(mapValues(attrs))), '203[.]0[.]113[.][0-9]+')) FROM logs
     WHERE organization_id = {organization: UInt32}`,
    { organization: String(ORGANIZATION_ID) },
    NEVER,
  );
let found = 0;
const look = async () => {
  found = (await finder.find(range, NEVER))?.signals.length ?? 0;
};
const results: Record<string, number | string>[] = [];
for (const known of [0, indicators]) {
  if (known > 0)
    await sql`
      INSERT INTO iocs (organization_id, type, value, batch_id, created_at, updated_at)
      SELECT 1, 'domain', 'host-' || n || '.example.com', ${batch?.id ?? 0}, now(), now()
      FROM generate_series(1, ${known}::integer) AS n`;
  const [own, reference]: [number[], number[]] = [[], []];
  for (let round = -1; round < rounds; round++) {
    const [a, b] = [await timed(look), await timed(plain)];
    if (round >= 0) own.push(a) && reference.push(b);
  }
  results.push({
    indicators: known,
    "µs a row": median(own),
    "one pattern, µs a row": median(reference),
    signals: found,
  });
}
await stores.close();
process.stdout.write(`${Bun.inspect.table(results)}\n`);
mkdirSync(join(import.meta.dir, "results"), { recursive: true });
appendFileSync(
  join(import.meta.dir, "results/entities.jsonl"),
  `${JSON.stringify({ at: new Date().toISOString(), rows, results })}\n`,
);
process.exit(0);
