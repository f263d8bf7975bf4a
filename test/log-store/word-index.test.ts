/** Statements mean the same whether words of messages have an index or not, and however many parts have it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import {
  ALL_TIME,
  compileKql,
  emit,
  filteredLogs,
  guardPlan,
  INTERACTIVE_BUDGET,
  parseSearch,
  type Relation,
} from "../../query/index.ts";
import { TableStatements } from "../../src/log-store/table-statements.ts";
import type { QueryRunner } from "../../src/storage/query-runner.ts";
import { idAt, insertRows, type StoredRow } from "../domains/logs/stored-rows.ts";
import { eventually } from "../harness/eventually.ts";
import { queryCaller } from "../harness/query-caller.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { goldenRows, NOW_MS, OWN } from "../query/kql-golden-entries.ts";
import { queryRunner } from "../query/query-store.ts";

const GOLDENS = join(import.meta.dir, "../query/kql-goldens");
const ORGANIZATION = 12;
const NOW_NS = BigInt(NOW_MS) * 1_000_000n;
const MESSAGES_A_PART = 400;
const signal = new AbortController().signal;

/** What stands beside each other in a message: letters, digits and signs of several scripts, and what looks like a token of the index. */
const PIECES = [
  ...["error", "Error", "ERR", "or", "timeout", "abc", "a", "z", "xerrory", "failed", "k", "s"],
  ...["0", "1", "2", "5", "42", "0x1f", "a9b", "00", "1 ", "0 0"],
  ...[" ", " ", "-", "_", ".", ":", "/", "\t", "\n", "\\", "%", "'", "\u0000", "\u00a0", "“", "”", "—", "…"],
  ...["ü", "Über", "straße", "ẞ", "σ", "ς", "Σ", "İ", "ı", "\u212a", "ſ", "é", "e\u0301"],
  ...["错误", "エラー", "خطأ", "٣", "Ⅷ", "²", "½", "🙂", "\u200b"],
];
const message = fc
  .array(fc.constantFrom(...PIECES), { minLength: 0, maxLength: 9 })
  .map((pieces) => pieces.join(""));

const QUERIES: readonly string[] = [
  "where message has T | project id",
  "where message !has T | project id",
  "where message has_cs T | project id",
  "where message contains T | project id",
  "where message !contains T | project id",
  "where message hasprefix T or message hassuffix T | project id",
  "where message has_any (T, U) | project id",
  "where message has_all (T, U) | project id",
  "where message has T and message contains U | project id",
  "where message has T or message has U or service == 's1' | project id",
  "where not(message has T or message contains U) | project id",
  "where message has T | summarize n = count() by service",
  "where message contains T | count",
  "summarize countif(message has T), countif(message contains U)",
  "extend found = message has T | where found | project id, found",
  "where iff(message has T, message contains U, true) | project id",
  "where message has T | top 5 by ts | project id, message",
  "take 5000 | where message contains T | project id",
  "extend message = strcat(message, ' ', service) | where message has T | project id",
  "project m = message, id | where m has T | project id",
  "where message has T | join kind=inner (logs | where message has U | project id) on id | project id",
  "where id in ((logs | where message contains T | project id)) | project id",
  "union (logs | where message has T) | summarize n = count() by service",
  "search T | project id",
  "where has_any_index(message, dynamic([T, U])) > 0 | project id",
];

const PARTS = ["a first", "a second", "the last"] as const;
const stages = ["no part has the index", "some parts lack the index", "every part has the index"] as const;

let stores: TestStores;
let statements: TableStatements;
let runner: QueryRunner;
let written: string[] = [];

function sampled(seed: number): string[] {
  return fc.sample(message, { numRuns: MESSAGES_A_PART, seed });
}

