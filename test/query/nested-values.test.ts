import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ALL_TIME, compileKql, emit, guardPlan, INTERACTIVE_BUDGET } from "../../query/index.ts";
import type { QueryRunner } from "../../src/storage/query-runner.ts";
import { queryCaller } from "../harness/query-caller.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { queryRunner } from "./query-store.ts";

/** How often a text of JSON stands in a text of JSON, as events of an audit log have it. */
const DEPTH_MAX = 6;
const DEPTHS = Array.from({ length: DEPTH_MAX }, (_, i) => i + 1);

let stores: TestStores;
let runner: QueryRunner;

beforeAll(async () => {
  stores = await openTestStores();
  runner = queryRunner(stores);
  const nested = (depth: number): string =>
    JSON.stringify({ b: depth === 1 ? true : nested(depth - 1), at: "2025-06-01T00:00:00Z" });
  const values = DEPTHS.map((depth) => ({
    organization_id: 7,
    ts: "2025-06-01 00:00:00.000000000",
    id: String(depth),
    received_at: "2025-06-01 00:00:00.000",
    level: "info",
    message: `depth ${depth}`,
    attrs: { a: nested(depth) },
  }));
  await stores.clickhouse.insert({ table: "logs", values, format: "JSONEachRow" });
});
afterAll(() => stores.close());

function statementFor(text: string) {
  const compiled = compileKql(text, { nowNs: 0n });
  if (!compiled.ok) throw new Error(`${text}: ${compiled.diagnostics[0]?.message}`);
  const scope = { organizationId: 7, timeRange: ALL_TIME, maxRows: 1000, budget: INTERACTIVE_BUDGET };
  return emit(guardPlan(compiled.query.relation, scope));
}

/** Nodes of the statement once the store has put everything in place of its name: what analysis and execution grow with. */
async function nodesOf(text: string): Promise<number> {
  const { sql, settings, ...rest } = statementFor(text);
  const explained = {
    ...rest,
    sql: `EXPLAIN QUERY TREE ${sql}`,
    settings: { ...settings, max_result_rows: "0" },
  };
  return (await runner.run("test", explained, queryCaller())).rows.length;
}

const valueAt = (depth: number): string =>
  depth === 0 ? "attrs.a" : `parse_json(tostring(${valueAt(depth - 1)})).b`;

const QUESTIONS: [string, (depth: number) => string][] = [
  ["a condition on a truth value", (depth) => `logs | where ${valueAt(depth)} == true | project message`],
  [
    "a condition on a text",
    (depth) => `logs | where tostring(${valueAt(depth)}) == 'true' | project message`,
  ],
  ["a condition on a number", (depth) => `logs | where tolong(${valueAt(depth)}) == 1 | project message`],
  [
    "columns that take each other's place",
    (depth) =>
      `logs | extend x = attrs.a ${"| extend x = parse_json(tostring(x)).b ".repeat(depth)}| where x == true | project message`,
  ],
  [
    "elements of an array",
    (depth) => `logs | mv-expand e = pack_array(${valueAt(depth)}) | where e == true | project message`,
  ],
  [
    "a condition beside others",
    (depth) =>
      `logs | where level == 'info' | extend x = ${valueAt(depth)} | where tobool(x) and message has 'depth' | project message`,
  ],
  [
    "groups",
    (depth) =>
      `logs | where isnotempty(${valueAt(depth)}) | summarize by x = tostring(${valueAt(depth)}), message | where x == 'true' | project message`,
  ],
];

describe("texts of JSON in texts of JSON", () => {
  test.each(QUESTIONS)("cost, six deep, six times what one costs at most: %s", async (_, question) => {
    const [first, ...deeper] = await Promise.all(DEPTHS.map((depth) => nodesOf(question(depth))));
    for (const [i, nodes] of deeper.entries()) expect(nodes).toBeLessThanOrEqual((first ?? 0) * (i + 2));
    const lengths = DEPTHS.map((depth) => statementFor(question(depth)).sql.length);
    for (const [i, length] of lengths.entries())
      expect(length).toBeLessThanOrEqual((lengths[0] ?? 0) * (i + 1));
  });

  test.each(QUESTIONS)("are read at every depth: %s", async (_, question) => {
    for (const depth of DEPTHS) {
      const statement = statementFor(question(depth));
      const { rows } = await runner.run("test", statement, queryCaller());
      expect(rows).toEqual([[`depth ${depth}`]]);
    }
  });

  test("as columns one after the other are not too much for the store", async () => {
    const text = `logs | extend x = parse_json(tostring(attrs.a)) ${"| extend x = parse_json(tostring(x.b)) ".repeat(3)}| where message == 'depth 5' | project at = tostring(x.at)`;
    const { rows } = await runner.run("test", statementFor(text), queryCaller());
    expect(rows).toEqual([["2025-06-01T00:00:00Z"]]);
  });
});
