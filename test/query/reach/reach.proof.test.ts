/** No entry that the store takes lies outside of what a condition reaches, in JavaScript and in the store. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import {
  allOf,
  columnOf,
  compileKql,
  type Expression,
  literal,
  project,
  scan,
} from "../../../query/index.ts";
import { type ReachTest, reachOf } from "../../../query/reach/reach.ts";
import { reachedBy } from "../../../query/reach/reached-by.ts";
import { whereOnly } from "../../../query/reach/where-only.ts";
import { BlockRow } from "../../../src/receive/block-row.ts";
import { proofRounds } from "../../harness/proof.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { queryRunner, rowsOf } from "../query-store.ts";
import { positionOf, storeBlock } from "../stored-block.ts";
import { entry, holds, query } from "./reach-property.ts";

const NOW_MS = Date.UTC(2026, 0, 2);
const QUERIES = 20;
let stores: TestStores;
let organizations = 0;
let withReach = 0;
let taken = 0;
let passedOver = 0;

beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

/** Asks the store for all answers of all entries at once. */
async function tryAll(entries: readonly object[], queries: readonly string[]): Promise<void> {
  const organizationId = ++organizations;
  const block = await storeBlock(stores, organizationId, entries, NOW_MS);
  const tried = queries.flatMap((text) => {
    const conditions = conditionsOf(text);
    const tests = reachOf(conditions);
    return tests === null ? [] : [{ text, condition: allOf(conditions), tests }];
  });
  withReach += tried.length;
  const logs = scan("logs");
  const answers = project(logs, [
    { name: "id", expression: columnOf(logs, "id") },
    ...tried.map(({ condition }, i) => ({ name: `q${i}`, expression: condition })),
    ...tried.map(({ tests }, i) => ({ name: `r${i}`, expression: reachedOrNone(tests) })),
  ]);
  const rows = await rowsOf(queryRunner(stores), answers, organizationId);
  expect(rows).toHaveLength(entries.length);
  for (const [id, ...cells] of rows) {
    const [isTaken, isPassed] = [cells.slice(0, tried.length), cells.slice(tried.length)];
    const row = new BlockRow(block, positionOf(id));
    for (const [i, { text, tests }] of tried.entries()) {
      const isReached = isPassed[i] === true && tests.some((test) => holds(test, row));
      const shown = { text, tests, entry: entries[positionOf(id)] };
      if (isTaken[i] === true) expect({ ...shown, isReached }).toEqual({ ...shown, isReached: true });
      if (isTaken[i] === true) taken++;
      else if (!isReached) passedOver++;
    }
  }
}

function reachedOrNone(tests: readonly ReachTest[]): Expression {
  return tests.length === 0 ? literal("bool", false) : reachedBy(tests);
}

function conditionsOf(text: string): readonly Expression[] {
  const compiled = compileKql(text, { nowNs: BigInt(NOW_MS) * 1_000_000n });
  const conditions = compiled.ok ? whereOnly(compiled.query.relation) : null;
  if (conditions === null) throw new Error(`${text} is more than where`);
  return conditions;
}

test("what is taken passes a test of the reach, whatever the condition and the entry", async () => {
  const entries = fc.array(entry, { minLength: 10, maxLength: 30 });
  const queries = fc.array(query, { minLength: QUERIES, maxLength: QUERIES });
  const numRuns = proofRounds({ sample: 50, whole: 1000 });
  await fc.assert(fc.asyncProperty(entries, queries, tryAll), { numRuns });
  // There was something to be missed, and something to be spared.
  expect(withReach).toBeGreaterThan(300);
  expect(taken).toBeGreaterThan(150);
  expect(passedOver).toBeGreaterThan(taken);
}, 900_000);
