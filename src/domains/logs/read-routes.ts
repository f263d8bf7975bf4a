import { Type } from "typebox";
import { EVERY_TABLE, LOG_TABLES } from "../../../query/index.ts";
import { scopesSatisfy } from "../../access/principal.ts";
import type { ApiError } from "../../errors.ts";
import { answerAtOnceWith } from "../../http/answer-stream.ts";
import { route } from "../../http/define-route.ts";
import { callerOf } from "../../http/query-caller.ts";
import { SSE_HEADERS } from "../../http/sse.ts";
import { readEntryContext } from "./context.ts";
import { exportLogs } from "./export/export.ts";
import { readFacets } from "./facets/facets.ts";
import { readFields } from "./facets/fields.ts";
import { FacetParameters, FacetsAnswer, FieldParameters, FieldsAnswer } from "./facets/types.ts";
import { readHistogram } from "./histogram/histogram.ts";
import { HistogramAnswer, HistogramParameters } from "./histogram/types.ts";
import { completeQuery } from "./query/complete-query.ts";
import { NameWarnings } from "./query/name-warnings.ts";
import { queryEvents } from "./query/query-events.ts";
import { type QueryDependencies, runQuery } from "./query/run-query.ts";
import { CompletionsAnswer, CompletionsBody, QueryAnswer, QueryBody } from "./query/types.ts";
import { readCovered } from "./read-logs.ts";
import { answerInTexts, entryOf, type LogSearchOptions, logSearchRoutes } from "./search-routes.ts";
import { ContextAnswer, ContextParameters, Entry, ExportParameters } from "./types.ts";

const IdParams = Type.Object({ id: Type.String({ pattern: "^(?:0|[1-9][0-9]{0,19})$" }) });
const Events = Type.String({ description: "Server-sent events: how far the query is, then the answer." });
const Csv = Type.String({ description: "A line of names, then a line for each entry." });
const access = { role: "viewer", scope: "logs:read" } as const;
const errors = ["KQL_INVALID", "QUERY_TOO_EXPENSIVE", "QUERY_TIMEOUT"] as const;

/** Every route that answers from stored logs, but those of patterns and tails. */
export function logReadRoutes(options: LogSearchOptions & Pick<QueryDependencies, "externals" | "library">) {
  const nameWarnings = new NameWarnings(options.now);
  const deps: QueryDependencies = { ...options, nameWarnings, monotonicMs: () => performance.now() };
  return [
    ...overviewRoutes(deps),
    queryRoute(deps),
    completionsRoute(deps),
    ...entryRoutes(deps),
    ...logSearchRoutes(options),
  ];
}

function overviewRoutes(deps: QueryDependencies) {
  return [
    route({
      method: "GET",
      path: "/api/v1/logs/histogram",
      tag: "Logs",
      summary: "Count log entries by time",
      access,
      query: HistogramParameters,
      responses: { 200: { description: "Buckets without gaps", schema: HistogramAnswer } },
      errors,
      handler: async (context, { query }) => ({
        status: 200,
        body: await readCovered(deps, callerOf(context), (one) => readHistogram(one, query)),
      }),
    }),
    route({
      method: "GET",
      path: "/api/v1/logs/facets",
      tag: "Logs",
      summary: "Count log entries by the values of fields",
      access,
      query: FacetParameters,
      responses: { 200: { description: "The most frequent values of each field", schema: FacetsAnswer } },
      errors,
      handler: async (context, { query }) => ({
        status: 200,
        body: await readCovered(deps, callerOf(context), (one) => readFacets(one, query)),
      }),
    }),
    route({
      method: "GET",
      path: "/api/v1/logs/fields",
      tag: "Logs",
      summary: "List the fields that log entries have",
      access,
      query: FieldParameters,
      responses: { 200: { description: "Columns and attributes", schema: FieldsAnswer } },
      errors,
      handler: async (context, { query }) => ({
        status: 200,
        body: await readCovered(deps, callerOf(context), (one) => readFields(one, query)),
      }),
    }),
  ];
}

