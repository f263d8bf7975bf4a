import {
  aggregate,
  aggregateCall,
  columnOf,
  DECORATION_BUDGET,
  type QueryBudget,
  scan,
} from "../../../query/index.ts";
import type { LogRanges } from "../../archive/reading/log-ranges.ts";
import { patientBudget } from "../../concurrency/patience.ts";
import type { QueryCaller } from "../../storage/query-runner.ts";
import type { LogCounts } from "./types.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const NANOS_PER_MILLI = 1_000_000n;
/** The six levels and none. */
const LEVELS_MAX = 7;
/** Who looks at an overview waits this long for one number at most; the levels of a billion entries take less. */
const LOG_COUNTS_BUDGET: QueryBudget = { ...DECORATION_BUDGET, maxExecutionMs: 5_000 };

/** Counts the log entries of the last 24 hours by level. Throws what `RangeReading.run` throws. */
export async function countLogs(ranges: LogRanges, caller: QueryCaller, nowMs: number): Promise<LogCounts> {
  const logs = scan("logs");
  const plan = aggregate(
    logs,
    [{ name: "level", expression: columnOf(logs, "level") }],
    [aggregateCall("entries", "count")],
  );
  const timeRange = {
    from: BigInt(nowMs - DAY_MS) * NANOS_PER_MILLI,
    to: BigInt(nowMs) * NANOS_PER_MILLI,
  };
  const statement = {
    operation: "overview",
    plan,
    timeRange,
    maxRows: LEVELS_MAX,
    budget: patientBudget(LOG_COUNTS_BUDGET),
  };
  const { value } = await ranges.read(caller, (logs) => logs.run(statement));
  const { rows } = value;
  const counts = new Map(rows.map(([level, entries]) => [String(level), Number(entries)]));
  const of = (level: string): number => counts.get(level) ?? 0;
  return {
    from: new Date(nowMs - DAY_MS).toISOString(),
    to: new Date(nowMs).toISOString(),
    total: [...counts.values()].reduce((sum, count) => sum + count, 0),
    byLevel: {
      trace: of("trace"),
      debug: of("debug"),
      info: of("info"),
      warn: of("warn"),
      error: of("error"),
      fatal: of("fatal"),
    },
    withoutLevel: of(""),
  };
}
