import { emit, guardPlan, type QueryBudget, type Relation, type TimeRange } from "../../../query/index.ts";
import type { QueryAnswer, QueryRunner } from "../../storage/query-runner.ts";

/** What every route that reads logs needs. */
export interface ReadDependencies {
  readonly runner: QueryRunner;
  /** What one statement may cost. */
  readonly budget: QueryBudget;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** On whose behalf, and until when anybody waits for the answer. */
export interface ReadContext {
  readonly organizationId: number;
  readonly signal: AbortSignal;
}

/** What is asked, of which time, and how many rows the answer can have. `operation` names it in metrics. */
export interface ReadStatement {
  readonly operation: string;
  readonly plan: Relation;
  readonly timeRange: TimeRange;
  readonly maxRows: number;
}

/** Throws what `QueryRunner.run` throws. */
export function readLogs(
  { runner, budget }: Pick<ReadDependencies, "runner" | "budget">,
  { organizationId, signal }: ReadContext,
  { operation, plan, timeRange, maxRows }: ReadStatement,
): Promise<QueryAnswer> {
  return runner.run(operation, emit(guardPlan(plan, { organizationId, timeRange, maxRows, budget })), signal);
}
