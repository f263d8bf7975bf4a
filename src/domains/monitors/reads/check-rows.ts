import {
  DECORATION_BUDGET,
  emit,
  guardPlan,
  type QueryBudget,
  type Relation,
} from "../../../../query/index.ts";
import { patientBudget } from "../../../concurrency/patience.ts";
import type { QueryCaller, QueryRunner } from "../../../storage/query-runner.ts";
import type { Row } from "../../../storage/stored-rows.ts";
import {
  bucketPlan,
  CHECK_STATUSES,
  type CheckPosition,
  type ChecksOf,
  checkPagePlan,
  checkStatsPlan,
  nanosOf,
} from "./check-plans.ts";
import type { Check, MonitorStats } from "./types.ts";

const NANOS_PER_MILLI = 1_000_000n;
/** Whoever looks at a monitor waits this long for its numbers at most; those of a hundred over a month take less. */
const BUDGET: QueryBudget = { ...DECORATION_BUDGET, maxExecutionMs: 5_000 };

type CheckCounts = NonNullable<MonitorStats["checks"]>;
type ResponseTimes = NonNullable<MonitorStats["responseTimeMs"]>;

/** What checks of a monitor come to. */
export interface CheckStats {
  readonly counts: CheckCounts;
  /** Null where none was answered. */
  readonly times: ResponseTimes | null;
}

export const NO_CHECKS: CheckCounts = { total: 0, up: 0, degraded: 0, down: 0, unknown: 0, missed: 0 };

/** What a length of time of a timeline says of the checks in it. */
export interface BucketOfChecks {
  readonly checks: number;
  /** Of those that were answered; null where none was. */
  readonly avgResponseMs: number | null;
}

/** Reads recorded checks. All functions throw what `QueryRunner.run` throws. */
export class CheckRows {
  readonly #runner: Pick<QueryRunner, "run">;

  constructor(runner: Pick<QueryRunner, "run">) {
    this.#runner = runner;
  }

  /** Newest first. */
  async page(
    caller: QueryCaller,
    of: ChecksOf,
    after: CheckPosition | null,
    maxRows: number,
  ): Promise<Check[]> {
    const rows = await this.#run("checks", caller, checkPagePlan(of, after, maxRows), [of], maxRows);
    return rows.map(checkOf);
  }

  /** Monitors without a check are absent. */
  async stats(caller: QueryCaller, of: readonly ChecksOf[]): Promise<ReadonlyMap<number, CheckStats>> {
    const rows = await this.#run("check_stats", caller, checkStatsPlan(of), of, of.length * 2);
    const stats = new Map<number, CheckStats>();
    for (const row of rows) {
      const { counts, times } = stats.get(Number(row[0])) ?? { counts: NO_CHECKS, times: null };
      const [found, isAnswered] = [countsOf(row), row[1] === true];
      stats.set(Number(row[0]), {
        counts: addedCounts(counts, found),
        times: isAnswered ? timesOf(row.slice(2 + CHECK_STATUSES.length)) : times,
      });
    }
    return stats;
  }

  /** By the number of the length of time, from 0; those without checks are absent. */
  async buckets(
    caller: QueryCaller,
    of: ChecksOf,
    bucketMs: number,
  ): Promise<ReadonlyMap<number, BucketOfChecks>> {
    const maxRows = Math.ceil((of.span.toMs - of.span.fromMs) / bucketMs);
    const ask = (isAnswered: boolean) =>
      this.#run("check_buckets", caller, bucketPlan(of, bucketMs, isAnswered), [of], maxRows);
    const [all, answered] = await Promise.all([ask(false), ask(true)]);
    const averages = new Map(answered.map(([bucket, , avg]) => [Number(bucket), milliseconds(avg)]));
    return new Map(
      all.map(([bucket, checks]) => [
        Number(bucket),
        { checks: Number(checks), avgResponseMs: averages.get(Number(bucket)) ?? null },
      ]),
    );
  }

  async #run(
    operation: string,
    caller: QueryCaller,
    plan: Relation,
    of: readonly ChecksOf[],
    maxRows: number,
  ): Promise<readonly Row[]> {
    const timeRange = {
      from: nanosOf(Math.min(...of.map(({ span }) => span.fromMs))),
      to: nanosOf(Math.max(...of.map(({ span }) => span.toMs))),
    };
    const { organizationId } = caller;
    const scope = { organizationId, timeRange, maxRows: Math.max(1, maxRows), budget: patientBudget(BUDGET) };
    const { rows } = await this.#runner.run(operation, emit(guardPlan(plan, scope)), caller);
    return rows;
  }
}

/** In the order of the columns of the table. */
function checkOf(row: Row): Check {
  const [startedAt, , region, , status, durationMs, , , , , statusCode, error, , inMaintenance] = row;
  return {
    startedAt: new Date(Number(BigInt(String(startedAt)) / NANOS_PER_MILLI)).toISOString(),
    region: String(region),
    status: statusOf(status),
    durationMs: milliseconds(durationMs),
    statusCode: Number(statusCode) === 0 ? null : Number(statusCode),
    error: error === "" ? null : String(error),
    inMaintenance: inMaintenance === true,
  };
}

function statusOf(value: unknown): Check["status"] {
  const status = CHECK_STATUSES.find((one) => one === value);
  if (status === undefined) throw new Error("a check has an unknown status");
  return status;
}

/** Of a row of `checkStatsPlan`. */
function countsOf(row: Row): CheckCounts {
  const [up = 0, degraded = 0, down = 0, unknown = 0, missed = 0] = CHECK_STATUSES.map((_, index) =>
    Number(row[2 + index]),
  );
  return { total: up + degraded + down + unknown + missed, up, degraded, down, unknown, missed };
}

function addedCounts(a: CheckCounts, b: CheckCounts): CheckCounts {
  return {
    total: a.total + b.total,
    up: a.up + b.up,
    degraded: a.degraded + b.degraded,
    down: a.down + b.down,
    unknown: a.unknown + b.unknown,
    missed: a.missed + b.missed,
  };
}

function timesOf(values: readonly unknown[]): ResponseTimes {
  const [avg = 0, min = 0, p50 = 0, p95 = 0, p99 = 0, max = 0] = values.map(milliseconds);
  return { avg, min, p50, p95, p99, max };
}

/** To the microsecond: more of it is noise. */
function milliseconds(value: unknown): number {
  return Math.round(Number(value) * 1000) / 1000;
}
