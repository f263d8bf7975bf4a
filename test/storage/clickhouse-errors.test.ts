import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ApiError, DependencyError } from "../../src/errors.ts";
import {
  type ClickHouseFailure,
  ClickHouseQueryError,
  classifyClickHouseError,
  clickHouseQueryFailure,
} from "../../src/storage/clickhouse-errors.ts";
import { eventually } from "../harness/eventually.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";

const CODES: [number, string, ClickHouseFailure][] = [
  [159, "TIMEOUT_EXCEEDED", "timeout"],
  [160, "TOO_SLOW", "timeout"],
  [69, "ARGUMENT_OUT_OF_BOUND", "too_expensive"],
  [128, "TOO_LARGE_ARRAY_SIZE", "too_expensive"],
  [131, "TOO_LARGE_STRING_SIZE", "too_expensive"],
  [158, "TOO_MANY_ROWS", "too_expensive"],
  [161, "TOO_MANY_COLUMNS", "too_expensive"],
  [162, "TOO_DEEP_SUBQUERIES", "too_expensive"],
  [165, "TOO_MANY_TEMPORARY_COLUMNS", "too_expensive"],
  [166, "TOO_MANY_TEMPORARY_NON_CONST_COLUMNS", "too_expensive"],
  [167, "TOO_DEEP_AST", "too_expensive"],
  [168, "TOO_BIG_AST", "too_expensive"],
  [191, "SET_SIZE_LIMIT_EXCEEDED", "too_expensive"],
  [241, "MEMORY_LIMIT_EXCEEDED", "too_expensive"],
  [290, "LIMIT_EXCEEDED", "too_expensive"],
  [306, "TOO_DEEP_RECURSION", "too_expensive"],
  [307, "TOO_MANY_BYTES", "too_expensive"],
  [396, "TOO_MANY_ROWS_OR_BYTES", "too_expensive"],
  [229, "QUERY_IS_TOO_LARGE", "too_expensive"],
  [572, "TOO_MANY_QUERY_PLAN_OPTIMIZATIONS", "too_expensive"],
  [427, "CANNOT_COMPILE_REGEXP", "invalid"],
  [394, "QUERY_WAS_CANCELLED", "cancelled"],
  [735, "QUERY_WAS_CANCELLED_BY_CLIENT", "cancelled"],
  [173, "CANNOT_ALLOCATE_MEMORY", "unavailable"],
  [201, "QUOTA_EXCEEDED", "unavailable"],
  [216, "QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING", "unavailable"],
  [202, "TOO_MANY_SIMULTANEOUS_QUERIES", "unavailable"],
  [203, "NO_FREE_CONNECTION", "unavailable"],
  [198, "DNS_ERROR", "unavailable"],
  [209, "SOCKET_TIMEOUT", "unavailable"],
  [210, "NETWORK_ERROR", "unavailable"],
  [225, "NO_ZOOKEEPER", "unavailable"],
  [236, "ABORTED", "unavailable"],
  [242, "TABLE_IS_READ_ONLY", "unavailable"],
  [243, "NOT_ENOUGH_SPACE", "unavailable"],
  [279, "ALL_CONNECTION_TRIES_FAILED", "unavailable"],
  [369, "ALL_REPLICAS_ARE_STALE", "unavailable"],
  [425, "SYSTEM_ERROR", "unavailable"],
  [439, "CANNOT_SCHEDULE_TASK", "unavailable"],
  [519, "NO_REMOTE_SHARD_AVAILABLE", "unavailable"],
  [700, "USER_SESSION_LIMIT_EXCEEDED", "unavailable"],
  [745, "SERVER_OVERLOADED", "unavailable"],
  [762, "HTTP_CONNECTION_LIMIT_REACHED", "unavailable"],
  [776, "RESOURCE_LIMIT_EXCEEDED", "unavailable"],
  [999, "KEEPER_EXCEPTION", "unavailable"],
  [62, "SYNTAX_ERROR", "fault"],
  [60, "UNKNOWN_TABLE", "fault"],
  [516, "AUTHENTICATION_FAILED", "fault"],
];

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores({ migrations: null });
});
afterAll(() => stores.close());

function errorOf(code: number | null): ClickHouseQueryError {
  const isMemory = code === 241 ? "Query memory limit exceeded: " : "";
  return new ClickHouseQueryError(code, `Code: 159. ${isMemory}secret detail`);
}

describe("an error of ClickHouse", () => {
  test("is judged by its number, and the numbers are those of the engine", async () => {
    const result = await stores.clickhouse.query({
      query: "SELECT arrayMap(code -> errorCodeToName(code), {codes:Array(Int32)})",
      query_params: { codes: CODES.map(([code]) => code) },
      format: "JSONCompactEachRow",
    });
    const [[names] = []] = await result.json<[string[]]>();
    expect(names).toEqual(CODES.map(([, name]) => name));
    for (const [code, name, failure] of CODES)
      expect([name, classifyClickHouseError(errorOf(code))]).toEqual([name, failure]);
  });

  test("of memory is the statement's own only where the engine says so", async () => {
    const refused = async (settings: Record<string, string>): Promise<ClickHouseFailure | undefined> =>
      stores.clickhouse
        .query({
          query: "SELECT length(groupArray(number)) FROM numbers(100000000)",
          clickhouse_settings: settings,
        })
        .then(
          () => undefined,
          (error: unknown) =>
            classifyClickHouseError({ code: 241, message: error instanceof Error ? error.message : "" }),
        );
    expect(await refused({ max_memory_usage: "100000000" })).toBe("too_expensive");
    // The only limit beyond a statement's own that a test can set; that of the whole server is told in the same way.
    // The engine forgets it when a statement without one begins meanwhile, as those of suites do that have just ended.
    const ofUser = { max_memory_usage_for_user: "100000000" };
    expect(await eventually("refused for what others hold", () => refused(ofUser))).toBe("unavailable");
    const message = "Code: 241. DB::Exception: (total) memory limit exceeded: would use 9 GiB";
    expect(classifyClickHouseError({ code: 241, message })).toBe("unavailable");
  });

  test("without a number means that the store was not reached", () => {
    expect(classifyClickHouseError(errorOf(null))).toBe("unavailable");
  });

  test("is told to clients by code only, and may be tried again only where that helps", () => {
    const timeout = clickHouseQueryFailure(errorOf(159));
    const expensive = clickHouseQueryFailure(errorOf(158));
    const invalid = clickHouseQueryFailure(errorOf(427));
    expect([timeout, expensive, invalid].map((error) => error instanceof ApiError && error.code)).toEqual([
      "QUERY_TIMEOUT",
      "QUERY_TOO_EXPENSIVE",
      "KQL_INVALID",
    ]);
    expect(`${timeout.message} ${expensive.message} ${invalid.message}`).not.toContain("secret");
    const retryable = [210, 394, 62].map((code) => {
      const error = clickHouseQueryFailure(errorOf(code));
      return error instanceof DependencyError && error.retryable;
    });
    expect(retryable).toEqual([true, true, false]);
  });
});