async function insertPart(part: number): Promise<void> {
  const messages = sampled(part + 1);
  const rows = messages.map((text, i): StoredRow => {
    const ms = NOW_MS - 10_000_000 + part * MESSAGES_A_PART + i;
    return {
      organizationId: ORGANIZATION,
      ts: BigInt(ms) * 1_000_000n,
      id: idAt(ms, i),
      message: text,
      service: `s${i % 3}`,
    };
  });
  await insertRows(stores.clickhouse, rows);
  // What is no text at all: bytes that no sender gets here, but a store may have.
  await stores.clickhouse.command({
    query: `INSERT INTO logs (organization_id, ts, id, received_at, message)
      SELECT ${ORGANIZATION}, toDateTime64(${NOW_MS / 1000}, 9, 'UTC'), ${idAt(NOW_MS, part * 10)} + number, toDateTime64(${NOW_MS / 1000}, 3, 'UTC'),
        [unhex('6572726f72ff'), unhex('ff6572726f72'), unhex('20c36572726f7220'), unhex('6572726f72c3bc')][number + 1]
      FROM numbers(4)`,
  });
  written = [...written, ...messages];
}

async function reach(stage: (typeof stages)[number]): Promise<void> {
  if (stage === "no part has the index") {
    await stores.clickhouse.command({ query: "SYSTEM STOP MERGES logs" });
    await insertRows(stores.clickhouse, goldenRows());
    await insertPart(0);
    expect(await statements.rowsWithoutWords(signal)).toBeGreaterThan(MESSAGES_A_PART);
    return;
  }
  if (stage === "some parts lack the index") {
    const before = await statements.rowsWithoutWords(signal);
    await statements.addWordIndex(signal);
    await insertPart(1);
    expect(await statements.rowsWithoutWords(signal)).toBe(before);
    return;
  }
  await insertPart(2);
  await stores.clickhouse.command({ query: "SYSTEM START MERGES logs" });
  await eventually("every part has the index", async () => {
    const partition = await statements.partitionWithoutWords(0, signal);
    if (partition !== null && !(await statements.isChanging(signal)))
      await statements.fillWords(partition, signal);
    return partition === null;
  });
}

async function answerOf(plan: Relation, organizationId: number, hasWordIndex: boolean): Promise<string> {
  const scope = { organizationId, timeRange: ALL_TIME, maxRows: 5000, budget: INTERACTIVE_BUDGET };
  const statement = emit(guardPlan(plan, { ...scope, hasWordIndex }));
  const { rows } = await runner.run("test", statement, queryCaller());
  return rows
    .map((row) => JSON.stringify(row))
    .toSorted()
    .join("\n");
}

function sqlOf(plan: Relation, hasWordIndex: boolean): string {
  const scope = { organizationId: OWN, timeRange: ALL_TIME, maxRows: 5000, budget: INTERACTIVE_BUDGET };
  return emit(guardPlan(plan, { ...scope, hasWordIndex })).sql;
}

/** Parts of messages, in any case, and what is in none. */
function terms(): fc.Arbitrary<string> {
  const part = fc
    .record({
      text: fc.constantFrom(...written),
      from: fc.nat({ max: 12 }),
      length: fc.integer({ min: 1, max: 8 }),
    })
    .map(({ text, from, length }) =>
      [...text].slice(from % (text.length + 1), (from % (text.length + 1)) + length).join(""),
    );
  const piece = fc.constantFrom(...PIECES.map((text) => text.trim()));
  return fc
    .tuple(fc.oneof(part, piece, piece, fc.constantFrom("nowhere", "rro", "überall", "")), fc.nat({ max: 2 }))
    .map(([text, letterCase]) =>
      letterCase === 0 ? text : letterCase === 1 ? text.toUpperCase() : text.toLowerCase(),
    );
}

beforeAll(async () => {
  stores = await openTestStores();
  statements = new TableStatements(stores.clickhouse);
  runner = queryRunner(stores);
});
afterAll(() => stores.close());

