/** What compiles is answered or refused, whatever it is: the store is never asked for what it cannot do. */
import { afterAll, beforeAll, test } from "bun:test";
import fc from "fast-check";
import { compileKql } from "../../query/index.ts";
import { type LogApp, logApp } from "../domains/logs/log-app.ts";
import { insertRows } from "../domains/logs/stored-rows.ts";
import { proofRounds } from "../harness/proof.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { goldenRows, OWN } from "./kql-golden-entries.ts";
import { mutants } from "./query-mutants.ts";

let stores: TestStores;
let app: LogApp;
beforeAll(async () => {
  stores = await openTestStores();
  await insertRows(stores.clickhouse, goldenRows());
  app = logApp(stores);
});
afterAll(() => stores.close());

/** Those that reach the store. */
const compiling = mutants.filter((text) => {
  const compiled = compileKql(text, { nowNs: BigInt(Date.now()) * 1_000_000n });
  return text.length <= 4096 && (compiled.ok || compiled.discovery !== null);
});

test("queries with tokens of others in them are answered, or refused as the query's own fault", async () => {
  await fc.assert(
    fc.asyncProperty(compiling, async (query) => {
      const response = await app.query(OWN, { query });
      const answer = await response.text();
      if (response.status !== 200 && response.status !== 400) throw new Error(`${response.status} ${answer}`);
    }),
    { numRuns: proofRounds({ sample: 100, whole: 10_000 }) },
  );
});
