/** Statements mean the same whether attributes have columns of their own or not, and however many parts have them. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import {
  ALL_TIME,
  type AttributeColumns,
  attributeColumnOf,
  compileKql,
  emit,
  guardPlan,
  INTERACTIVE_BUDGET,
  type Relation,
} from "../../query/index.ts";
import { DependencyError } from "../../src/errors.ts";
import { type ColumnDefinition, TableStatements } from "../../src/log-store/table-statements.ts";
import type { QueryRunner } from "../../src/storage/query-runner.ts";
import { idAt, insertRows, type StoredRow, storedText } from "../domains/logs/stored-rows.ts";
import { eventually } from "../harness/eventually.ts";
import { queryCaller } from "../harness/query-caller.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { goldenRows, NOW_MS, OWN } from "../query/kql-golden-entries.ts";
import { queryRunner } from "../query/query-store.ts";

const GOLDENS = join(import.meta.dir, "../query/kql-goldens");
const ORGANIZATION = 11;
const NOW_NS = BigInt(NOW_MS) * 1_000_000n;

/** Keys of every kind, with values of every type, some of which look like another. */
const KEYS = ["k", "user name", "ключ", "http", "http.status", "it's \\ `x`", "{p0:String}"];
const VALUES: readonly unknown[] = [
  ...[
    null,
    "",
    "null",
    '"quoted"',
    "text",
    "other text",
    "5",
    "5.0",
    " 5 ",
    "true",
    "nan",
    "-inf",
    "1e3",
    "{",
    "[1]",
  ],
  ...[5, 5.5, -0, 0, 1, 1e300, "9007199254740993", true, false, [], [1, "a", null], {}],
  ...[
    { status: 200 },
    { status: "200", method: null },
    { status: { code: 1 } },
    "Straße",
    "İstanbul",
    "\u0000",
  ],
];

let stores: TestStores;
let statements: TableStatements;
let runner: QueryRunner;
const signal = new AbortController().signal;
/** Statements that the store refused because of columns. */
let refused = 0;
const nothing: AttributeColumns = new Map();

/** Every second one is of low cardinality: the kinds of columns mean the same. */
function definitionsOf(keys: readonly string[]): ColumnDefinition[] {
  return keys.map((key, i) => ({ key, isLowCardinality: i % 2 === 0 }));
}

function columnsOf(keys: readonly string[]): AttributeColumns {
  return new Map(keys.map((key) => [key, attributeColumnOf(key)]));
}

const goldenKeys = [...new Set(goldenRows().flatMap(({ attrs = [] }) => attrs.map(([key]) => key)))];
const allKeys = [...new Set([...KEYS, ...goldenKeys])];
/** Of the keys that have columns some are not used: those stay with the map. */
const usedKeys = allKeys.filter((_, i) => i % 5 !== 4);

function rowsOfValues(offset: number): StoredRow[] {
  return VALUES.flatMap((value, v) =>
    KEYS.map((key, k): StoredRow => {
      const others = KEYS.filter((_, i) => (i * 7 + v + offset) % 3 === 0 && i !== k);
      const entries = [
        [key, value] as const,
        ...others.map((other) => [other, VALUES[(v + 5) % VALUES.length]] as const),
      ];
      return {
        organizationId: ORGANIZATION,
        ts: NOW_NS - BigInt(v * 1000 + k + offset) * 1_000_000n,
        id: idAt(NOW_MS - 1_000_000 + offset, v * KEYS.length + k),
        message: `entry ${v}`,
        service: `s${k}`,
        attrs: entries.map(([name, of]) => [name, storedText(of)]),
        jsonKeys: entries.filter(([, of]) => typeof of !== "string").map(([name]) => name),
      };
    }),
  );
}

type Stage = "some parts lack the columns" | "every part has the columns";
const stages: Stage[] = ["some parts lack the columns", "every part has the columns"];

async function reach(stage: Stage): Promise<void> {
  if (stage === "some parts lack the columns") {
    await insertRows(stores.clickhouse, goldenRows());
    await insertRows(stores.clickhouse, rowsOfValues(0));
    await stores.clickhouse.command({ query: "SYSTEM STOP MERGES logs" });
    await statements.addColumns(definitionsOf(allKeys), signal);
    // An insert that knows nothing of the columns, as that of an older server.
    await insertRows(stores.clickhouse, rowsOfValues(1));
    const [first = ""] = allKeys;
    expect(await statements.unfilledPartition(first, signal)).not.toBeNull();
    return;
  }
  await stores.clickhouse.command({ query: "SYSTEM START MERGES logs" });
  await eventually("every part has the columns", async () => {
    const [first = ""] = allKeys;
    const partition = await statements.unfilledPartition(first, signal);
    if (partition !== null && !(await statements.isChanging(signal)))
      await statements.fill(partition, definitionsOf(allKeys), signal);
    return partition === null;
  });
}

