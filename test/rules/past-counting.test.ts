/** Counting what there was before: one organisation whose archive cannot be read keeps no other one waiting. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { firstLogIdAt, LOG_ID_STEP } from "../../ingest/index.ts";
import type { LogRanges } from "../../src/archive/reading/log-ranges.ts";
import { DependencyError } from "../../src/errors.ts";
import { createLogger } from "../../src/log.ts";
import { makeCounter, plainCounter } from "../../src/rules/counters/counter-store.ts";
import { PastCounting } from "../../src/rules/past/past-counting.ts";
import { takeNumber } from "../../src/storage/instance/instance-store.ts";
import { insertRows } from "../domains/logs/stored-rows.ts";
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

describe("what was before a counter", () => {
  const filter = plainCounter({ query: "alpha", service: null, level: null }, 60);
  const newcomer = async (): Promise<number> => {
    const [made] = await stores.postgres<{ id: number }[]>`
      INSERT INTO organizations (name, created_at) VALUES ('acme', now()) RETURNING id`;
    return made?.id ?? 0;
  };
  const counting = (ranges: Pick<LogRanges, "read">): PastCounting =>
    new PastCounting({
      ...{ sql: stores.postgres, now: Date.now, log: createLogger("silent"), ranges },
      signals: { endpoint: stores.clickhouseEndpoint, settle: async () => undefined },
    });

  test("is what no seal counts for it: entries that came to a server since are left to its seals", async () => {
    const { postgres: sql, clickhouse } = stores;
    const organizationId = await newcomer();
    const holder = { id: crypto.randomUUID(), place: "here" };
    const instance = (await takeNumber(sql, holder, Date.now())) ?? 0;
    const first = firstLogIdAt(Date.now() + 1_000, instance);
    const ts = BigInt(Date.now()) * 1_000_000n;
    const entry = { organizationId, ts, message: "alpha" };
    await sql`UPDATE ingest_streams SET sealed_id = ${String(first)} WHERE holder = ${holder.id}`;
    const id = await sql.begin((tx) => makeCounter(tx, organizationId, filter, Date.now()));
    await insertRows(clickhouse, [
      { ...entry, id: first },
      { ...entry, id: first + BigInt(LOG_ID_STEP) },
      { ...entry, id: first + 2n * BigInt(LOG_ID_STEP) },
    ]);
    while (await counting(logRanges(stores)).workOnce(NEVER));
    const answer = await clickhouse.query({
      query: "SELECT toUInt32(sum(n)) AS n FROM signals WHERE kind = 'count' AND key = {id: UInt64}",
      query_params: { id },
      format: "JSONEachRow",
    });
    expect(await answer.json<{ n: number }>()).toEqual([{ n: 1 }]);
  });

  test("is not counted without the archived entries of a file that cannot be read", async () => {
    const { postgres: sql } = stores;
    const organizationId = await newcomer();
    const id = await sql.begin((tx) => makeCounter(tx, organizationId, filter, Date.now()));
    const ranges = logRanges(stores);
    const partly: Pick<LogRanges, "read"> = {
      read: async (caller, work) => {
        const answer = await ranges.read(caller, work);
        return { ...answer, coverage: { ...answer.coverage, partial: true } };
      },
    };
    const past = async (): Promise<string | undefined> =>
      (await sql<{ past: string }[]>`SELECT past FROM log_counters WHERE id = ${id}`)[0]?.past;
    await counting(partly).workOnce(NEVER);
    expect(await past()).toBe("due");
    await counting(ranges).workOnce(NEVER);
    expect(await past()).toBe("counted");
  });
});
