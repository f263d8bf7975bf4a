/**
 * What a thousand rules cost a seal: two seconds of entries are counted by all of them, as seals do it, and beside it in turn by one
 * condition for each rule over every entry. One rule in twenty has entries. Then the same entries of many organisations with a few
 * rules each. CPU time of this process and of the store's statements.
 * Usage: bun bench/rules.ts [entries] [rules] [rounds]. Prints a table and appends a line to bench/results/rules.jsonl.
 */
import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { firstLogIdAt, LOG_ID_STEP } from "../ingest/index.ts";
import type { Counter } from "../src/rules/counters/counter-store.ts";
import { EntryCounting } from "../src/rules/seal/count-entries.ts";
import type { SealedRange } from "../src/rules/seal/finder.ts";
import { ReachedCounters } from "../src/rules/seal/reached-counters.ts";
import { readRows } from "../src/rules/seal/read-rows.ts";
import { organizationsIn } from "../src/rules/seal/stored-entries.ts";
import { insertRows } from "../test/domains/logs/stored-rows.ts";
import { openTestStores } from "../test/harness/stores.ts";
import { queryRunner } from "../test/query/query-store.ts";
import { hasLoghub, readLabelledLines, SYSTEMS } from "./patterns/loghub.ts";
import { median } from "./patterns/median.ts";

/** At 20 000 a second, what comes between two seals. */
const entries = Number(process.argv[2] ?? 40_000);
const rules = Number(process.argv[3] ?? 1_000);
const rounds = Number(process.argv[4] ?? 5);
const ENTRIES_PER_SECOND = 20_000;
const ORGANIZATIONS = 500;
const RULES_OF_EACH = 5;
const NEVER = new AbortController().signal;

const lines = hasLoghub()
  ? SYSTEMS.flatMap((system) =>
      readLabelledLines(system).map(({ content }) => ({ service: system, message: content })),
    )
  : [{ service: "sshd", message: "Failed password for root from 203.0.113.9 port 4711 ssh2" }];
const times = new Map<string, number>();
for (const { message } of lines)
  for (const word of new Set(message.match(/[A-Za-z]{6,}/g))) times.set(word, (times.get(word) ?? 0) + 1);
/** What more than one entry in five hundred says is nothing to alert on. */
const words = [...times].flatMap(([word, n]) => (n <= Math.max(1, lines.length / 500) ? [word] : []));
/** As many names of events as an audit log of a cloud has in a day. */
const ACTIONS = Array.from(
  { length: 300 },
  (_, i) => `${["List", "Put", "Delete", "Create"][i % 4]}Thing${i}`,
);

const stores = await openTestStores();
let counters = 0;

/** What rules ask for: a word, a word at a level or of a service, an attribute's value, one of several. */
function conditionOf(i: number, hasEntries: boolean): string {
  const word = hasEntries ? (words[(i * 7_919) % words.length] ?? "") : `Zq${i.toString(36)}xv`;
  const action = hasEntries ? (ACTIONS[i % ACTIONS.length] ?? "") : `Action${i}`;
  const shapes = [
    `message has "${word}"`,
    `message contains "${word}" and level in ("error", "warn")`,
    `attrs.eventName == "${action}"`,
    `service == "${lines[i % lines.length]?.service}" and message has "${word}"`,
    `attrs.eventName in~ ("${action}", "${action}Async") and attrs.status >= 400`,
    `message has_any ("${word}", "${word}ing")`,
  ];
  return shapes[i % shapes.length] ?? "";
}

function ruleOf(organizationId: number, i: number): Counter {
  return {
    ...{ id: ++counters, organizationId, query: null, service: null, level: null },
    ...{ kql: conditionOf(i, i % 20 === 0), groupBy: i % 2 === 0 ? ["host"] : [] },
    ...{ clock: "alert", bucketSec: 10, pastFromMs: null },
  };
}

