/** Answers that are large, cut, or not there at all. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { FairShare } from "../../../src/concurrency/fair-share.ts";
import { MemoryShare } from "../../../src/concurrency/memory-share.ts";
import { ApiError, DependencyError } from "../../../src/errors.ts";
import type { QueryCaller } from "../../../src/storage/query-runner.ts";
import { queryCaller } from "../../harness/query-caller.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { queryRunner } from "../../query/query-store.ts";
import { logApp } from "./log-app.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

const LIMITS = { readonly: "1", wait_end_of_query: "1", max_execution_time: "60" };
/** Rows of about a kilobyte. */
const rowsOf = (count: number) => ({
  sql: `SELECT toString(number), repeat('x', 1000) FROM numbers(${count})`,
  parameters: {},
  columns: [],
  attributes: [],
  settings: LIMITS,
  maxExecutionMs: 60_000,
});

function boundedCaller(bytes: number): { caller: QueryCaller; memory: FairShare } {
  const memory = new FairShare(3 * bytes);
  return {
    memory,
    caller: { ...queryCaller(), memory: new MemoryShare(memory, [7, 1]) },
  };
}

describe("a large answer", () => {
  test("counts while it is held, row by row less while it is read, and nothing at the end", async () => {
    const { caller, memory } = boundedCaller(8_000_000);
    const { rows } = await queryRunner(stores).read("test", rowsOf(5000), caller);
    expect(rows.count).toBe(5000);
    expect(memory.used).toBeGreaterThan(5_000_000);
    let before = memory.used;
    let read = 0;
    for (const [number] of rows) {
      expect(number).toBe(String(read++));
      expect(memory.used).toBeLessThanOrEqual(before);
      before = memory.used;
    }
    expect([read, memory.used]).toEqual([5000, 0]);
  });

  test("for which there is no room is refused and holds nothing", async () => {
    const { caller, memory } = boundedCaller(1_000_000);
    const error = await queryRunner(stores)
      .read("test", rowsOf(5000), caller)
      .then(String, (thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code: "RATE_LIMITED" });
    expect(memory.used).toBe(0);
  });

  test("is cut after whole rows where less is asked for, and has at least one", async () => {
    for (const [maxBytes, most] of [
      [1, 1000],
      [2_000_000, 3000],
    ] as const) {
      const { caller, memory } = boundedCaller(8_000_000);
      const { rows } = await queryRunner(stores).read("test", rowsOf(5000), caller, { maxBytes });
      expect(rows.isCut).toBe(true);
      expect(rows.count).toBeGreaterThan(0);
      expect(rows.count).toBeLessThan(most);
      expect([...rows].every(([, text]) => text === "x".repeat(1000))).toBe(true);
      expect(memory.used).toBe(0);
    }
  });

  test("with a row that is too long to be parsed at once is refused", async () => {
    const compiled = {
      ...rowsOf(1),
      sql: "SELECT arrayStringConcat(arrayMap(i -> repeat('x', 1000000), range(17)))",
    };
    const answer = queryRunner(stores).read("test", compiled, queryCaller());
    await expect(answer).rejects.toMatchObject({ code: "QUERY_TOO_EXPENSIVE" });
  });
});

describe("an answer of the store that does not come whole", () => {
  const summary = { "x-clickhouse-summary": '{"read_rows":"2","read_bytes":"8","result_rows":"2"}' };
  test.each([
    ["nothing", new Uint8Array(), summary],
    ["its first row", Buffer.from("[1]\n"), summary],
    ["half a row", Buffer.from("[1]\n[2"), summary],
    ["no word of how much it is", Buffer.from("[1]\n[2]\n"), {}],
  ])("but %s is UNAVAILABLE, and no shorter answer", async (_, body, headers) => {
    using broken = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => new Response(body, { headers }),
    });
    const endpoint = { ...stores.clickhouseEndpoint, origin: `http://127.0.0.1:${broken.port}` };
    const answer = queryRunner({ clickhouseEndpoint: endpoint }).run("test", rowsOf(2), queryCaller());
    const error = await answer.then(String, (thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DependencyError);
    expect(error).toMatchObject({ retryable: true });
    const searched = await logApp({ ...stores, clickhouseEndpoint: endpoint }).search(7, {});
    expect(searched.status).toBe(503);
  });
});
