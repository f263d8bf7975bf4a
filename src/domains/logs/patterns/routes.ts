import type { Config } from "../../../config.ts";
import { route } from "../../../http/define-route.ts";
import type { Route } from "../../../http/route.ts";
import type { Metrics } from "../../../ops/metrics.ts";
import { Admission } from "../../../storage/admission.ts";
import type { ClickHouseEndpoint } from "../../../storage/clickhouse.ts";
import { QueryRunner } from "../../../storage/query-runner.ts";
import { STATEMENTS_MAX_RUNNING, STATEMENTS_MAX_WAITING } from "./limits.ts";
import { findPatterns, type PatternDependencies } from "./patterns.ts";
import { PatternReader } from "./store.ts";
import { PatternParameters, PatternsAnswer } from "./types.ts";

export interface LogPatternOptions {
  readonly clickhouse: ClickHouseEndpoint;
  readonly metrics: Pick<Metrics, "query">;
  readonly config: Pick<
    Config,
    "queryTimeoutMs" | "queryMaxReadBytes" | "queryMaxMemoryBytes" | "queryMaxResultBytes"
  >;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Routes that say what stored logs have in common. */
export function logPatternRoutes(options: LogPatternOptions): Route[] {
  const deps = patternDependencies(options);
  return [
    route({
      method: "GET",
      path: "/api/v1/logs/patterns",
      tag: "Logs",
      summary: "Count log entries by the pattern of their messages",
      access: { role: "viewer", scope: "logs:read" },
      query: PatternParameters,
      responses: { 200: { description: "The patterns, the most frequent first", schema: PatternsAnswer } },
      errors: ["VALIDATION_FAILED", "QUERY_TOO_EXPENSIVE", "QUERY_TIMEOUT", "UNAVAILABLE"],
      handler: async ({ principal, request }, { query }) => {
        const context = { organizationId: principal.organizationId, signal: request.signal };
        return { status: 200, body: await findPatterns(deps, context, query) };
      },
    }),
  ];
}

function patternDependencies({ clickhouse, metrics, config, now }: LogPatternOptions): PatternDependencies {
  const monotonicMs = () => performance.now();
  const admission = new Admission({ maxRunning: STATEMENTS_MAX_RUNNING, maxWaiting: STATEMENTS_MAX_WAITING });
  const runner = new QueryRunner({ endpoint: clickhouse, admission, metrics, monotonicMs });
  const budget = {
    maxExecutionMs: config.queryTimeoutMs,
    maxReadBytes: config.queryMaxReadBytes,
    maxMemoryBytes: config.queryMaxMemoryBytes,
    maxResultBytes: config.queryMaxResultBytes,
  };
  return { reader: new PatternReader({ runner, budget }), now, monotonicMs };
}