for (const stage of stages)
  test(`${stage}: every query answers as it does without`, async () => {
    await reach(stage);
    const query = fc.record({ text: fc.constantFrom(...QUERIES), t: terms(), u: terms() });
    let [answered, usedIndex] = [0, 0];
    await fc.assert(
      fc.asyncProperty(query, async ({ text, t, u }) => {
        const kql = `logs | ${text}`
          .replaceAll(/\bT\b/g, () => JSON.stringify(t))
          .replaceAll(/\bU\b/g, () => JSON.stringify(u));
        const compiled = compileKql(kql, { nowNs: NOW_NS });
        // A text that a term may not be.
        if (!compiled.ok) return;
        const { relation } = compiled.query;
        const without = await answerOf(relation, ORGANIZATION, false);
        expect({ kql, answer: await answerOf(relation, ORGANIZATION, true) }).toEqual({
          kql,
          answer: without,
        });
        if (without !== "") answered++;
        if (sqlOf(relation, true) !== sqlOf(relation, false)) usedIndex++;
      }),
      { numRuns: 120 },
    );
    expect(answered).toBeGreaterThan(30);
    expect(usedIndex).toBeGreaterThan(30);

    await fc.assert(
      fc.asyncProperty(terms(), terms(), async (t, u) => {
        const parsed = parseSearch(`${JSON.stringify(t)} OR -${JSON.stringify(u)}`);
        if (!parsed.ok) return;
        const plan = filteredLogs({ search: parsed.condition, service: null, level: null });
        expect({ t, u, answer: await answerOf(plan, ORGANIZATION, true) }).toEqual({
          t,
          u,
          answer: await answerOf(plan, ORGANIZATION, false),
        });
      }),
      { numRuns: 40 },
    );
  });

test("every golden that looks for words answers as it does without", async () => {
  let goldens = 0;
  for (const name of readdirSync(GOLDENS)) {
    const compiled = compileKql(readFileSync(join(GOLDENS, name, "input.kql"), "utf8"), { nowNs: NOW_NS });
    if (!compiled.ok) continue;
    for (const relation of [compiled.query.relation, ...compiled.query.others]) {
      if (sqlOf(relation, true) === sqlOf(relation, false)) continue;
      const without = await answerOf(relation, OWN, false);
      expect({ name, answer: await answerOf(relation, OWN, true) }).toEqual({ name, answer: without });
      goldens++;
    }
  }
  expect(goldens).toBeGreaterThan(3);
});

test.each([
  ["has a word that nobody wrote", "where message has 'nobodywrotethis'"],
  ["contains three letters that occur nowhere", "where message contains 'qzx'"],
  ["contains such letters before a digit", "where message contains 'qzx5'"],
  ["contains letters that stand before no digit", "where message contains 'rro7'"],
  ["has a short term with such letters", "where message has '5-qzx'"],
  ["contains such letters before one beyond ASCII", "where message contains 'qzxü'"],
])("%s: the index says so, and no message is read", async (_, text) => {
  const compiled = compileKql(`logs | ${text} | project message`, { nowNs: NOW_NS });
  if (!compiled.ok) throw new Error(compiled.diagnostics[0]?.message);
  const scope = { timeRange: ALL_TIME, maxRows: 10, budget: INTERACTIVE_BUDGET };
  const plan = guardPlan(compiled.query.relation, { ...scope, organizationId: OWN, hasWordIndex: true });
  const { rows, rowsRead } = await runner.run("test", emit(plan), queryCaller());
  expect({ rows, rowsRead }).toEqual({ rows: [], rowsRead: 0 });
});

test("rows that came in without indexes are counted, until a merge has made them", async () => {
  const before = await statements.rowsWithoutWords(signal);
  expect(before).toBe(0);
  await stores.clickhouse.command({ query: "SYSTEM STOP MERGES logs" });
  await stores.clickhouse.insert({
    table: "logs",
    format: "JSONEachRow",
    values: PARTS.map((text, i) => ({
      ...{ organization_id: ORGANIZATION, id: String(i), message: text },
      received_at: new Date(NOW_MS).toISOString().slice(0, 10),
    })),
    clickhouse_settings: { insert_deduplicate: 0, materialize_skip_indexes_on_insert: 0 },
  });
  expect(await statements.rowsWithoutWords(signal)).toBe(PARTS.length);
  await stores.clickhouse.command({ query: "SYSTEM START MERGES logs" });
  await stores.clickhouse.command({ query: "OPTIMIZE TABLE logs FINAL" });
  expect(await statements.rowsWithoutWords(signal)).toBe(0);
});