async function answerOf(
  plan: Relation,
  organizationId: number,
  attributeColumns: AttributeColumns,
): Promise<string> {
  const scope = {
    organizationId,
    timeRange: ALL_TIME,
    maxRows: 5000,
    budget: INTERACTIVE_BUDGET,
    attributeColumns,
  };
  let rows: readonly (readonly unknown[])[];
  try {
    rows = (await runner.run("test", emit(guardPlan(plan, scope)), queryCaller())).rows;
  } catch (error) {
    // What the store refuses while parts lack columns is asked again without: `RangeReading`.
    if (!(error instanceof DependencyError) || error.retryable || attributeColumns.size === 0) throw error;
    refused++;
    return answerOf(plan, organizationId, nothing);
  }
  return rows
    .map((row) => JSON.stringify(row))
    .toSorted()
    .join("\n");
}

/** Queries over one attribute `A`, which is compared with `V`. */
const QUERIES: readonly string[] = [
  "where A == V | project id",
  "where A != V | project id",
  "where A > V | project id",
  "where A in (V, 'text') | project id",
  "where A == true | project id",
  "where A =~ 'TEXT' | project id",
  "where A has 'text' or A contains 'u' | project id",
  "where isnull(A) | project id",
  "where isempty(A) | project id",
  "where isnotempty(A) and A startswith 't' | project id",
  "project id, A, t = gettype(A)",
  "project id, tostring(A), todouble(A), toint(A), tobool(A)",
  "project id, tostring(A.status), A.status.code",
  "where A.status == V | project id, attrs",
  "summarize n = count(), max(todouble(A)) by tostring(A)",
  "summarize dcount(tostring(A)), sum(todouble(A)), percentile(todouble(A), 50)",
  "summarize countif(A == V) by service",
  "extend x = A | where x != '' | project id, x, attrs",
  "extend attrs = A | project id, attrs",
  "project attrs, id | where A == V | project id, attrs",
  "distinct tostring(A)",
  "mv-expand x = A | project id, x",
  "take 5000 | where A == V | summarize n = count() by service, tostring(A)",
  "join kind=inner (logs | where A == V | project id, attrs) on id | project id, A, attrs1",
  "union (logs | where A == V) | summarize n = count() by tostring(A)",
  "project id, bag_keys(attrs), A",
  "where id in ((logs | where A == V | project id)) | project id, A",
  "sort by tostring(A) asc, id asc | take 20 | project id, A",
  "sort by id asc | extend before = prev(A) | project id, before",
];
const LITERALS = [
  "5",
  "5.5",
  "0",
  "1",
  "'5'",
  "'text'",
  "'null'",
  "''",
  "'Straße'",
  "200",
  "'200'",
  "'true'",
];

beforeAll(async () => {
  stores = await openTestStores();
  statements = new TableStatements(stores.clickhouse);
  runner = queryRunner(stores);
});
afterAll(() => stores.close());

for (const stage of stages)
  test(`${stage}: every query answers as it does without`, async () => {
    await reach(stage);
    refused = 0;
    const query = fc.record({
      text: fc.constantFrom(...QUERIES),
      key: fc.constantFrom(...KEYS),
      value: fc.constantFrom(...LITERALS),
    });
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(query, async ({ text, key, value }) => {
        const attribute = `attrs[${JSON.stringify(key)}]`;
        const kql = `logs | ${text}`.replaceAll(/\bA\b/g, attribute).replaceAll(/\bV\b/g, value);
        const compiled = compileKql(kql, { nowNs: NOW_NS });
        if (!compiled.ok) throw new Error(`${kql}: ${compiled.diagnostics[0]?.message}`);
        const { relation } = compiled.query;
        const without = await answerOf(relation, ORGANIZATION, nothing);
        expect({ kql, answer: await answerOf(relation, ORGANIZATION, columnsOf(usedKeys)) }).toEqual({
          kql,
          answer: without,
        });
        if (without !== "") answered++;
      }),
      { numRuns: 120 },
    );
    expect(answered).toBeGreaterThan(40);

    let goldens = 0;
    for (const name of readdirSync(GOLDENS)) {
      const compiled = compileKql(readFileSync(join(GOLDENS, name, "input.kql"), "utf8"), { nowNs: NOW_NS });
      if (!compiled.ok) continue;
      for (const relation of [compiled.query.relation, ...compiled.query.others]) {
        const scope = { organizationId: OWN, timeRange: ALL_TIME, maxRows: 5000, budget: INTERACTIVE_BUDGET };
        // The others do not look for an attribute at all.
        if (emit(guardPlan(relation, scope)).attributes.length === 0) continue;
        const [without, withColumns] = [
          await answerOf(relation, OWN, nothing),
          await answerOf(relation, OWN, columnsOf(usedKeys)),
        ];
        expect({ name, answer: withColumns }).toEqual({ name, answer: without });
        goldens++;
      }
    }
    expect(goldens).toBeGreaterThan(20);
    if (stage === "every part has the columns") expect(refused).toBe(0);
  });

test("columns that go are gone, and can come again", async () => {
  await eventually("nothing rewrites the table", async () => !(await statements.isChanging(signal)));
  for (const key of KEYS) await statements.dropColumns(key, signal);
  expect(await statements.existing(KEYS, signal)).toEqual(new Set());
  await statements.addColumns(definitionsOf(KEYS).slice(0, 1), signal);
  expect(await statements.existing(KEYS, signal)).toEqual(new Set(KEYS.slice(0, 1)));
});
