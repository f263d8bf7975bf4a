import type { QueryBudget } from "../../../../query/index.ts";
import type { LogRanges } from "../../../archive/reading/log-ranges.ts";
import { route } from "../../../http/define-route.ts";
import { callerOf } from "../../../http/query-caller.ts";
import type { NamesOf } from "../../../kql/kept/kept-directory.ts";
import { findPatterns, type PatternDependencies } from "./patterns.ts";
import { PatternParameters, PatternsAnswer } from "./types.ts";

interface LogPatternOptions {
  readonly ranges: LogRanges;
  /** What one statement may cost. */
  readonly budget: QueryBudget;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** What an organisation keeps for its queries. */
  readonly kept: NamesOf;
}

/** Routes that say what stored logs have in common. */
export function logPatternRoutes(options: LogPatternOptions) {
  const deps: PatternDependencies = { ...options, monotonicMs: () => performance.now() };
  return [
    route({
      method: "GET",
      path: "/api/v1/logs/patterns",
      tag: "Logs",
      summary: "Count log entries by the pattern of their messages",
      access: { role: "viewer", scope: "logs:read" },
      query: PatternParameters,
      responses: { 200: { description: "The patterns, the most frequent first", schema: PatternsAnswer } },
      errors: ["KQL_INVALID", "QUERY_TOO_EXPENSIVE", "QUERY_TIMEOUT"],
      handler: async (context, { query }) => ({
        status: 200,
        body: await findPatterns(deps, callerOf(context), query),
      }),
    }),
  ];
}
