import { ApiError, DependencyError } from "../errors.ts";

/**
 * What an error of ClickHouse means for whoever asked. `timeout`: the statement's time limit. `too_expensive`: one
 * of its other limits. `invalid`: a part of what somebody wrote means nothing to the store. `unavailable`: the same
 * statement may succeed later. `cancelled`: it was stopped on request. `fault`: it can never succeed as it is.
 */
export type ClickHouseFailure =
  | "timeout"
  | "too_expensive"
  | "invalid"
  | "unavailable"
  | "cancelled"
  | "fault";

/**
 * By the numbers of ClickHouse's `ErrorCodes.cpp`, which never change their meaning. Any other number is a fault: of
 * ours, since a text that the compiler lets through makes no statement that is wrong in itself.
 */
const FAILURES_BY_CODE: ReadonlyMap<number, ClickHouseFailure> = new Map<number, ClickHouseFailure>([
  [159, "timeout"], // TIMEOUT_EXCEEDED
  [160, "timeout"], // TOO_SLOW
  [69, "too_expensive"], // ARGUMENT_OUT_OF_BOUND: arrays made of numbers, over many rows together
  [128, "too_expensive"], // TOO_LARGE_ARRAY_SIZE: a function made more elements of a value than an array may have
  [131, "too_expensive"], // TOO_LARGE_STRING_SIZE: a function made more of a text than a text may hold
  [158, "too_expensive"], // TOO_MANY_ROWS
  [161, "too_expensive"], // TOO_MANY_COLUMNS
  [162, "too_expensive"], // TOO_DEEP_SUBQUERIES
  [165, "too_expensive"], // TOO_MANY_TEMPORARY_COLUMNS
  [166, "too_expensive"], // TOO_MANY_TEMPORARY_NON_CONST_COLUMNS
  [167, "too_expensive"], // TOO_DEEP_AST
  [168, "too_expensive"], // TOO_BIG_AST
  [191, "too_expensive"], // SET_SIZE_LIMIT_EXCEEDED
  [229, "too_expensive"], // QUERY_IS_TOO_LARGE
  [241, "too_expensive"], // MEMORY_LIMIT_EXCEEDED
  [290, "too_expensive"], // LIMIT_EXCEEDED
  [306, "too_expensive"], // TOO_DEEP_RECURSION
  [307, "too_expensive"], // TOO_MANY_BYTES
  [396, "too_expensive"], // TOO_MANY_ROWS_OR_BYTES
  [572, "too_expensive"], // TOO_MANY_QUERY_PLAN_OPTIMIZATIONS: a plan of more steps than the store puts in order
  [427, "invalid"], // CANNOT_COMPILE_REGEXP: a pattern that our reader of patterns took and the store's does not
  [394, "cancelled"], // QUERY_WAS_CANCELLED
  [735, "cancelled"], // QUERY_WAS_CANCELLED_BY_CLIENT
  [173, "unavailable"], // CANNOT_ALLOCATE_MEMORY: the machine has none left, whoever uses it
  [201, "unavailable"], // QUOTA_EXCEEDED: that of an operator's own store, over time
  [216, "unavailable"], // QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING: the first sending of a statement that was sent again
  [202, "unavailable"], // TOO_MANY_SIMULTANEOUS_QUERIES
  [203, "unavailable"], // NO_FREE_CONNECTION
  [209, "unavailable"], // SOCKET_TIMEOUT
  [210, "unavailable"], // NETWORK_ERROR
  [198, "unavailable"], // DNS_ERROR
  [225, "unavailable"], // NO_ZOOKEEPER
  [236, "unavailable"], // ABORTED
  [242, "unavailable"], // TABLE_IS_READ_ONLY
  [243, "unavailable"], // NOT_ENOUGH_SPACE
  [279, "unavailable"], // ALL_CONNECTION_TRIES_FAILED
  [369, "unavailable"], // ALL_REPLICAS_ARE_STALE
  [425, "unavailable"], // SYSTEM_ERROR
  [439, "unavailable"], // CANNOT_SCHEDULE_TASK
  [519, "unavailable"], // NO_REMOTE_SHARD_AVAILABLE
  [700, "unavailable"], // USER_SESSION_LIMIT_EXCEEDED
  [745, "unavailable"], // SERVER_OVERLOADED
  [762, "unavailable"], // HTTP_CONNECTION_LIMIT_REACHED
  [776, "unavailable"], // RESOURCE_LIMIT_EXCEEDED
  [999, "unavailable"], // KEEPER_EXCEPTION
]);

/** A statement that ClickHouse refused or gave up, or, without a code, that it never answered. */
export class ClickHouseQueryError extends Error {
  readonly code: number | null;

  constructor(code: number | null, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ClickHouseQueryError";
    this.code = code;
  }
}

/** MEMORY_LIMIT_EXCEEDED is said of a statement's own limit and of that of the whole server alike. */
export const MEMORY_LIMIT_EXCEEDED = 241;
/** How ClickHouse, in its versions, says that it was the statement's own; of any other no statement is to blame. */
const OWN_MEMORY_LIMIT = /Query memory limit|memory limit \(for query\)|\(for query\) memory limit/i;

/**
 * Judged by the error's number, and by its text only where one number means two things. Without a number the server was
 * not reached, or its answer lost.
 */
export function classifyClickHouseError({
  code,
  message,
}: Pick<ClickHouseQueryError, "code" | "message">): ClickHouseFailure {
  if (code === MEMORY_LIMIT_EXCEEDED && !OWN_MEMORY_LIMIT.test(message)) return "unavailable";
  return code === null ? "unavailable" : (FAILURES_BY_CODE.get(code) ?? "fault");
}

/** The error to throw where a user's query failed in ClickHouse. */
export function clickHouseQueryFailure(error: ClickHouseQueryError): ApiError | DependencyError {
  const failure = classifyClickHouseError(error);
  switch (failure) {
    case "timeout":
      return new ApiError("QUERY_TIMEOUT", "The query took too long; narrow the time range or the filter.", {
        cause: error,
      });
    case "too_expensive":
      return new ApiError(
        "QUERY_TOO_EXPENSIVE",
        "The query reads or returns more than the limits allow; narrow the time range or the filter.",
        { cause: error },
      );
    case "invalid":
      return new ApiError("KQL_INVALID", "The query has a regular expression that cannot be used.", {
        cause: error,
      });
    default:
      return new DependencyError("clickhouse", `a query failed: ${failure}`, {
        retryable: failure !== "fault",
        cause: error,
      });
  }
}