/** A range of entries of so many organisations, in turn. */
async function store(startMs: number, organizations: readonly number[]): Promise<SealedRange> {
  const first = firstLogIdAt(startMs, 0);
  for (let from = 0; from < entries; from += 10_000)
    await insertRows(
      stores.clickhouse,
      Array.from({ length: Math.min(10_000, entries - from) }, (_, i) => {
        const at = from + i;
        const { service, message } = lines[at % lines.length] ?? { service: "", message: "" };
        return {
          organizationId: organizations[at % organizations.length] ?? 0,
          ts: BigInt(startMs) * 1_000_000n,
          id: first + BigInt(at * LOG_ID_STEP),
          ...{ service, message, host: `web-${at % 50}`, level: at % 10 === 0 ? "error" : "info" },
          attrs: [
            ["eventName", ACTIONS[at % ACTIONS.length] ?? ""],
            ["path", `/cart/${at % 1000}`],
            ["status", at % 20 === 0 ? "500" : "200"],
            ["user.name", `user-${at % 500}`],
          ] as const,
          jsonKeys: ["status"],
        };
      }),
    );
  const span = { instance: 0, after: first - 1n, through: first + BigInt(entries * LOG_ID_STEP) };
  return { span, revision: 0n, organizations: await organizationsIn(stores.clickhouseEndpoint, span, NEVER) };
}

/** CPU time of the store's statements so far, in microseconds. */
async function storeCpu(): Promise<number> {
  const sql = "SELECT value FROM system.events WHERE event = 'OSCPUVirtualTimeMicroseconds'";
  const [row] = await readRows(stores.clickhouseEndpoint, sql, {}, NEVER);
  return Number(row?.[0]);
}

/** Of a thousandth of a millisecond, for each entry. */
async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const [before, own] = [await storeCpu(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(own);
  return ((await storeCpu()) - before + user + system) / entries;
}

const counting = new EntryCounting(queryRunner(stores));
const reached = new ReachedCounters(stores.clickhouseEndpoint);
const startMs = Date.now();
const one = {
  range: await store(startMs, [1]),
  counters: Array.from({ length: rules }, (_, i) => ruleOf(1, i)),
};
const many = Array.from({ length: ORGANIZATIONS }, (_, i) => 1_000 + i);
const each = {
  range: await store(startMs + 60_000, many),
  counters: many.flatMap((organizationId, o) =>
    Array.from({ length: RULES_OF_EACH }, (_, i) => ruleOf(organizationId, o * RULES_OF_EACH + i)),
  ),
};

let found = 0;
let counts = 0;
const seal = (of: typeof one) => async () => {
  const some = await reached.find(of.counters, of.range, NEVER);
  found = some.length;
  counts = (await counting.count(some, of.range.span, NEVER)).counts.length;
};
let plainCounts = 0;
const everyEntry = one.counters.map((counter) => ({ counter, tests: null }));
const plain = async () => {
  plainCounts = (await counting.count(everyEntry, one.range.span, NEVER)).counts.length;
};

const results: Record<string, number | string>[] = [];
const [narrowed, finding, whole, spread]: [number[], number[], number[], number[]] = [[], [], [], []];
const notes: string[] = [];
for (let round = -1; round < rounds; round++) {
  const a = await cpuOf(seal(one));
  notes[0] = `${found} of ${rules} looked at, ${counts} counts`;
  const which = await cpuOf(() => reached.find(one.counters, one.range, NEVER));
  const b = await cpuOf(plain);
  notes[1] = `${plainCounts} counts`;
  const c = await cpuOf(seal(each));
  notes[2] = `${found} of ${each.counters.length} looked at, ${counts} counts`;
  if (round >= 0) {
    narrowed.push(a);
    finding.push(which);
    whole.push(b);
    spread.push(c);
  }
}
if (plainCounts === 0 || Number(notes[0]?.match(/(\d+) counts/)?.[1]) !== plainCounts)
  throw new Error(`the two count differently: ${notes.join("; ")}`);
for (const [what, of, note] of [
  [`${rules} rules of one organisation`, narrowed, notes[0]],
  ["of that, which of them may have entries", finding, ""],
  ["the same, a condition for each over every entry", whole, notes[1]],
  [`${RULES_OF_EACH} rules of each of ${ORGANIZATIONS} organisations`, spread, notes[2]],
] as const)
  results.push({
    what,
    "µs an entry": Number(median(of).toFixed(3)),
    "% of a core": Number(((median(of) * ENTRIES_PER_SECOND) / 10_000).toFixed(2)),
    ratio: Number((median(of) / median(narrowed)).toFixed(2)),
    note: note ?? "",
  });
await stores.close();
process.stdout.write(`${Bun.inspect.table(results)}\n`);
mkdirSync(join(import.meta.dir, "results"), { recursive: true });
appendFileSync(
  join(import.meta.dir, "results/rules.jsonl"),
  `${JSON.stringify({ at: new Date().toISOString(), entries, rules, results })}\n`,
);
process.exit(0);
