import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { answered } from "./functions/printed-values.ts";
import { queryRunner } from "./query-store.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

/** Neighbours beyond 2^53, where the nearest real of two whole numbers is often the same. */
const near = fc
  .tuple(fc.bigInt({ min: -(2n ** 63n) + 8n, max: 2n ** 63n - 8n }), fc.bigInt({ min: -2n, max: 2n }))
  .map(([value, distance]): [bigint, bigint] => [value, value + distance]);

const OPERATORS: readonly (readonly [string, (left: bigint, right: bigint) => boolean])[] = [
  ["==", (left, right) => left === right],
  ["!=", (left, right) => left !== right],
  ["<", (left, right) => left < right],
  ["<=", (left, right) => left <= right],
  [">", (left, right) => left > right],
  [">=", (left, right) => left >= right],
];

describe("whole numbers of 64 bits in dynamic values", () => {
  test("are compared by all their digits, with constants and with values of rows", async () => {
    const pairs = fc.sample(near, { numRuns: 60, seed: 20_260_106 });
    const tests = OPERATORS.flatMap(([operator], i) => [
      `c${i} = d ${operator} right`,
      `r${i} = right ${operator} d`,
    ]);
    const rows = pairs.map(([left, right]) => `dynamic(${left}), long(${right})`).join(", ");
    const found = await answered(
      queryRunner(stores),
      `datatable(d: dynamic, right: long)[${rows}] | extend n = row_number() | project ${["n", ...tests].join(", ")} | sort by n asc`,
    );
    const expected = pairs.map(([left, right], i) => [
      i + 1,
      ...OPERATORS.flatMap(([, holds]) => [holds(left, right), holds(right, left)]),
    ]);
    expect(found).toEqual(expected);
  });

  test("are found in lists by all their digits", async () => {
    for (const [left, right] of fc.sample(near, { numRuns: 20, seed: 20_260_107 })) {
      const [row] = await answered(
        queryRunner(stores),
        `print d = dynamic(${left}) | project d in (${right}, 5), d !in (5, ${right}), d in (dynamic([5, ${right}])), d between (${right} .. ${right})`,
      );
      expect(row).toEqual([left === right, left !== right, left === right, left === right]);
    }
  });

  test("are ordered by all their digits in arg_max() and arg_min()", async () => {
    const text = [-912254260287111169n, -912254260287111168n, 912254260287111168n, 912254260287111169n];
    const rows = text.map((value, i) => `dynamic(${value}), ${i}`).join(", ");
    const [row] = await answered(
      queryRunner(stores),
      `datatable(d: dynamic, i: long)[${rows}] | summarize arg_max(d, i), arg_min(d, j = i) | project i, j`,
    );
    expect(row).toEqual([3, 0]);
  });
});
