import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { CompiledQuery } from "../../query/index.ts";
import { Admission } from "../../src/concurrency/admission.ts";
import { ApiError, DependencyError } from "../../src/errors.ts";
import { createMetrics } from "../../src/server/metrics.ts";
import type { ClickHouseEndpoint } from "../../src/storage/clickhouse.ts";
import { QueryRunner, type StatementProgress } from "../../src/storage/query-runner.ts";
import type { StoreCapacity } from "../../src/storage/statement-bounds.ts";
import { eventually } from "../harness/eventually.ts";
import { queryCaller } from "../harness/query-caller.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores({ migrations: null });
});
afterAll(() => stores.close());

function runnerOn(endpoint: ClickHouseEndpoint, maxRunning = 8, capacity?: StoreCapacity): QueryRunner {
  return new QueryRunner({
    endpoint,
    admission: new Admission({ what: "a query", dependency: "clickhouse", maxRunning, maxWaiting: 8 }),
    part: { memory: 1, places: maxRunning },
    metrics: createMetrics(),
    monotonicMs: () => performance.now(),
    ...(capacity !== undefined && { capacity }),
  });
}

function statement(
  sql: string,
  settings: Record<string, string> = {},
  parameters: Record<string, string> = {},
): CompiledQuery {
  const limits = { readonly: "1", wait_end_of_query: "1", max_execution_time: "3600", max_threads: "1" };
  return {
    sql,
    parameters,
    columns: [],
    attributes: [],
    settings: { ...limits, ...settings },
    maxExecutionMs: 3_600_000,
  };
}

/** Reads for longer than any test runs and writes nothing before its end. */
function endless(marker: string, settings: Record<string, string> = {}): CompiledQuery {
  return statement(
    `SELECT sum(sipHash64(number)) FROM numbers(1000000000000) WHERE '${marker}' != ''`,
    settings,
  );
}

async function runningCount(marker: string): Promise<number> {
  const result = await stores.clickhouse.query({
    query:
      "SELECT toUInt32(count()) FROM system.processes WHERE position(query, {marker:String}) > 0 AND query_id != queryID()",
    query_params: { marker },
    format: "JSONCompactEachRow",
  });
  const [[count] = []] = await result.json<[number]>();
  return count ?? 0;
}

const isRunning = (marker: string) =>
  eventually(`${marker} runs`, async () => (await runningCount(marker)) === 1);

async function failureOf(answer: Promise<unknown>): Promise<unknown> {
  return answer.then(
    () => "answered",
    (error: unknown) => error,
  );
}

describe("a statement that runs", () => {
  test("answers rows in the order of its columns, and what they cost", async () => {
    const { rows, rowsRead, bytesRead } = await runnerOn(stores.clickhouseEndpoint).run(
      "test",
      statement("SELECT number, toString(number) FROM numbers(2)", {
        output_format_json_quote_64bit_integers: "1",
      }),
      queryCaller(),
    );
    expect(rows).toEqual([
      ["0", "0"],
      ["1", "1"],
    ]);
    expect([rowsRead, bytesRead]).toEqual([2, 16]);
  });

  test("takes a value as it is, whatever characters it has", async () => {
    const value = "a\tb\nc\rd\\e\\n'f\"g`{h}\u0000&i=j%20+ß😀";
    const { rows } = await runnerOn(stores.clickhouseEndpoint).run(
      "test",
      statement("SELECT {p0:String}", {}, { p0: value }),
      queryCaller(),
    );
    expect(rows).toEqual([[value]]);
  });

  test("has values that together are larger than the address of a request may be", async () => {
    const values = Array.from({ length: 30 }, (_, i) => `${i}${"x".repeat(100_000)}`);
    const parameters = Object.fromEntries(values.map((value, i) => [`p${i}`, value]));
    const places = values.map((_, i) => `length({p${i}:String})`);
    const { rows } = await runnerOn(stores.clickhouseEndpoint).run(
      "test",
      statement(`SELECT ${places.join(", ")}`, {}, parameters),
      queryCaller(),
    );
    expect(rows).toEqual([values.map(({ length }) => length)]);
  });

  test("tells how far it is", async () => {
    const abort = new AbortController();
    const seen: StatementProgress[] = [];
    const answer = failureOf(
      runnerOn(stores.clickhouseEndpoint).run(
        "test",
        endless("how-far"),
        queryCaller(abort.signal),
        (progress) => {
          seen.push(progress);
        },
      ),
    );
    await eventually("progress is told twice", () => seen.filter(({ rowsRead }) => rowsRead > 0).length > 1);
    abort.abort();
    await answer;
    const read = seen.map(({ rowsRead }) => rowsRead);
    expect(read).toEqual(read.toSorted((a, b) => a - b));
    expect(seen.at(-1)?.bytesRead).toBeGreaterThan(0);
    expect(seen.at(-1)?.totalRowsToRead).toBe(1e12);
  });
});

