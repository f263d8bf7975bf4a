/** Queries that were once answered with a fault of the server: each is answered, or refused as the query's own fault. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type LogApp, logApp } from "../domains/logs/log-app.ts";
import { insertRows } from "../domains/logs/stored-rows.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { goldenRows, OWN } from "./kql-golden-entries.ts";

const LEAST = "-9223372036854775807 - 1";

const QUERIES = [
  // A column that is kept as several, or not as a value, as the value that a table stands for.
  "print toscalar(logs | project attrs)",
  "print toscalar(logs | extend a = attrs | sort by ts asc | project a)[0]",
  "print gettype(toscalar(logs | project attrs))",
  "let a = toscalar(logs | project attrs | take 1); logs | where tostring(a) has 'n' | count",
  "logs | where attrs == toscalar(logs | project attrs) | count",
  "logs | mv-apply a = toscalar(logs | project attrs) on (take 1) | count",
  "print toscalar(logs | project split(message, ' '))",
  "print toscalar(logs | where false | project attrs)",
  // Remainders of the most negative number.
  "print hash(1tick, -9223372036854775808)",
  `logs | extend m = ${LEAST} | where hash(level, m) != 1 | count`,
  `logs | extend m = ${LEAST}, v = -5 | project v % m, v / m, bin(v, m), bin_at(v, m, v)`,
  `logs | extend m = iff(level == 'error', ${LEAST}, long(-1)) | where -5 % m > 0 | count`,
];

let stores: TestStores;
let app: LogApp;
beforeAll(async () => {
  stores = await openTestStores();
  await insertRows(stores.clickhouse, goldenRows());
  app = logApp(stores);
});
afterAll(() => stores.close());

test.each(QUERIES)("%s", async (query) => {
  const response = await app.query(OWN, { query });
  expect([200, 400]).toContain(response.status);
});

test("the attributes of an entry, and the words of its message, are values like any others", async () => {
  const rowsOf = async (query: string): Promise<unknown> => {
    const answer: { rows: unknown } = JSON.parse(await (await app.query(OWN, { query })).text());
    return answer.rows;
  };
  const first = "logs | sort by ts asc, id asc | take 1";
  const [[attrs, words]] = Object(await rowsOf(`${first} | project attrs, split(message, ' ')`));
  expect(await rowsOf(`print toscalar(${first} | project attrs)`)).toEqual([[attrs]]);
  expect(await rowsOf(`print toscalar(${first} | project split(message, ' '))`)).toEqual([[words]]);
  expect(await rowsOf(`print x = tostring(-5 % (${LEAST}))`)).toEqual([["9223372036854775803"]]);
});
