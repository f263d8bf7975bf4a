import {
  aggregate,
  aggregateCall,
  allOf,
  columnOf,
  type Expression,
  emit,
  guardPlan,
  INTERACTIVE_BUDGET,
  literal,
  scan,
} from "../../../query/index.ts";
import { compileEntryQuery } from "../../../src/kql/issues.ts";
import { conditionsOf } from "../../../src/kql/relation-conditions.ts";
import type { SampleEntry } from "../../../src/rules/packs/pack.ts";
import { type StoredRow, storedText } from "../../domains/logs/stored-rows.ts";
import { queryCaller } from "../../harness/query-caller.ts";
import type { TestStores } from "../../harness/stores.ts";
import { queryRunner } from "../../query/query-store.ts";

/** Conditions asked in one statement: as many as a seal asks, about. */
const TOGETHER = 20;

/** An entry as the store has it, by its number from 0. */
export function rowOf(
  { attrs = {}, ...entry }: SampleEntry,
  organizationId: number,
  number: number,
): StoredRow {
  const given = Object.entries(attrs);
  return {
    ...{ ...entry, organizationId, id: BigInt(number + 1) * 1024n, ts: BigInt(Date.now()) * 1_000_000n },
    attrs: given.map(([key, value]) => [key, storedText(value)]),
    jsonKeys: given.flatMap(([key, value]) => (typeof value === "string" || value === null ? [] : [key])),
  };
}

/** An entry with its attributes as a source stores those of a record: what lies inside of an object under the path to it. */
export function flatten({ attrs = {}, ...entry }: SampleEntry): SampleEntry {
  return { ...entry, attrs: Object.fromEntries(flatAttributes("", attrs)) };
}

function flatAttributes(prefix: string, attrs: object): [string, unknown][] {
  return Object.entries(attrs).flatMap(([key, value]: [string, unknown]): [string, unknown][] =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? flatAttributes(`${prefix}${key}.`, value)
      : [[`${prefix}${key}`, value]],
  );
}

/** What has to hold of an entry for a rule to count it. */
export function conditionOf(kql: string): Expression {
  const conditions = conditionsOf(compileEntryQuery(kql, 0));
  if (conditions === null) throw new TypeError(`not entries: ${kql}`);
  return conditions.length === 0 ? literal("bool", true) : allOf(conditions);
}

/** Of each condition the numbers of the entries of an organisation that it lets through. */
export async function countedBy(
  stores: TestStores,
  conditions: readonly Expression[],
  organizationId: number,
  maxRows = 20_000,
): Promise<ReadonlySet<number>[]> {
  const found: Set<number>[] = conditions.map(() => new Set());
  const runner = queryRunner(stores);
  for (let from = 0; from < conditions.length; from += TOGETHER) {
    const some = conditions.slice(from, from + TOGETHER);
    const logs = scan("logs");
    const id = { name: "id", expression: columnOf(logs, "id") };
    const calls = some.map((condition, i) => aggregateCall(`n${i}`, "countif", condition));
    const guarded = guardPlan(aggregate(logs, [id], calls), {
      ...{ organizationId, timeRange: { from: null, to: null }, maxRows, budget: INTERACTIVE_BUDGET },
    });
    const { rows } = await runner.run("test", emit(guarded), queryCaller());
    for (const [rowId, ...counts] of rows)
      for (const [i, count] of counts.entries())
        if (Number(count) > 0) found[from + i]?.add(Number(rowId) / 1024 - 1);
  }
  return found;
}