describe("a caller that goes away", () => {
  test("stops its statement in the store, also one that a closed connection would not", async () => {
    const runner = runnerOn(stores.clickhouseEndpoint);
    const cases = [
      endless("closed-0", { cancel_http_readonly_queries_on_client_close: "1" }),
      endless("closed-1", { cancel_http_readonly_queries_on_client_close: "0" }),
    ];
    for (const [i, compiled] of cases.entries()) {
      const abort = new AbortController();
      const answer = failureOf(runner.run("test", compiled, queryCaller(abort.signal)));
      await isRunning(`closed-${i}`);
      abort.abort();
      expect(await answer).toBeInstanceOf(DependencyError);
      await eventually("it is gone", async () => (await runningCount(`closed-${i}`)) === 0);
    }
  });

  test("while it waits for its turn, leaves the queue without a statement", async () => {
    const runner = runnerOn(stores.clickhouseEndpoint, 1);
    const first = new AbortController();
    const second = new AbortController();
    const running = failureOf(runner.run("test", endless("has-the-turn"), queryCaller(first.signal)));
    await isRunning("has-the-turn");
    const waiting = failureOf(runner.run("test", endless("waits-in-vain"), queryCaller(second.signal)));
    const last = runner.run("test", statement("SELECT 1"), queryCaller());
    second.abort();
    expect(await waiting).toMatchObject({ name: "DependencyError", retryable: true });
    expect(await runningCount("waits-in-vain")).toBe(0);
    first.abort();
    await running;
    expect((await last).rows).toEqual([[1]]);
  });
});

describe("a store with memory for one large statement", () => {
  const capacity = { memoryBytes: 2 ** 29, threads: 2 };
  const own = { max_memory_usage: String(2 ** 30) };
  const large = statement("SELECT length(groupArray(number)) FROM numbers(12000000)", own);

  test("answers several of them, one after the other", async () => {
    const runner = runnerOn(stores.clickhouseEndpoint, 8, capacity);
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, i) => runner.run("test", large, queryCaller(undefined, i))),
    );
    expect(answers.map(({ rows }) => rows)).toEqual(answers.map(() => [[12_000_000]]));
  });

  test("lets the next one wait, and answers a small one meanwhile", async () => {
    const runner = runnerOn(stores.clickhouseEndpoint, 8, capacity);
    const holder = new AbortController();
    const holding = failureOf(runner.run("test", endless("has-it", own), queryCaller(holder.signal, 1)));
    await isRunning("has-it");
    const waiting = runner.run("test", large, queryCaller(undefined, 2));
    for (let i = 0; i < 3; i += 1)
      expect((await runner.run("test", statement("SELECT 1", own), queryCaller(undefined, 3))).rows).toEqual([
        [1],
      ]);
    holder.abort();
    expect((await waiting).rows).toEqual([[12_000_000]]);
    await holding;
  });

  test("refuses what all of it is not enough for", async () => {
    const runner = runnerOn(stores.clickhouseEndpoint, 8, { ...capacity, memoryBytes: 2 ** 27 });
    expect(await failureOf(runner.run("test", large, queryCaller()))).toMatchObject({
      name: "ApiError",
      code: "QUERY_TOO_EXPENSIVE",
    });
  });
});

