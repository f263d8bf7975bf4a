import { emit, guardPlan, type QueryBudget, type Relation, type TimeRange } from "../../../query/index.ts";
import type { LargeAnswer, QueryAnswer, QueryCaller, QueryRunner } from "../../storage/query-runner.ts";

/** What every route that reads logs needs. */
export interface ReadDependencies {
  readonly runner: QueryRunner;
  /** What one statement may cost. */
  readonly budget: QueryBudget;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** What is asked, of which time, and how many rows the answer can have. `operation` names it in metrics. */
interface ReadStatement {
  readonly operation: string;
  readonly plan: Relation;
  readonly timeRange: TimeRange;
  readonly maxRows: number;
}

/** Throws what `QueryRunner.run` throws. */
export function readLogs(
  { runner, budget }: Pick<ReadDependencies, "runner" | "budget">,
  caller: QueryCaller,
  { operation, plan, timeRange, maxRows }: ReadStatement,
): Promise<QueryAnswer> {
  const { organizationId } = caller;
  return runner.run(operation, emit(guardPlan(plan, { organizationId, timeRange, maxRows, budget })), caller);
}

/** The same for rows that may be much; of more than `maxBytes` the first ones. Throws what `QueryRunner.read` throws. */
export function readManyLogs(
  { runner, budget }: Pick<ReadDependencies, "runner" | "budget">,
  caller: QueryCaller,
  { operation, plan, timeRange, maxRows }: ReadStatement,
  maxBytes: number,
): Promise<LargeAnswer> {
  const { organizationId } = caller;
  const compiled = emit(guardPlan(plan, { organizationId, timeRange, maxRows, budget }));
  return runner.read(operation, compiled, caller, { maxBytes });
}
