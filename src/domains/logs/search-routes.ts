import { Type } from "typebox";
import type { Config } from "../../config.ts";
import { ApiError } from "../../errors.ts";
import { route } from "../../http/define-route.ts";
import type { AuthenticatedContext, Route } from "../../http/route.ts";
import type { Metrics } from "../../ops/metrics.ts";
import { Admission } from "../../storage/admission.ts";
import type { ClickHouseEndpoint } from "../../storage/clickhouse.ts";
import { QueryRunner } from "../../storage/query-runner.ts";
import { QUERIES_MAX_RUNNING, QUERIES_MAX_WAITING } from "./limits.ts";
import {
  findEntry,
  type SearchContext,
  type SearchDependencies,
  type SearchResult,
  searchLogs,
} from "./search.ts";
import { LogReader } from "./store.ts";
import { Entry, SearchAnswer, SearchParameters } from "./types.ts";

export interface LogSearchOptions {
  readonly clickhouse: ClickHouseEndpoint;
  /** Signs cursors; the same for every instance of the server. */
  readonly cursorKey: Uint8Array;
  readonly metrics: Pick<Metrics, "query">;
  readonly config: Pick<
    Config,
    "queryTimeoutMs" | "queryMaxReadBytes" | "queryMaxMemoryBytes" | "queryMaxResultBytes"
  >;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const EntryParams = Type.Object({ id: Type.String({ pattern: "^(?:0|[1-9][0-9]{0,19})$" }) });

/** Routes that read stored logs. */
export function logSearchRoutes(options: LogSearchOptions): Route[] {
  const deps = searchDependencies(options);
  return [
    route({
      method: "GET",
      path: "/api/v1/logs/search",
      tag: "Logs",
      summary: "Find log entries, newest first",
      access: { role: "viewer", scope: "logs:read" },
      query: SearchParameters,
      responses: { 200: { description: "One page of the entries that match", schema: SearchAnswer } },
      errors: ["VALIDATION_FAILED", "QUERY_TOO_EXPENSIVE", "QUERY_TIMEOUT", "UNAVAILABLE"],
      handler: async (context, { query }) =>
        json(encodeResult(await searchLogs(deps, contextOf(context), query))),
    }),
    route({
      method: "GET",
      path: "/api/v1/logs/:id",
      tag: "Logs",
      summary: "Read one log entry",
      access: { role: "viewer", scope: "logs:read" },
      params: EntryParams,
      responses: { 200: { description: "The entry", schema: Entry } },
      errors: ["NOT_FOUND", "QUERY_TIMEOUT", "UNAVAILABLE"],
      handler: async (context, { params }) => {
        const entry = await findEntry(deps, contextOf(context), params.id);
        if (entry === null) throw new ApiError("NOT_FOUND", "No such log entry.");
        return json(entry);
      },
    }),
  ];
}

function searchDependencies({
  clickhouse,
  cursorKey,
  metrics,
  config,
  now,
}: LogSearchOptions): SearchDependencies {
  const monotonicMs = () => performance.now();
  const admission = new Admission({ maxRunning: QUERIES_MAX_RUNNING, maxWaiting: QUERIES_MAX_WAITING });
  const runner = new QueryRunner({ endpoint: clickhouse, admission, metrics, monotonicMs });
  const budget = {
    maxExecutionMs: config.queryTimeoutMs,
    maxReadBytes: config.queryMaxReadBytes,
    maxMemoryBytes: config.queryMaxMemoryBytes,
    maxResultBytes: config.queryMaxResultBytes,
  };
  return { reader: new LogReader({ runner, budget }), cursorKey, now, monotonicMs };
}

function contextOf({ principal, request }: AuthenticatedContext): SearchContext {
  return { organizationId: principal.organizationId, signal: request.signal };
}

/** Entries are JSON text already; the answer is put together around them. */
function encodeResult({ entries, ...rest }: SearchResult): string {
  const tail = JSON.stringify({ ...rest, partial: false });
  return `{"entries":[${entries.join(",")}],${tail.slice(1)}`;
}

function json(body: string): Response {
  return new Response(body, { headers: { "content-type": "application/json" } });
}
