/** The rules of the packs: each counts the entry that it shows and leaves the other one, in the store as in a stream. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  aggregate,
  aggregateCall,
  allOf,
  columnOf,
  type Expression,
  emit,
  filter,
  guardPlan,
  INTERACTIVE_BUDGET,
  scan,
} from "../../../query/index.ts";
import { compileEntryQuery } from "../../../src/kql/issues.ts";
import { conditionsOf } from "../../../src/kql/relation-conditions.ts";
import { GROUP_COLUMNS } from "../../../src/rules/counters/limits.ts";
import { isLogicalField } from "../../../src/rules/fields/logical-field.ts";
import { PACKS } from "../../../src/rules/packs/catalog.ts";
import type { SampleEntry } from "../../../src/rules/packs/pack.ts";
import { insertRows, type StoredRow } from "../../domains/logs/stored-rows.ts";
import { queryCaller } from "../../harness/query-caller.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { queryRunner } from "../../query/query-store.ts";

const RULES = PACKS.flatMap(({ rules }) => rules);
const COUNTS = 1;
const LEAVES = 2;

let stores: TestStores;
/** What the rules count, in their order: of the entries that they show, and of those that they leave. */
let counted: Record<number, number[]>;
let seen: Record<number, number[]>;

beforeAll(async () => {
  stores = await openTestStores();
  const rows = RULES.flatMap(({ counts, leaves }, i) => [rowOf(counts, COUNTS, i), rowOf(leaves, LEAVES, i)]);
  await insertRows(stores.clickhouse, rows);
  const conditions = RULES.map(({ kql }) => conditionOf(kql));
  counted = { [COUNTS]: await matrix(conditions, COUNTS), [LEAVES]: await matrix(conditions, LEAVES) };
  seen = {
    [COUNTS]: await matrix(
      PACKS.map(({ expects }) => conditionOf(expects.kql)),
      COUNTS,
    ),
  };
});
afterAll(() => stores.close());

function rowOf({ attrs = {}, ...entry }: SampleEntry, organizationId: number, i: number): StoredRow {
  const isText = (value: unknown): value is string => typeof value === "string";
  return {
    ...{ ...entry, organizationId, id: BigInt(i + 1) * 1024n, ts: BigInt(Date.now()) * 1_000_000n },
    attrs: Object.entries(attrs).map(([key, value]) => [key, isText(value) ? value : JSON.stringify(value)]),
    jsonKeys: Object.entries(attrs).flatMap(([key, value]) => (isText(value) ? [] : [key])),
  };
}

function conditionOf(kql: string): Expression {
  return allOf(conditionsOf(compileEntryQuery(kql, 0)) ?? []);
}

/** How many entries of each number each condition lets through: the numbers of entries, by condition. */
async function matrix(conditions: readonly Expression[], organizationId: number): Promise<number[]> {
  const found: number[] = [];
  const runner = queryRunner(stores);
  for (const [i, condition] of conditions.entries()) {
    const logs = filter(scan("logs"), condition);
    const id = {
      name: "id",
      expression: columnOf(logs, "id"),
    };
    const plan = aggregate(logs, [id], [aggregateCall("n", "count")]);
    const guarded = guardPlan(plan, {
      ...{ organizationId, timeRange: { from: null, to: null }, maxRows: 1000, budget: INTERACTIVE_BUDGET },
    });
    const { rows } = await runner.run("test", emit(guarded), queryCaller());
    const ids = rows.map(([each]) => Number(each) / 1024 - 1);
    found.push(conditions.length === RULES.length ? ids.filter((each) => each === i).length : ids.length);
  }
  return found;
}

describe("the rules of the packs", () => {
  test("each count the entry that they show, and leave the one that is much like it", () => {
    expect(RULES.filter((_, i) => counted[COUNTS]?.[i] !== 1).map(({ id }) => id)).toEqual([]);
    expect(RULES.filter((_, i) => counted[LEAVES]?.[i] !== 0).map(({ id }) => id)).toEqual([]);
  });

  test("are seen to be of use by the entries that they show", () => {
    expect(PACKS.filter((_, i) => (seen[COUNTS]?.[i] ?? 0) === 0).map(({ id }) => id)).toEqual([]);
  });

  test("have ids and names of their own, and fit what a rule may be", () => {
    for (const names of [RULES.map(({ id }) => id), RULES.map(({ name }) => name), PACKS.map(({ id }) => id)])
      expect(new Set(names).size).toBe(names.length);
    for (const { id, kql, attackTechnique, groupBy, description } of RULES) {
      expect(id).toMatch(/^[a-z0-9-]{3,64}$/);
      expect(kql.length).toBeLessThanOrEqual(2048);
      expect(description.length).toBeLessThanOrEqual(2048);
      if (attackTechnique !== null) expect(attackTechnique).toMatch(/^T[0-9]{4}(\.[0-9]{3})?$/);
      expect(groupBy.length).toBeLessThanOrEqual(3);
    }
  });

  test("group by what entries have, under one name for all sources", () => {
    const columns: readonly string[] = GROUP_COLUMNS;
    const own = ["recipientAccountId", "resourceId", "deviceVendor", "gen_ai.agent.name"];
    const unknown = RULES.flatMap(({ groupBy }) => groupBy).filter(
      (field) => !columns.includes(field) && !isLogicalField(field) && !own.includes(field),
    );
    expect(unknown).toEqual([]);
  });
});
