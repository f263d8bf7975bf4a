import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { compileKql } from "../../../query/index.ts";
import type { QueryRunner } from "../../../src/storage/query-runner.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { queryRunner } from "../query-store.ts";
import { complaintAbout, rowsOfQuery } from "./answers.ts";

let stores: TestStores;
let runner: QueryRunner;
beforeAll(async () => {
  stores = await openTestStores();
  runner = queryRunner(stores);
});
afterAll(() => stores.close());

const T = 'let T = datatable(a:long, b:string)[1, "xy", 4, "é"]; ';

test("a range goes to what a table says", async () => {
  const upTo = (end: string) => rowsOfQuery(runner, `${T}range x from toscalar(T | count) to ${end} step 2`);
  expect(await upTo("toscalar(T | summarize sum(a) + 2)")).toEqual([["2"], ["4"], ["6"]]);
  expect(await upTo("toscalar(T | where a > 9 | project a)")).toEqual([]);
});

test("the size of a row is that of its columns", async () => {
  expect(await rowsOfQuery(runner, `${T}T | project n = estimate_data_size(*)`)).toEqual([["10"], ["10"]]);
  expect(await rowsOfQuery(runner, `${T}T | summarize sum(estimate_data_size(b))`)).toEqual([["4"]]);
});

test("a table says what its columns are called", async () => {
  expect(await rowsOfQuery(runner, `${T}print column_names_of(T)`)).toEqual([['["a","b"]']]);
  expect(complaintAbout("print column_names_of(1)")?.code).toBe("WRONG_ARGUMENTS");
});

test("a pattern of names finds views of the query; where union is fuzzy, it need not find any", async () => {
  const views =
    "let V1 = view () { print x = 1 }; let V2 = view () { print x = 2 }; let F = () { print x = 3 }; ";
  expect(await rowsOfQuery(runner, `${views}union V* | summarize sum(x)`)).toEqual([["3"]]);
  expect(await rowsOfQuery(runner, `${views}union isfuzzy=true V*, W* | count`)).toEqual([["2"]]);
  expect(complaintAbout(`${views}union V*, W*`)?.code).toBe("UNKNOWN_TABLE");
});

describe("a fuzzy union goes on without tables that there are not", () => {
  const views = "let V = view () { print x = 1 }; let Gone = view () { Missing | project x }; ";
  const missingIn = (text: string) => {
    const compiled = compileKql(`${views}${text}`, { nowNs: 0n });
    return compiled.ok ? compiled.query.missingTables.map(({ message }) => message) : null;
  };
  const NO_MISSING = ["There is no table Missing. Tables here: logs."];

  test.each([
    "union isfuzzy=true V, Missing",
    "union isfuzzy=true Missing, V",
    "union isfuzzy=true V, (Missing | where x > 0)",
    "union isfuzzy=true V, (Missing | where y > 0 | project x), Missing",
    'union isfuzzy=true V, table("Missing")',
    "union isfuzzy=true V, materialize(Missing)",
    "union isfuzzy=true V, Gone",
    "union isfuzzy=true (V | take 1), (union Missing, V)",
    "union kind=inner isfuzzy=true V, Missing",
    "V | union isfuzzy=true Missing",
    "V | union isfuzzy=true (Missing | where x > 0)",
  ])("%s", async (text) => {
    expect(await rowsOfQuery(runner, `${views}${text} | project x`)).toEqual([["1"]]);
    expect(missingIn(text)).toEqual(NO_MISSING);
  });

  test("but not without all of them, and not without what is wrong otherwise", () => {
    const missing = { code: "UNKNOWN_TABLE", text: "Missing", line: 1 } as const;
    for (const text of ["union isfuzzy=true Missing", "union isfuzzy=true (Missing | count), Other"])
      expect(complaintAbout(text)).toMatchObject(missing);
    expect(complaintAbout("union isfuzzy=false (print x = 1), Missing")).toMatchObject(missing);
    expect(complaintAbout("union (print x = 1), Missing")).toMatchObject(missing);
    expect(complaintAbout("Missing | union isfuzzy=true (print x = 1)")).toMatchObject(missing);
    expect(complaintAbout("union isfuzzy=true logs, (logs | where nope(message))")?.code).toBe(
      "UNKNOWN_FUNCTION",
    );
    expect(missingIn("union isfuzzy=true V, logs")).toEqual([]);
  });
});