function completionsRoute(deps: QueryDependencies) {
  return route({
    method: "POST",
    effect: "read",
    path: "/api/v1/kql/completions",
    tag: "KQL",
    summary: "List what can stand at a place of a KQL query, attributes of entries included",
    access,
    body: { kind: "json", schema: CompletionsBody },
    responses: { 200: { description: "What can be written there", schema: CompletionsAnswer } },
    errors,
    handler: async (context, { body }) => {
      return { status: 200, body: await completeQuery(deps, callerOf(context), body) };
    },
  });
}

function queryRoute(deps: QueryDependencies) {
  return route({
    method: "POST",
    effect: "read",
    path: "/api/v1/logs/query",
    tag: "Logs",
    summary: "Run a KQL query; with `Accept: text/event-stream` it tells how far it is",
    access,
    body: { kind: "json", schema: QueryBody },
    responses: {
      200: { description: "A table", schema: QueryAnswer, alternatives: { "text/event-stream": Events } },
    },
    errors,
    idleTimeoutSec: 0,
    handler: async (context, { body }) => {
      const caller = callerOf(context);
      const tables = scopesSatisfy(context.principal.scopes, "monitors:read") ? EVERY_TABLE : LOG_TABLES;
      if (!(context.request.headers.get("accept") ?? "").includes("text/event-stream"))
        return answerInTexts(context, await runQuery(deps, caller, body, tables, null));
      const gone = new AbortController();
      const signal = AbortSignal.any([caller.signal, gone.signal]);
      const run: Parameters<typeof queryEvents>[0] = (onProgress) =>
        runQuery(deps, { ...caller, signal }, body, tables, onProgress);
      const onError = (error: ApiError): void => {
        if (error.code === "INTERNAL") context.log.error({ err: error.cause ?? error }, "a query failed");
      };
      const { requestId } = context;
      return answerAtOnceWith({
        pieces: queryEvents(run, { requestId, monotonicMs: deps.monotonicMs, onError }),
        memory: caller.memory,
        headers: SSE_HEADERS,
        onGone: () => gone.abort(),
      });
    },
  });
}

function entryRoutes(deps: QueryDependencies) {
  return [
    route({
      method: "GET",
      path: "/api/v1/logs/:id/context",
      tag: "Logs",
      summary: "Read the log entries around one",
      access,
      params: IdParams,
      query: ContextParameters,
      responses: {
        200: { description: "The entry and its neighbours by time and id", schema: ContextAnswer },
      },
      errors: ["QUERY_TOO_EXPENSIVE", "QUERY_TIMEOUT"],
      handler: async (context, { params, query }) => {
        const { ranges, budget } = deps;
        const found = await ranges.read(callerOf(context), (logs) =>
          readEntryContext({ logs, budget }, params.id, query),
        );
        const { before, entry, after } = entryOf(found);
        const { partial, warnings } = found.coverage;
        const texts = [
          '{"before":[',
          ...listed(before),
          '],"entry":',
          entry,
          ',"after":[',
          ...listed(after),
          `],${JSON.stringify({ partial, warnings }).slice(1)}`,
        ];
        return answerInTexts(context, texts);
      },
    }),
    route({
      method: "GET",
      path: "/api/v1/logs/export",
      tag: "Logs",
      summary:
        "Download every log entry that matches, newest first. CSV values stand as they are: spreadsheets may take some for formulas",
      access,
      query: ExportParameters,
      responses: {
        200: {
          description: "The entries; a connection that breaks off says that the file is incomplete",
          contentType: "application/x-ndjson",
          schema: Entry,
          alternatives: { "text/csv": Csv },
        },
      },
      errors,
      idleTimeoutSec: 0,
      handler: (context, { query }) => exportLogs(deps, callerOf(context), query),
    }),
  ];
}

/** The members of a JSON array. */
function listed(members: readonly string[]): string[] {
  return members.map((member, i) => (i === 0 ? member : `,${member}`));
}
