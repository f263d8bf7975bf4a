import type { QueryBudget } from "../../../query/index.ts";
import type { Coverage } from "../../archive/reading/coverage.ts";
import type { LogRanges } from "../../archive/reading/log-ranges.ts";
import type { LogStatement, RangeReading } from "../../archive/reading/range-reading.ts";
import { DependencyError } from "../../errors.ts";
import type { NamesOf } from "../../kql/kept/kept-directory.ts";
import type { QueryAnswer, QueryCaller } from "../../storage/query-runner.ts";

/** What every route that reads logs needs. */
export interface RangeDependencies {
  readonly ranges: LogRanges;
  /** What one statement may cost. */
  readonly budget: QueryBudget;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** What an organisation keeps for its queries. */
  readonly kept: NamesOf;
}

/** The same for one try to answer a request. */
export interface ReadDependencies extends Omit<RangeDependencies, "ranges"> {
  readonly logs: RangeReading;
}

type ReadStatement = Omit<LogStatement, "budget">;

/** Throws what `RangeReading.run` throws. */
export function readLogs(
  { logs, budget }: Pick<ReadDependencies, "logs" | "budget">,
  statement: ReadStatement,
): Promise<QueryAnswer> {
  return logs.run({ ...statement, budget });
}

/** An answer that says of what it was made; see `LogRanges.read`. */
export async function readCovered<T extends object>(
  { ranges, ...deps }: RangeDependencies,
  caller: QueryCaller,
  read: (deps: ReadDependencies) => Promise<T>,
): Promise<T & Pick<Coverage, "partial" | "warnings">> {
  const { value, coverage } = await ranges.read(caller, (logs) => read({ ...deps, logs }));
  return { ...value, partial: coverage.partial, warnings: coverage.warnings };
}

/** For an answer that is whole or none. */
export function unreadable(): DependencyError {
  return new DependencyError("archive", "archived entries cannot be read", { retryable: true });
}
