import { Type } from "typebox";
import type { QueryBudget } from "../../../query/index.ts";
import { ApiError } from "../../errors.ts";
import { route } from "../../http/define-route.ts";
import type { AuthenticatedContext, Route } from "../../http/route.ts";
import type { QueryRunner } from "../../storage/query-runner.ts";
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
  readonly runner: QueryRunner;
  /** What one statement may cost. */
  readonly budget: QueryBudget;
  /** Signs cursors; the same for every instance of the server. */
  readonly cursorKey: Uint8Array;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const EntryParams = Type.Object({ id: Type.String({ pattern: "^(?:0|[1-9][0-9]{0,19})$" }) });

/** Routes that read stored logs. */
export function logSearchRoutes({ runner, budget, cursorKey, now }: LogSearchOptions): Route[] {
  const monotonicMs = () => performance.now();
  const reader = new LogReader({ runner, budget });
  const deps: SearchDependencies = { reader, cursorKey, now, monotonicMs };
  return [
    route({
      method: "GET",
      path: "/api/v1/logs/search",
      tag: "Logs",
      summary: "Find log entries, newest first",
      access: { role: "viewer", scope: "logs:read" },
      query: SearchParameters,
      responses: { 200: { description: "One page of the entries that match", schema: SearchAnswer } },
      errors: ["VALIDATION_FAILED", "KQL_INVALID", "QUERY_TOO_EXPENSIVE", "QUERY_TIMEOUT", "UNAVAILABLE"],
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
        const entry = await findEntry({ reader }, contextOf(context), params.id);
        if (entry === null) throw new ApiError("NOT_FOUND", "No such log entry.");
        return json(entry);
      },
    }),
  ];
}

function contextOf({ principal, request }: AuthenticatedContext): SearchContext {
  return { organizationId: principal.organizationId, signal: request.signal };
}

/** Entries are JSON text already; the answer is put together around them. */
export function encodeResult({ entries, ...rest }: SearchResult, partial = false): string {
  const tail = JSON.stringify({ ...rest, partial });
  return `{"entries":[${entries.join(",")}],${tail.slice(1)}`;
}

function json(body: string): Response {
  return new Response(body, { headers: { "content-type": "application/json" } });
}
