/** Counting what there was before: one organisation whose archive cannot be read keeps no other one waiting. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { DependencyError } from "../../src/errors.ts";
import { createLogger } from "../../src/log.ts";
import { makeCounter, plainCounter } from "../../src/rules/counters/counter-store.ts";
import { PastCounting } from "../../src/rules/past/past-counting.ts";
import { logRanges } from "../harness/log-ranges.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";

const NEVER = new AbortController().signal;

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

test("the counters behind one that has to wait are counted, and it is when it can be", async () => {
  const { postgres: sql, clickhouseEndpoint: endpoint } = stores;
  const organizations = await sql<{ id: number }[]>`
    INSERT INTO organizations (name, created_at) SELECT 'acme', now() FROM generate_series(1, 3) RETURNING id`;
  const filter = plainCounter({ query: "x", service: null, level: null }, 60);
  for (const { id } of organizations) await sql.begin((tx) => makeCounter(tx, id, filter, Date.now()));
  let unreadable = organizations[0]?.id;
  const ranges = logRanges(stores);
  const past = new PastCounting({
    ...{ sql, now: Date.now, log: createLogger("silent") },
    signals: { endpoint, settle: async () => undefined },
    ranges: {
      read: (caller, work) => {
        if (caller.organizationId !== unreadable) return ranges.read(caller, work);
        throw new DependencyError("archive", "away", { retryable: true });
      },
    },
  });
  const states = async (): Promise<string[]> =>
    (await sql<{ past: string }[]>`SELECT past FROM log_counters ORDER BY id`).map((row) => row.past);
  expect(await past.workOnce(NEVER)).toBe(true);
  expect(await states()).toEqual(["due", "counted", "counted"]);
  // Nothing is to be done at once, or the loop would never rest.
  expect(await past.workOnce(NEVER)).toBe(false);
  unreadable = undefined;
  expect(await past.workOnce(NEVER)).toBe(true);
  expect(await states()).toEqual(["counted", "counted", "counted"]);
});
