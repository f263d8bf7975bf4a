import { Type } from "typebox";
import type { QueryBudget } from "../../../query/index.ts";
import { piecesOf } from "../../concurrency/thread-turns.ts";
import { ApiError } from "../../errors.ts";
import { answerWith } from "../../http/answer-stream.ts";
import { route } from "../../http/define-route.ts";
import { ANSWER_PIECE_BYTES } from "../../http/limits.ts";
import { callerOf } from "../../http/query-caller.ts";
import type { RequestContext } from "../../http/route.ts";
import type { QueryRunner } from "../../storage/query-runner.ts";
import { findEntry, type SearchDependencies, type SearchResult, searchLogs } from "./search.ts";
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
export function logSearchRoutes({ runner, budget, cursorKey, now }: LogSearchOptions) {
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
      errors: ["KQL_INVALID", "QUERY_TOO_EXPENSIVE", "QUERY_TIMEOUT"],
      handler: async (context, { query }) =>
        answerSearch(context, await searchLogs(deps, callerOf(context), query)),
    }),
    route({
      method: "GET",
      path: "/api/v1/logs/:id",
      tag: "Logs",
      summary: "Read one log entry",
      access: { role: "viewer", scope: "logs:read" },
      params: EntryParams,
      responses: { 200: { description: "The entry", schema: Entry } },
      errors: ["QUERY_TOO_EXPENSIVE", "QUERY_TIMEOUT"],
      handler: async (context, { params }) => {
        const entry = await findEntry({ reader }, callerOf(context), params.id);
        if (entry === null) throw new ApiError("NOT_FOUND", "No such log entry.");
        return answerInTexts(context, [entry]);
      },
    }),
  ];
}

/** Entries are JSON text already; the answer is put together around them. */
export function answerSearch(
  context: Pick<RequestContext, "answerMemory">,
  { entries, nextCursor, ...rest }: SearchResult,
  partial = false,
): Promise<Response> {
  function* texts(): Generator<string> {
    let separator = '{"entries":[';
    for (const entry of entries) {
      yield separator + entry;
      separator = ",";
    }
    const opening = separator === "," ? "" : separator;
    yield `${opening}],${JSON.stringify({ nextCursor: nextCursor(), ...rest, partial }).slice(1)}`;
  }
  return answerInTexts(context, texts());
}

/** JSON that is put together from texts while the client takes it. */
export function answerInTexts(
  { answerMemory }: Pick<RequestContext, "answerMemory">,
  texts: Iterable<string>,
): Promise<Response> {
  return answerWith({
    pieces: piecesOf(texts, ANSWER_PIECE_BYTES),
    memory: answerMemory,
    headers: { "content-type": "application/json" },
  });
}