describe("a statement that fails", () => {
  test("at its limit of time is QUERY_TIMEOUT", async () => {
    const compiled = endless("too-long", { max_execution_time: "0.2", timeout_overflow_mode: "throw" });
    const error = await failureOf(runnerOn(stores.clickhouseEndpoint).run("test", compiled, queryCaller()));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code: "QUERY_TIMEOUT" });
  });

  test("to answer long after its limit of time is QUERY_TIMEOUT, and is stopped in the store", async () => {
    const late = { ...endless("never-answers"), maxExecutionMs: -9_500 };
    const error = await failureOf(runnerOn(stores.clickhouseEndpoint).run("test", late, queryCaller()));
    expect(error).toMatchObject({ name: "ApiError", code: "QUERY_TIMEOUT" });
    await eventually("it is gone", async () => (await runningCount("never-answers")) === 0);
  });

  test("because it, or a value, is larger than the store takes is QUERY_TOO_EXPENSIVE", async () => {
    const runner = runnerOn(stores.clickhouseEndpoint);
    const large = "x".repeat(200_000);
    for (const compiled of [
      statement(`SELECT 1 /* ${large} */`),
      statement("SELECT length({p0:String})", {}, { p0: large }),
      statement("SELECT length(repeat(repeat(repeat('0123456789abcdef', 1024), 1024), 1024))"),
      statement("SELECT length(range(1000000000))"),
    ])
      expect(await failureOf(runner.run("test", compiled, queryCaller()))).toMatchObject({
        name: "ApiError",
        code: "QUERY_TOO_EXPENSIVE",
      });
  });

  test("because a pattern is none to the store is KQL_INVALID", async () => {
    const compiled = statement(
      "SELECT match(toString(number), {p0:String}) FROM numbers(1)",
      {},
      { p0: "a(" },
    );
    const error = await failureOf(runnerOn(stores.clickhouseEndpoint).run("test", compiled, queryCaller()));
    expect(error).toMatchObject({ name: "ApiError", code: "KQL_INVALID" });
  });

  test("at any other limit is QUERY_TOO_EXPENSIVE", async () => {
    const runner = runnerOn(stores.clickhouseEndpoint);
    const everything = "SELECT groupArray(number) FROM numbers(10000000)";
    const limits = [
      statement(everything, { max_bytes_to_read: "1000", read_overflow_mode: "throw" }),
      statement(everything, { max_memory_usage: "1000000" }),
      statement("SELECT number FROM numbers(1000)", {
        max_result_rows: "10",
        result_overflow_mode: "throw",
      }),
    ];
    for (const compiled of limits)
      expect(await failureOf(runner.run("test", compiled, queryCaller()))).toMatchObject({
        name: "ApiError",
        code: "QUERY_TOO_EXPENSIVE",
      });
  });

  test("because it is wrong is a DependencyError that is not worth another try", async () => {
    const error = await failureOf(
      runnerOn(stores.clickhouseEndpoint).run(
        "test",
        statement("SELECT nothing FROM nowhere"),
        queryCaller(),
      ),
    );
    expect(error).toBeInstanceOf(DependencyError);
    expect(error).toMatchObject({ retryable: false });
  });

  test("because the store is down is a DependencyError that is, and leaves its place to the next", async () => {
    const closed = Bun.serve({ port: 0, fetch: () => new Response() });
    const origin = `http://127.0.0.1:${closed.port}`;
    await closed.stop(true);
    const runner = runnerOn({ ...stores.clickhouseEndpoint, origin }, 1);
    for (let attempt = 0; attempt < 3; attempt++) {
      const error = await failureOf(
        runner.run("test", statement("SELECT 1"), queryCaller(), () => undefined),
      );
      expect(error).toBeInstanceOf(DependencyError);
      expect(error).toMatchObject({ retryable: true });
    }
  });
});
